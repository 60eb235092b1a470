"""What a fit found: the reward, the policy, and the whole way there."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp._version import __version__
from swarmdp.errors import FileError, InvalidInput
from swarmdp.irl.algorithm import Iteration, last_counting
from swarmdp.irl.updates import title
from swarmdp.model import LocalPolicy, MixedPolicy, Policy, Reward, SoftPolicy
from swarmdp.trajectory import Trajectory, read_dataset, write_dataset

if TYPE_CHECKING:
    import xarray

KIND = "swarmdp fit"
FORMAT = 2  # 1 had no soft policies, errors and diagnostics; it can still be read
FILE = "result.nc"
DIAGNOSTIC = "diagnostic_"  # what their variables begin with


@dataclass(frozen=True, eq=False)
class History:
    """Every iteration of Algorithm 1, for all R experiments.

    Not the margin but the distance chooses an iteration: max-margin's and projection's margins
    never rise, so that the last would always be the best, and others rise and fall as they like.
    Once an experiment is finished, what follows does not count for it.
    """

    weights: NDArray[np.float64]  # (I, R, d)
    policy: NDArray[np.int64]  # (I, R, observations): likeliest actions of soft policies
    seen: NDArray[np.bool_]  # (I, R, observations): visited while learning that policy
    mu: NDArray[np.float64]  # (I, R, d)
    distance: NDArray[np.float64]  # (I, R): |mu_E - mu|
    margin: NDArray[np.float64]  # (I, R)
    mixture: NDArray[np.float64]  # (I, R, I): after iteration i, the weights of policies 0 to i


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of `swarmdp.fit` for R independent experiments."""

    iterations: tuple[Iteration, ...]
    expert: NDArray[np.float64]  # (R, d): the demo's feature expectations
    expert_error: NDArray[np.float64]  # (R, d): their standard errors; NaN where unknown
    observation: NDArray[np.float64]  # (d,): the value of each observation, for tables
    observation_name: str
    observation_units: str
    tolerance: float  # an experiment is finished when its margin falls to this
    system: str
    system_settings: Mapping[str, Any]
    settings: Mapping[str, Any]  # of the fit
    seed: int
    solutions: tuple[str, ...] = ()  # what the system calls the policies found, if it does
    version: str = __version__

    @property
    def replicas(self) -> int:
        """The number of independent experiments R."""
        return len(self.expert)

    @property
    def history(self) -> History:
        """Every iteration."""
        done = self.iterations
        mixture = np.zeros((len(done), self.replicas, len(done)))
        for i, iteration in enumerate(done):
            mixture[i, :, : i + 1] = iteration.mixture
        mu = np.stack([iteration.mu for iteration in done])
        return History(
            np.stack([iteration.weights for iteration in done]),
            np.stack([iteration.table for iteration in done]),
            np.stack([iteration.seen for iteration in done]),
            mu,
            np.linalg.norm(self.expert - mu, axis=2),
            np.stack([iteration.margin for iteration in done]),
            mixture,
        )

    @property
    def chosen(self) -> NDArray[np.int64]:
        """The iteration whose feature expectations are nearest to the expert's, for each (R,)."""
        after = np.arange(len(self.iterations))[:, None] > self.ended
        best: NDArray[np.int64] = np.where(after, np.inf, self.history.distance).argmin(axis=0)
        return best

    @property
    def ended(self) -> NDArray[np.int64]:
        """The last iteration that counts for each experiment (R,): its first finished one."""
        margins = np.stack([iteration.margin for iteration in self.iterations])
        return last_counting(margins, self.tolerance)

    @property
    def policy(self) -> LocalPolicy:
        """The chosen policy of each experiment."""
        probabilities = [iteration.probabilities for iteration in self.iterations]
        soft = [array for array in probabilities if array is not None]
        if soft:
            return SoftPolicy(np.stack([soft[i][r] for r, i in enumerate(self.chosen)]))
        return Policy(self.history.policy[self.chosen, np.arange(self.replicas)])

    @property
    def mixture(self) -> MixedPolicy:
        """The policies of all iterations, mixed as the reward update says.

        For max-margin and projection this is Abbeel and Ng's answer, whose feature expectations are
        within the last margin of the expert's; for mwal the uniform mixture of its theorem.
        """
        policies = tuple(iteration.policy for iteration in self.iterations)
        return MixedPolicy(policies, self._mixture)

    @property
    def mixture_mu(self) -> NDArray[np.float64]:
        """The feature expectations of the mixture (R, d)."""
        mixed: NDArray[np.float64] = np.einsum("rj,jrd->rd", self._mixture, self.history.mu)
        return mixed

    @property
    def _mixture(self) -> NDArray[np.float64]:
        """The weights of all policies (R, I); zero for those after the experiment's end."""
        return self.history.mixture[self.ended, np.arange(self.replicas)]

    @property
    def reward(self) -> Reward:
        """The reward for which the chosen policy was learned."""
        return Reward(
            self.history.weights[self.chosen, np.arange(self.replicas)],
            self.observation,
            self.observation_name,
            self.observation_units,
        )

    @property
    def reward_error(self) -> NDArray[np.float64] | None:
        """The uncertainty of the reward (R, d), for reward updates that know it.

        It is NaN where the reward is a first one that no update made.
        """
        errors = self._errors
        if errors is None:
            return None
        unknown = np.full_like(self.expert, np.nan)
        # An update that answers at once has made the first reward as well.
        own = np.full((self.replicas, 1), self.settings.get("at_once") and self._own_start)
        if "at_once" not in self.settings:  # an older file: told by the rewards, which stayed
            first = self.iterations[0]
            own = (first.weights == first.next_weights).all(axis=1, keepdims=True)
        before = np.concatenate([np.where(own, errors[0], unknown)[None], errors])
        return before[self.chosen, np.arange(self.replicas)]

    @property
    def _own_start(self) -> bool:
        return self.settings.get("start") == "own"

    @property
    def _errors(self) -> NDArray[np.float64] | None:
        """The errors of every round (I, R, d), NaN where one gave none; None if all gave none."""
        errors = [iteration.error for iteration in self.iterations]
        if all(error is None for error in errors):
            return None
        unknown = np.full_like(self.expert, np.nan)
        return np.stack([unknown if error is None else error for error in errors])

    @property
    def diagnostics(self) -> dict[str, NDArray[np.float64]]:
        """What reward updates say of themselves, by name, (I, R) or (I, R, d).

        It is NaN in iterations in which they said nothing.
        """
        names = dict.fromkeys(name for i in self.iterations for name in i.diagnostics)
        return {name: self._diagnostic(name) for name in names}

    def _diagnostic(self, name: str) -> NDArray[np.float64]:
        rounds = [iteration.diagnostics.get(name) for iteration in self.iterations]
        of_features = any(array is not None and array.ndim == 2 for array in rounds)
        shape = self.expert.shape if of_features else (self.replicas,)
        filled = np.full((len(rounds), *shape), np.nan)
        for row, array in zip(filled, rounds, strict=True):
            if array is not None:
                # A number for the whole experiment holds for each of its features.
                row[...] = array[:, None] if array.ndim < row.ndim else array
        return filled

    @property
    def seen(self) -> NDArray[np.bool_]:
        """The observations visited while the chosen policy was learned (R, observations).

        At the others the policy does nothing: nobody knows better.
        """
        return self.history.seen[self.chosen, np.arange(self.replicas)]

    @property
    def distance(self) -> NDArray[np.float64]:
        """|mu_E - mu| of the chosen policies (R,)."""
        return self.history.distance[self.chosen, np.arange(self.replicas)]

    @property
    def margin(self) -> NDArray[np.float64]:
        """What the reward update says is left to be done (R,).

        For max-margin the distance from mu_E to all mixtures of the policies found.
        """
        return self.history.margin[self.ended, np.arange(self.replicas)]

    def __repr__(self) -> str:
        chosen = ", ".join(map(str, self.chosen[:5])) + (", ..." if self.replicas > 5 else "")
        lines = [
            f"Result of fitting {self.system} by {title(self.settings)}: {self.replicas} "
            f"experiment(s), {len(self.iterations)} iterations, seed {self.seed}",
            f"  chosen iteration   {chosen}",
            f"  distance           mean {self.distance.mean():.3g}, worst {self.distance.max():.3g}"
            "  |mu_E - mu|",
            f"  margin             mean {self.margin.mean():.3g}",
            f"  reward             highest at {self.observation_name} "
            f"{self.observation[self.reward.weights.mean(axis=0).argmax()]:.4g} "
            f"{'' if self.observation_units == '1' else self.observation_units}".rstrip(),
        ]
        if "actions" in self.settings:
            how = {"inferred": "inferred from states"}
            known = str(self.settings["actions"])
            lines.append(f"  actions            {how.get(known, known)}")
        if self.solutions:
            names, counts = np.unique(self.solutions, return_counts=True)
            found = "; ".join(f"{n} x {name}" for name, n in zip(names, counts, strict=True))
            lines.append(f"  solution           {found}")
        unseen = int((~self.seen).sum(axis=1).max())
        if unseen:
            lines.append(f"  never visited      up to {unseen} observations: there it does nothing")
        return "\n".join(lines)

    def to_xarray(self) -> "xarray.Dataset":
        """Everything, with named dimensions."""
        import xarray

        h, last = self.history, self.iterations[-1]
        axes = ("iteration", "experiment")
        data = {
            "weights": ((*axes, "feature"), h.weights),
            "policy": ((*axes, "observation"), h.policy),
            "seen": ((*axes, "observation"), h.seen),
            "mu": ((*axes, "feature"), h.mu),
            "distance": (axes, h.distance),
            "margin": (axes, h.margin),
            "mixture": ((*axes, "policy_iteration"), h.mixture),
            "next_weights": (("experiment", "feature"), last.next_weights),
            "expert": (("experiment", "feature"), self.expert),
            "expert_error": (("experiment", "feature"), self.expert_error),
            "chosen": (("experiment",), self.chosen),
        }
        if last.probabilities is not None:
            soft = [iteration.policy for iteration in self.iterations]
            data["probabilities"] = (
                (*axes, "observation", "action"),
                np.stack([p.probabilities for p in soft if isinstance(p, SoftPolicy)]),
            )
        if (errors := self._errors) is not None:
            data["error"] = ((*axes, "feature"), errors)
        for name, array in self.diagnostics.items():
            data[DIAGNOSTIC + name] = ((*axes, "feature")[: array.ndim], array)
        coordinates = {
            "observation_value": (
                "feature",
                self.observation,
                {"units": self.observation_units, "long_name": self.observation_name},
            )
        }
        attributes = {
            "kind": KIND,
            "format": FORMAT,
            "swarmdp_version": self.version,
            "system": self.system,
            "system_settings": json.dumps(dict(self.system_settings)),
            "settings": json.dumps(dict(self.settings)),
            "seed": str(self.seed),
            "tolerance": self.tolerance,
            "solutions": json.dumps(self.solutions),
        }
        return xarray.Dataset(data, coordinates, attributes)

    @classmethod
    def from_xarray(cls, dataset: "xarray.Dataset") -> "Result":
        """The result that `to_xarray` wrote."""
        attributes = dataset.attrs
        if attributes.get("kind") != KIND:
            raise InvalidInput("this is not a fit of swarmdp (attribute 'kind')")
        if not 1 <= (found := int(attributes.get("format", 0))) <= FORMAT:
            raise InvalidInput(
                f"written by swarmdp {attributes.get('swarmdp_version', '?')} in format {found}, "
                f"this is {__version__} and reads formats up to {FORMAT}"
            )
        get = {name: np.ascontiguousarray(a.values) for name, a in dataset.data_vars.items()}
        count = len(get["mu"])
        following = [*get["weights"][1:], get["next_weights"]]
        soft, error = (get.get(name) for name in ("probabilities", "error"))
        iterations = tuple(
            Iteration(
                get["weights"][i],
                get["policy"][i],
                get["seen"][i].astype(bool),
                get["mu"][i],
                get["margin"][i],
                get["mixture"][i, :, : i + 1],
                following[i],
                None if soft is None else soft[i],
                None if error is None else error[i],
                {
                    str(name)[len(DIAGNOSTIC) :]: array[i]
                    for name, array in get.items()
                    if str(name).startswith(DIAGNOSTIC)
                },
            )
            for i in range(count)
        )
        value = dataset["observation_value"]
        return cls(
            iterations,
            get["expert"],
            get["expert_error"],
            np.asarray(value.values),
            str(value.attrs["long_name"]),
            str(value.attrs["units"]),
            float(attributes["tolerance"]),
            str(attributes["system"]),
            json.loads(attributes["system_settings"]),
            json.loads(attributes["settings"]),
            int(attributes["seed"]),
            tuple(json.loads(attributes["solutions"])),
            str(attributes["swarmdp_version"]),
        )

    def save(self, folder: str | os.PathLike[str]) -> Path:
        """Write `result.nc` into a folder, wholly or not at all; return the file's path."""
        path = Path(folder) / FILE
        write_dataset(path, self.to_xarray())
        return path


def load(path: str | os.PathLike[str]) -> Any:
    """Read what was saved: a fit (its folder or file) or a trajectory."""
    source = Path(path)
    if source.is_dir():
        source = source / FILE
        if not source.is_file():
            raise FileError(2, f"cannot read {path}: the folder has no {FILE}")
    dataset = read_dataset(source)
    kind: type[Result] | type[Trajectory] = Trajectory
    if dataset.attrs.get("kind") == KIND:
        kind = Result
    try:
        return kind.from_xarray(dataset)
    except (InvalidInput, KeyError, ValueError, TypeError) as error:
        raise FileError(5, f"cannot read {source}: {error}") from error
