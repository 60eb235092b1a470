"""What systems share: their features are made once, if they cannot change."""

import gc
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any, ClassVar, cast

from swarmdp.model.features import Angles
from swarmdp.model.system import _FEATURES, class_map, features_of


@dataclass(frozen=True)
class Counted:
    """Features that say how often they were made; of a system, all that is asked here."""

    bins: int = 4
    made: ClassVar[list[int]] = []

    @property
    def features(self) -> Angles:
        self.made.append(self.bins)
        return Angles(self.bins)


@dataclass(frozen=True)
class Around:
    """A system around another one."""

    inner: Any

    @property
    def features(self) -> Angles:
        return Angles(self.inner.bins)


def test_features_of_a_system_that_cannot_change_are_made_once() -> None:
    Counted.made.clear()
    system: Any = Counted(6)
    assert features_of(system) is features_of(system)
    assert class_map(system).size == 6
    assert Counted.made == [6]
    assert class_map(cast("Any", replace(system, bins=8))).size == 8
    around: Any = Around(system)
    assert features_of(around) is features_of(around)


def test_features_of_a_system_that_can_change_are_made_anew() -> None:
    inner = SimpleNamespace(bins=4)
    around: Any = Around(inner)
    assert class_map(around).size == 4
    inner.bins = 6
    assert class_map(around).size == 6
    plain: Any = SimpleNamespace(features=Angles(4))
    assert class_map(plain).size == 4
    plain.features = Angles(6)
    assert class_map(plain).size == 6


def test_features_are_forgotten_with_their_system() -> None:
    system: Any = Counted(6)
    features_of(system)
    known = len(_FEATURES)
    del system
    gc.collect()
    assert len(_FEATURES) < known
