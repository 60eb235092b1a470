"""`swarmdp.compare`: the same demo by several reward updates, in one table."""

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from swarmdp.fitting.fit import fit
from swarmdp.irl.demos import Demo
from swarmdp.irl.result import Result
from swarmdp.irl.updates.registry import UPDATES, update_of
from swarmdp.model.system import System
from swarmdp.support import markup
from swarmdp.support.arguments import checked
from swarmdp.support.errors import InvalidInput, SwarmdpWarning
from swarmdp.support.progress import Tell, shown
from swarmdp.support.ranges import Seed

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True, eq=False)
class Comparison:
    """What `swarmdp.compare` found: a fit for each reward update.

    Parameters
    ----------
    results
        The fits, by the names of the updates.
    refused
        Why an update could not be used with this demo, by its name.
    seconds
        Processor time of each fit.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    >>> updates = ["max_margin", "projection"]
    >>> found = swarmdp.compare(ising, demo, seed=1, updates=updates, iterations=2, judge=False)
    >>> list(found.table.index)
    ['max_margin', 'projection']

    """

    results: Mapping[str, Result]
    refused: Mapping[str, str]
    seconds: Mapping[str, float]

    @property
    def table(self) -> "pandas.DataFrame":
        """A row for each update: distance (mean over experiments), verdicts, highest reward."""
        import pandas

        rows = [
            {
                "distance": float(result.distance.mean()),
                "verdict": _verdict(result),
                "reward": _where(result),
                "seconds": self.seconds[name],
            }
            for name, result in self.results.items()
        ]
        return pandas.DataFrame(rows, index=pandas.Index(list(self.results), name="update"))

    def __repr__(self) -> str:
        lines = [self.table.to_string(float_format="{:.3g}".format)]
        lines += [f"{name}: not used, {why}" for name, why in self.refused.items()]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = [
            [name, f"{row['distance']:.3g}", row["verdict"], row["reward"]]
            for name, row in self.table.iterrows()
        ]
        notes = [markup.paragraph(f"{name}: not used, {why}") for name, why in self.refused.items()]
        names = ("update", "distance", "verdict", "reward")
        return markup.card("Reward updates compared", markup.table(names, rows), *notes)


def _where(result: Result) -> str:
    return "not identified" if result.is_highest_clear is False else result.sought


def _verdict(result: Result) -> str:
    if not result.verdicts:
        return "not judged"
    if len(result.verdicts) == 1:
        return result.verdicts[0].words
    good = sum(not verdict.alarm for verdict in result.verdicts)
    return f"{good} of {len(result.verdicts)} reproduce their demo"


@checked(skip=("demo", "changes"))
def compare(
    system: System,
    demo: Demo,
    *,
    seed: Seed,
    updates: Sequence[str] | None = None,
    threads: int | None = None,
    progress: bool | Tell | None = None,
    **changes: Any,
) -> Comparison:
    """Fit the same demo by several reward updates, and say how near each comes.

    Parameters
    ----------
    system
        The swarm that was recorded.
    demo
        As for `swarmdp.fit`. Updates that need more than it tells are named with the reason.
    seed
        Same seed, same comparison; each fit is the one that `swarmdp.fit` makes with this seed.
    updates
        Names, see docs/updates.md; all of them by default.
    threads
        All cores by default.
    progress
        A bar on a terminal or in a notebook by default; False for none.
    changes
        Options of `swarmdp.fit`, such as `iterations=5` or `judge=False`.

    Returns
    -------
    Comparison
        The fits and their table.

    Raises
    ------
    InvalidInput
        If an update is unknown, or none can be used.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    >>> updates = ["max_margin", "maxent"]
    >>> found = swarmdp.compare(ising, demo, seed=1, updates=updates, iterations=2, judge=False)
    >>> found.results["maxent"].settings["update"]
    'maxent'

    """
    names = list(UPDATES) if updates is None else list(updates)
    if "update" in changes or not names:
        raise InvalidInput("name the updates to compare, such as updates=['max_margin', 'maxent']")
    for name in names:
        update_of(name)
    results: dict[str, Result] = {}
    refused: dict[str, str] = {}
    seconds: dict[str, float] = {}
    with shown(progress, "comparing reward updates") as tell:
        for done, name in enumerate(names):
            if tell is not None:
                tell(done, len(names), name)
            began = time.process_time()
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", SwarmdpWarning)  # verdicts are in the table
                    results[name] = fit(
                        system,
                        demo,
                        seed=seed,
                        update=name,
                        threads=threads,
                        progress=False,
                        **changes,
                    )
            except InvalidInput as error:
                if len(names) == 1:
                    raise
                refused[name] = str(error)
            seconds[name] = time.process_time() - began
    if not results:
        reasons = "; ".join(f"{name}: {why}" for name, why in refused.items())
        raise InvalidInput(f"none of these updates can be used with this demo: {reasons}")
    return Comparison(results, refused, seconds)
