"""`swarmdp.evaluate`: a learned policy beside the expert, by the system's own measures."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp.irl.demos import read_demo
from swarmdp.irl.expectations import feature_expectations
from swarmdp.irl.frames import states_over
from swarmdp.irl.result import Result
from swarmdp.model.adapted import Start
from swarmdp.model.recorded import RecordedDemo
from swarmdp.model.system import Measure, System, name_of
from swarmdp.model.traits import HasExpert, measures_of
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller
from swarmdp.simulation.recorders import DiscountedFeatures, check_shape
from swarmdp.simulation.rollout import rollout
from swarmdp.support.arguments import checked
from swarmdp.support.checks import check_integer
from swarmdp.support.errors import InvalidInput
from swarmdp.support.progress import Tell

if TYPE_CHECKING:
    import pandas

_STEPS = 100  # where neither the caller nor the fit says how many
LOW, HIGH = 0.1, 0.9  # the quantiles between which a band lies
_SHOWN = (1, 2, 5, 10, 20, 50, 100, 200, 500)  # times in tables, beside the first and the last


@checked(nan=True)
@dataclass(frozen=True, eq=False)
class Evaluation:
    """What a learned swarm does beside the expert's, by every measure of the system.

    Parameters
    ----------
    system_name
        The class of the system.
    measures
        What was measured, by name.
    expert
        By measure: (runs, steps + 1), of the expert.
    learned
        By measure: (runs, steps + 1), of the learned policies; run i is of replica i % R.
    expert_mu
        (d,): the expert's feature expectations.
    learned_mu
        (R, d): those of the learned policies.
    n_agents
        The number of agents.
    steps
        The number of time steps.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    >>> result = swarmdp.fit(ising, demo, seed=1, iterations=2, judge=False)
    >>> found = swarmdp.evaluate(result, ising, runs=5, seed=2)
    >>> found.learned["energy"].shape
    (5, 51)

    """

    system_name: str
    measures: Mapping[str, Measure]
    expert: Mapping[str, NDArray[Any]]
    learned: Mapping[str, NDArray[Any]]
    expert_mu: NDArray[np.float64]
    learned_mu: NDArray[np.float64]
    n_agents: int
    steps: int

    @property
    def distance(self) -> NDArray[np.float64]:
        """The distance `|mu_E - mu|` of the feature expectations (R,), from these runs."""
        gap: NDArray[np.float64] = np.linalg.norm(self.learned_mu - self.expert_mu, axis=1)
        return gap

    def to_dataframe(self) -> "pandas.DataFrame":
        """One row for each measure, swarm and time: mean, standard error, two quantiles."""
        import pandas

        rows = []
        for name in self.measures:
            for swarm, values in (("expert", self.expert[name]), ("learned", self.learned[name])):
                low, high = np.quantile(values, [LOW, HIGH], axis=0)
                error = np.full(self.steps + 1, np.nan)
                if len(values) > 1:
                    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
                columns = {"mean": values.mean(axis=0), "standard_error": error}
                columns |= {"quantile_10": low, "quantile_90": high}
                frame = pandas.DataFrame(columns)
                frame.insert(0, "time", np.arange(self.steps + 1))
                frame.insert(0, "swarm", swarm)
                frame.insert(0, "measure", name)
                rows.append(frame)
        return pandas.concat(rows, ignore_index=True)

    def rows(self, name: str) -> list[tuple[int, float, float]]:
        """A few times, and the means of a measure then: (time, expert, learned)."""
        if name not in self.measures:
            raise InvalidInput(
                f"name must be a measure, {', '.join(self.measures) or 'of which there are none'}, "
                f"got {name!r}"
            )
        expert, learned = self.expert[name].mean(axis=0), self.learned[name].mean(axis=0)
        return [(t, float(expert[t]), float(learned[t])) for t in shown_times(self.steps)]

    def plot(self, ax: Any = None, *, measure: str | None = None, colours: Any = None) -> Any:
        """Draw the measures over time, learned beside expert.

        Parameters
        ----------
        ax
            Matplotlib axes to draw one measure into; None makes a figure with all of them.
        measure
            Which measure; the main one if axes are given, all of them otherwise.
        colours
            Of the expert and of the learned swarm.

        Returns
        -------
        Figure
            The Matplotlib figure.

        """
        # By name, since this layer must not import Matplotlib: figures are a layer above.
        fits = importlib.import_module("swarmdp.report.fits")
        return fits.plot_evaluation(self, ax, measure=measure, colours=colours)

    def __repr__(self) -> str:
        lines = [
            f"Evaluation of {self.system_name}, {self.steps} steps: "
            f"distance of feature expectations mean {self.distance.mean():.3g}, "
            f"worst {self.distance.max():.3g}"
        ]
        for name, measure in self.measures.items():
            lines.append(f"  {measure.label:<28}{'expert':>12}{'learned':>12}")
            lines += [f"  {f't = {t}':<28}{e:>12.5g}{m:>12.5g}" for t, e, m in self.rows(name)]
        return "\n".join(lines)


@checked(skip=("initial",))
def evaluate(
    result: Result,
    system: System,
    *,
    expert: Controller | Trajectory | RecordedDemo | None = None,
    steps: int | None = None,
    runs: int = 100,
    seed: int,
    initial: Start | None = None,
    threads: int | None = None,
    progress: bool | Tell | None = None,
) -> Evaluation:
    """Roll out a learned policy beside the expert, and measure both.

    Parameters
    ----------
    result
        What `swarmdp.fit` found.
    system
        The swarm to evaluate it in: the one that was fitted, or one with other settings.
    expert
        A policy, a function from observations to actions, a recorded trajectory with states, or
        decisions of a recording; `system.expert` if not given.
    steps
        The number of time steps; those of a recorded expert or of the fit if not given.
    runs
        The number of runs of each, at least; all learned policies have equally many.
    seed
        Same seed, same result.
    initial
        Where the runs start, instead of `system.initial` (see `swarmdp.rollout`).
    threads
        All cores by default.
    progress
        A bar on a terminal or in a notebook by default; False for none.

    Returns
    -------
    Evaluation
        The measures over time and the distance of the feature expectations.

    Raises
    ------
    InvalidInput
        If there is no expert to compare with, or the policy does not fit the system.

    Examples
    --------
    >>> import swarmdp
    >>> ising = swarmdp.Ising(shape=(6, 6), reach=1)
    >>> demo = swarmdp.rollout(ising, ising.expert, steps=50, seed=1)
    >>> result = swarmdp.fit(ising, demo, seed=1, iterations=2, judge=False)
    >>> swarmdp.evaluate(result, ising, runs=5, seed=2).distance.shape
    (1,)

    """
    check_integer("runs", runs, least=1)
    shown = system_expert(system) if expert is None else read_demo(system, expert)
    recorded = shown if isinstance(shown, Trajectory) else None
    if steps is None:
        steps = result.settings["steps"] or _STEPS if recorded is None else recorded.steps
    if recorded is not None and recorded.steps < steps:
        raise InvalidInput(
            f"the recorded expert has {recorded.steps} steps, fewer than the {steps} asked for"
        )
    discount, measures = result.settings["discount"], measures_of(system)
    policy = result.policy
    policy.check(system)  # before the expert's runs
    repeats = -(-runs // policy.replicas)
    common: dict[str, Any] = {
        "steps": steps,
        "record": {**{name: measures[name] for name in measures}, MU: DiscountedFeatures(discount)},
        "initial": initial,
        "threads": threads,
        "progress": progress,
    }
    if recorded is None:
        by_policy = rollout(system, shown, runs=runs, seed=seed, **common)  # type: ignore[arg-type]
        expert_mu, of_expert = by_policy[MU], {name: by_policy[name] for name in measures}
    else:
        recorded = recorded.until(steps)
        expert_mu = feature_expectations(system, recorded, discount=discount)
        of_expert = {name: measure_over_time(system, recorded, name) for name in measures}
    learned = rollout(system, policy, runs=repeats * policy.replicas, seed=seed + 1, **common)
    return Evaluation(
        name_of(system),
        measures,
        of_expert,
        {name: learned[name] for name in measures},
        expert_mu.mean(axis=0),
        learned[MU].reshape(repeats, policy.replicas, -1).mean(axis=0),
        system.n_agents,
        steps,
    )


MU = "feature expectations"  # no measure's name: measures are attributes


def system_expert(system: System) -> Controller:
    """The system's own expert; raises InvalidInput if it has none."""
    if not isinstance(system, HasExpert):
        raise InvalidInput(
            f"{name_of(system)} has no expert: give it a method expert(observations), or give a "
            "policy or a recorded trajectory as the expert"
        )
    return system.expert


def measure_over_time(system: System, trajectory: Trajectory, name: str) -> NDArray[Any]:
    """A measure of a recorded swarm at every time (runs, steps + 1).

    It is taken from the recording, or computed from the recorded states, one time after another.
    """
    if name in trajectory and trajectory.variables[name].axes == ("run", "time"):
        return trajectory[name]
    measure = measures_of(system)[name]
    times = [np.asarray(measure.function(state)) for state in states_over(system, trajectory)]
    check_shape(f"the measure {name!r}", times[0][:1], (1,))
    return np.stack(times, axis=1)


def shown_times(steps: int) -> list[int]:
    """The times that a table of a measure shows."""
    return sorted({0, *(t for t in _SHOWN if t < steps), steps})
