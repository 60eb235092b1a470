"""`python -m tests.campaigns NAME... --minutes 5 --seed 1`: run campaigns and print a table.

Without a name all of them run, and share the minutes.
"""

import argparse
import importlib
import os
import sys
import tempfile
import time

from tests.campaigns import framework

CAMPAIGNS = {  # name, and the module with `campaign()`
    name: f"tests.campaigns.{name}"
    for name in (
        "limits",
        "determinism",
        "dask",
        "kills",
        "starts",
        "folders",
        "foreign",
        "studio",
        "files",
        "tables",
        "pickles",
        "arguments",
    )
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CAMPAIGNS)}")
    parser.add_argument("--minutes", type=float, default=5.0, help="for all of them together")
    parser.add_argument("--attempts", type=int, help="at most so many for each campaign")
    parser.add_argument("--first", type=int, default=0, help="number of the first attempt")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2, help="child processes")
    parser.add_argument("--failures", type=int, default=20, help="kinds of failures to print")
    parser.add_argument("--only", type=int, help="repeat the attempt of this number, here")
    asked = parser.parse_args()
    if wrong := [name for name in asked.names if name not in CAMPAIGNS]:
        parser.error(f"there is no campaign {wrong[0]!r}, only {', '.join(CAMPAIGNS)}")
    campaigns = [
        importlib.import_module(CAMPAIGNS[name]).campaign() for name in asked.names or CAMPAIGNS
    ]
    if asked.only is not None:
        for campaign in campaigns:
            _repeat(campaign, asked.seed, asked.only)
        return 0
    outcomes = []
    for outcome in framework.shared(
        campaigns,
        seed=asked.seed,
        minutes=asked.minutes,
        attempts=asked.attempts,
        first=asked.first,
        workers=asked.workers,
        watch=_Lines(),
    ):
        if outcome.failures:
            print(framework.report(outcome, asked.failures), end="\n\n", flush=True)
        outcomes.append(outcome)
    print(framework.table(outcomes))
    return int(any(outcome.failures for outcome in outcomes))


class _Lines:
    """A line to standard error every minute, and for each failure."""

    def __init__(self) -> None:
        self._name, self._last, self._failures = "", time.monotonic(), 0

    def __call__(self, outcome: framework.Outcome) -> None:
        if outcome.name != self._name:
            self._name, self._failures = outcome.name, 0
        new, self._failures = outcome.failures[self._failures :], len(outcome.failures)
        for failure in new:
            print(f"{failure.kind}: {failure.attempt.group}: {failure.detail}", file=sys.stderr)
        if new or time.monotonic() > self._last + 60:
            self._last = time.monotonic()
            counts = ", ".join(f"{count} {kind}" for kind, count in outcome.counts.items())
            print(f"{outcome.name}: {outcome.attempts} attempts, {counts}", file=sys.stderr)


def _repeat(campaign: framework.Campaign, seed: int, number: int) -> None:
    attempt = framework.attempt_of(campaign, seed, number)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        campaign.prepare()
        print(attempt.repeat, flush=True)
        print(*framework.perform(attempt), sep=": ")
        os.chdir("/")


if __name__ == "__main__":
    sys.exit(main())
