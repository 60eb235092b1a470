"""What individuals do besides turning: how their speeds react, and whether they look ahead."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from swarmdp.model.streams import Part, derived_seed
from swarmdp.recordings.anticipation import Anticipation, anticipation, half_interval
from swarmdp.recordings.arena import Arena
from swarmdp.recordings.decisions import Decisions
from swarmdp.recordings.recording import Recording
from swarmdp.recordings.speed_rule import SPEED_COMPONENTS, SpeedRule, fit_speed_rule


@dataclass(frozen=True)
class Reactions:
    """How speeds react, and whether distance or time to collision decides.

    Parameters
    ----------
    speed_rule
        What changes of speed react to.
    anticipation
        Time to collision or distance.

    """

    speed_rule: SpeedRule
    anticipation: Anticipation

    @classmethod
    def read(
        cls,
        recording: Recording,
        decisions: Decisions,
        arena: Arena | None,
        *,
        cleaning: Mapping[str, Any],
        contact: float | Literal["auto"] = "auto",
        components: Sequence[str] = tuple(SPEED_COMPONENTS),
        seed: int = 0,
    ) -> "Reactions":
        """Read both from a recording.

        Pairs are those of the whole recording, since nothing is judged by them; the rule of speeds
        is that of the training part.

        Parameters
        ----------
        recording, decisions
            The recording, and what was made of it.
        arena
            Where they were; None for open space.
        cleaning
            Options of `Recording.decisions`, with which the decisions were made.
        contact
            As for `swarmdp.recordings.anticipation`.
        components
            Names of `SPEED_COMPONENTS` that are tried.
        seed
            Same seed, same reactions.

        """
        fine = recording.decisions(half_interval(decisions, recording.fps), **cleaning)
        pairs = anticipation(fine, arena, contact=contact, seed=derived_seed(seed, Part.ENCOUNTERS))
        rule = fit_speed_rule(
            decisions.train,
            arena,
            contact=pairs.contact,
            components=components,
            seed=derived_seed(seed, Part.SHIFTING),
        )
        return cls(rule, pairs)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Both in words."""
        return (*self.speed_rule.sentences, self.anticipation.sentence)

    def __repr__(self) -> str:
        return "\n".join(self.sentences)

    def to_plain(self) -> dict[str, Any]:
        """Plain data, from which `from_plain` makes it again."""
        return {
            "speed_rule": self.speed_rule.to_plain(),
            "anticipation": self.anticipation.to_plain(),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> "Reactions":
        """What `to_plain` wrote."""
        return cls(
            SpeedRule.from_plain(plain["speed_rule"]),
            Anticipation.from_plain(plain["anticipation"]),
        )
