"""The list of built-in systems, and systems built again from what a file says of them."""

from typing import Any

import pytest

import swarmdp
from swarmdp import systems
from swarmdp.cli.systems import class_of
from swarmdp.model.adapted import with_features
from swarmdp.model.traits import settings_of
from swarmdp.studio import catalogue
from swarmdp.systems.registry import SYSTEMS, BuiltIn, built_in, class_at, rebuild
from tests.examples import Robots

InvalidInput = swarmdp.errors.InvalidInput


@pytest.mark.parametrize("row", SYSTEMS.values(), ids=list(SYSTEMS))
def test_every_row_names_a_public_system(row: BuiltIn) -> None:
    kind = class_at(row.path)
    assert kind is getattr(swarmdp, row.class_name) is getattr(systems, row.class_name)
    assert built_in(row.name) is built_in(row.class_name) is SYSTEMS[row.name] is row
    assert class_of(row.name) is kind
    assert (row.class_name in catalogue.BUILT_IN) == row.in_studio
    again = rebuild(row.class_name, settings_of(kind()))
    assert again == kind()


def test_settings_come_back_as_a_file_has_them() -> None:
    assert rebuild("Ising", {"shape": [4, 6], "reach": 1}) == swarmdp.Ising((4, 6), reach=1)
    robots = rebuild("Robots", settings_of(Robots(n_agents=3)), Robots)
    assert robots == Robots(n_agents=3)
    system = with_features(swarmdp.Vicsek(), swarmdp.Bins([-1.0, 1.0]))
    assert rebuild("Vicsek", settings_of(system)).features == swarmdp.Bins([-1.0, 1.0])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("Robots", {}), "Robots is not a built-in system"),
        (("Robots", {}, swarmdp.Vicsek), "it was recorded from Robots, not from Vicsek"),
        (("Vicsek", {"wings": 2}), "wings"),
        (("Vicsek", {"initial": "..."}), "start states of its own"),
        (("Vicsek", {"features": {"kind": "Waves"}}), r"its features \(Waves\)"),
    ],
)
def test_what_a_file_does_not_tell_is_refused(arguments: Any, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        rebuild(*arguments)


def test_start_states_may_be_left_out() -> None:
    assert rebuild("Vicsek", {"initial": "..."}, any_start=True) == swarmdp.Vicsek()
