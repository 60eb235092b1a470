"""What a fit found: the reward, the policy, and the whole way there."""

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swarmdp import files
from swarmdp._version import __version__
from swarmdp.errors import FileError, InvalidInput
from swarmdp.irl.algorithm import Iteration
from swarmdp.model import Policy, Reward
from swarmdp.trajectory import Trajectory, read_dataset

if TYPE_CHECKING:
    import xarray

KIND = "swarmdp fit"
FORMAT = 1
FILE = "result.nc"


@dataclass(frozen=True, eq=False)
class History:
    """Every iteration of Algorithm 1, for all R experiments.

    The margin never rises, so it cannot choose an iteration; the distance can.
    """

    weights: NDArray[np.float64]  # (I, R, d)
    policy: NDArray[np.int64]  # (I, R, observations)
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
        history = self.history
        # What comes after an experiment is finished does not count.
        finished = np.vstack(
            [np.zeros((1, self.replicas), bool), history.margin[:-1] <= self.tolerance]
        )
        counts = np.where(finished, np.inf, history.distance)
        best: NDArray[np.int64] = counts.argmin(axis=0)
        return best

    @property
    def policy(self) -> Policy:
        """The chosen policy of each experiment."""
        return Policy(self.history.policy[self.chosen, np.arange(self.replicas)])

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
        """The last margin (R,): the distance from mu_E to all mixtures of the policies found."""
        return self.iterations[-1].margin

    def __repr__(self) -> str:
        chosen = ", ".join(map(str, self.chosen[:5])) + (", ..." if self.replicas > 5 else "")
        lines = [
            f"Result of fitting {self.system}: {self.replicas} experiment(s), "
            f"{len(self.iterations)} iterations, seed {self.seed}",
            f"  chosen iteration   {chosen}",
            f"  distance           mean {self.distance.mean():.3g}, worst {self.distance.max():.3g}"
            "  |mu_E - mu|",
            f"  margin             mean {self.margin.mean():.3g}",
            f"  reward             highest at {self.observation_name} "
            f"{self.observation[self.reward.weights.mean(axis=0).argmax()]:.4g} "
            f"{self.observation_units}",
        ]
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
        if (found := int(attributes.get("format", 0))) != FORMAT:
            raise InvalidInput(
                f"written by swarmdp {attributes.get('swarmdp_version', '?')} in format {found}, "
                f"this is {__version__} and reads format {FORMAT}"
            )
        get = {name: np.ascontiguousarray(a.values) for name, a in dataset.data_vars.items()}
        count = len(get["mu"])
        following = [*get["weights"][1:], get["next_weights"]]
        iterations = tuple(
            Iteration(
                get["weights"][i],
                get["policy"][i],
                get["seen"][i].astype(bool),
                get["mu"][i],
                get["margin"][i],
                get["mixture"][i, :, : i + 1],
                following[i],
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
        image = self.to_xarray().to_netcdf(None, engine="h5netcdf")
        with files.replacing(path) as temporary:
            temporary.write_bytes(image)
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
