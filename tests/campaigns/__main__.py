"""`python -m tests.campaigns NAME... --minutes 5 --seed 1`: run campaigns and print a table."""

import argparse
import importlib
import sys

from tests.campaigns import framework

CAMPAIGNS = {  # name, and the module with `campaign()`
    name: f"tests.campaigns.{name}" for name in ("arguments", "files", "kills", "starts")
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CAMPAIGNS)}")
    parser.add_argument("--minutes", type=float, default=5.0, help="for each campaign")
    parser.add_argument("--attempts", type=int, help="at most so many for each campaign")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2, help="child processes")
    parser.add_argument("--failures", type=int, default=20, help="kinds of failures to print")
    parser.add_argument("--only", type=int, help="repeat the attempt of this number, here")
    asked = parser.parse_args()
    if wrong := [name for name in asked.names if name not in CAMPAIGNS]:
        parser.error(f"there is no campaign {wrong[0]!r}, only {', '.join(CAMPAIGNS)}")
    outcomes = []
    for name in asked.names or CAMPAIGNS:
        campaign = importlib.import_module(CAMPAIGNS[name]).campaign()
        if asked.only is not None:
            attempt = framework.attempt_of(campaign, asked.seed, asked.only)
            campaign.prepare()
            print(attempt.repeat, flush=True)
            print(*framework.perform(attempt), sep=": ")
            continue
        outcome = framework.run(
            campaign,
            seed=asked.seed,
            minutes=asked.minutes,
            attempts=asked.attempts,
            workers=asked.workers,
        )
        print(framework.report(outcome, asked.failures), end="\n\n", flush=True)
        outcomes.append(outcome)
    print(framework.table(outcomes))
    return int(any(outcome.failures for outcome in outcomes))


if __name__ == "__main__":
    sys.exit(main())
