"""Controllers as JSON, CSV and C header."""

import csv
import json
import math
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from numpy.typing import NDArray

import swarmdp
from swarmdp import Angles, Bins, Levels, Product
from swarmdp.model.features import Axis, Vectors
from swarmdp.model.features.classes import FARTHEST_ANGLE
from swarmdp.model.harmonics import Harmonics
from swarmdp.model.streams import Purpose, Stream, Streams
from swarmdp.policies import Exportable, Interface
from swarmdp.policies.c_header import KEYWORDS, identifiers
from swarmdp.policies.linear import LinearPolicy
from swarmdp.support.errors import FileError, InvalidInput
from tests.examples import ROOT
from tests.policies.compiled import Floats, actions, build

COUNT = 100_000
FAST = ("-O3", "-march=native", "-ffp-contract=fast")  # where there is a fused operation, use it
MAPS: dict[str, Any] = {
    "even angles": Angles(36, name="misalignment"),
    "odd angles": Angles(7),
    "one angle": Angles(1),
    "bins": Bins([-1.5, -0.1, 0.0, 0.3, 2.0], name="light", units="lx"),
    "open bins": Bins([-math.inf, -0.1, 0.2, math.inf], name="light", units="lx"),
    "one bin": Bins([0.0, 1.0]),
    "levels": Levels(5, name="neighbours"),
    "vectors": Vectors(np.eye(4)[:, :3]),
    "product": Product(misalignment=Angles(12), light=Bins([0.0, 0.5, 1.0]), near=Levels(3)),
    "additive": Product(a=Angles(5), b=Angles(6), c=Bins([0, 1, 2, 5]), additive=True),
    "product of one": Product(near=Levels(3)),
}
TURNS = np.array([-0.5, -0.2, 0.0, 0.1, 0.5])


@dataclass(frozen=True, eq=False)
class Seen:
    """A system of which only what a policy sees and does is of interest."""

    features: Any
    actions: NDArray[Any]
    action_units: str = "rad"
    system_name: str = "Seen"
    n_agents: int = 1

    def initial(self, rng: Any) -> dict[str, NDArray[Any]]:
        raise NotImplementedError

    def observe(self, state: Any) -> NDArray[Any]:
        raise NotImplementedError

    def transition(self, state: Any, actions: Any, rng: Any) -> dict[str, NDArray[Any]]:
        raise NotImplementedError


def system_of(features: Any, values: Any = TURNS) -> Any:
    return Seen(features, np.asarray(values))


def interface_of(system: Any) -> Interface:
    return Interface(system.system_name, system.features, system.actions, "rad", 2)


def pool(part: Any) -> Floats:
    """Observations of one component: random ones, edges, their neighbours, and both zeros."""
    rng = np.random.default_rng(1)
    if isinstance(part, Levels | Vectors):
        return np.arange(part.size, dtype=np.float64)
    if isinstance(part, Bins):
        edges = np.array(part.edges)
        low, high = np.clip(edges[[0, -1]], -10, 10)
        special = np.concatenate([edges, part.axes[0].values, [0.0, -0.0]])
    else:
        low, high = -20.0, 20.0
        places = np.arange(-2 * part.size, 2 * part.size + 1)[:, None] + [0.0, 0.5]
        special = np.concatenate([places.ravel() * (2 * math.pi / part.size), [0.0, -0.0]])
        special = np.concatenate(
            [special, [math.pi, 1e8, FARTHEST_ANGLE], [-math.pi, -1e8, -FARTHEST_ANGLE]]
        )
    near: list[Floats] = [special, np.nextafter(special, -np.inf), np.nextafter(special, np.inf)]
    tried: Floats = np.concatenate([*near, rng.uniform(low, high, 2000)])
    if isinstance(part, Bins):
        tried = tried[(np.abs(tried) < 1e300) | np.isinf(tried)]  # NumPy's overflow is an error
        tried = tried[(tried >= part.edges[0]) & (tried <= part.edges[-1])]
    else:
        tried = tried[np.abs(tried) <= FARTHEST_ANGLE]
    return tried


def observed(features: Any) -> tuple[NDArray[Any], Floats]:
    """Observations as the system sees them (1, n, ...), and as C does (n, components)."""
    rng = np.random.default_rng(2)
    whole = isinstance(features, Product)
    parts = list(features.components.values()) if whole else [features]
    columns = [np.concatenate([p := pool(part), rng.choice(p, COUNT)])[:COUNT] for part in parts]
    seen = np.stack([rng.permutation(c) if whole else c for c in columns], axis=1)
    if whole:
        return seen[None], seen
    integer = isinstance(features, Levels | Vectors)
    return (seen[:, 0].astype(np.int64) if integer else seen[:, 0])[None], seen


@pytest.mark.parametrize("name", MAPS)
def test_the_header_chooses_the_same_actions(name: str, tmp_path: Path) -> None:
    features = MAPS[name]
    rng = np.random.default_rng(3)
    table = rng.permutation(np.arange(3 * features.size) % 5).reshape(3, features.size)
    policy = swarmdp.Policy(table)
    header = policy.export(tmp_path / "controller.h", system=system_of(features), replica=1)
    observations, seen = observed(features)
    expected = policy.act(system_of(features), observations, np.array([1]))[0]
    assert len(set(expected.tolist())) > 1 or features.size == 1
    for flags in ((), FAST):
        np.testing.assert_array_equal(actions(header, seen, None, *flags), expected)
        header = header.rename(tmp_path / "other.h")  # a library is loaded once for each name


@pytest.mark.parametrize("name", MAPS)
def test_the_header_draws_the_same_actions(name: str, tmp_path: Path) -> None:
    features = MAPS[name]
    rng = np.random.default_rng(4)
    chances = rng.dirichlet(np.full(5, 0.3), features.size)
    chances[0] = [0, 0.5, 0, 0.5, 0]  # some are impossible, also the first and the last
    policy = swarmdp.policies.SoftPolicy(chances)
    header = policy.export(tmp_path / "controller.h", system=system_of(features))
    observations, seen = observed(features)
    uniform_numbers = rng.uniform(size=COUNT)
    uniform_numbers[:4] = 0.0, 0.5, 1 - 2.0**-53, 0.25
    stream = Streams.of(1, np.arange(1), COUNT).at(0, Purpose.POLICY)
    with mock.patch.object(Stream, "uniform", return_value=uniform_numbers[None]):
        expected = policy.act(system_of(features), observations, np.zeros(1, np.int64), stream)[0]
    for flags in ((), FAST):
        np.testing.assert_array_equal(actions(header, seen, uniform_numbers, *flags), expected)
        header = header.rename(tmp_path / "other.h")


@pytest.mark.parametrize("name", [name for name in MAPS if name != "vectors"])
def test_the_header_interpolates_alike(name: str, tmp_path: Path) -> None:
    features = MAPS[name]
    policy = swarmdp.policies.InterpolatedPolicy(
        np.random.default_rng(5).normal(size=features.size)
    )
    header = policy.export(tmp_path / "controller.h", system=system_of(features))
    observations, seen = observed(features)
    expected = policy.act(system_of(features), observations, np.zeros(1, np.int64))[0]
    index, weight = features.between(observations)
    terms = index.shape[-1]
    # Up to four terms are added in the same order. More, NumPy adds in pairs: each of both sums is
    # within (terms - 1) half units in the last place of the sum of their sizes.
    size = np.abs(policy.values[0][index[0]] * weight[0]).sum(axis=1)
    bound = 0.0 if terms <= 4 else (terms - 1) * np.finfo(float).eps * size
    for flags in ((), FAST):
        chosen = actions(header, seen, None, *flags)
        assert (np.abs(chosen - expected) <= bound).all()
        header = header.rename(tmp_path / "other.h")


@pytest.mark.parametrize("kind", ["table", "soft", "interpolated"])
def test_the_header_does_nothing_where_python_raises(kind: str, tmp_path: Path) -> None:
    features = Product(angle=Angles(4), light=Bins([0.0, 1.0, 2.0]), near=Levels(3))
    system = system_of(features)
    policies: dict[str, Any] = {
        "table": swarmdp.Policy(np.full(24, 4)),
        "soft": swarmdp.policies.SoftPolicy(np.tile([0.0, 0, 0, 0, 1], (24, 1))),
        "interpolated": swarmdp.policies.InterpolatedPolicy(np.full(24, 0.5)),
    }
    policy = policies[kind]
    header = policy.export(tmp_path / "controller.h", system=system)
    bad = [
        *([x, 0.5, 1] for x in (math.nan, math.inf, -math.inf)),
        *([0.0, x, 1] for x in (math.nan, math.inf, -math.inf, -1e-300, 2.1)),
        *([0.0, 0.5, x] for x in (math.nan, math.inf, -math.inf, -1, 3, 0.5)),
    ]
    observations = np.array([[0.0, 0.5, 1], [FARTHEST_ANGLE * 2, 0.5, 1], *bad])
    chances = np.full(len(observations), 0.5) if kind == "soft" else None
    chosen = actions(header, observations, chances)
    np.testing.assert_array_equal(chosen, [0.5] + [0.0] * (len(chosen) - 1))
    for observation in bad:
        with pytest.raises(InvalidInput):
            policy.act(system, np.array([[observation]]), np.zeros(1, np.int64), None)


def test_the_header_does_nothing_without_a_proper_random_number(tmp_path: Path) -> None:
    policy = swarmdp.policies.SoftPolicy([[0.0, 0.0, 0.0, 0.0, 1.0]])
    header = policy.export(tmp_path / "controller.h", system=system_of(Levels(1)))
    chances = np.array([0.5, 1.0, -0.1, math.nan, math.inf])
    chosen = actions(header, np.zeros((5, 1)), chances)
    np.testing.assert_array_equal(chosen, [0.5, 0, 0, 0, 0])


HOSTILE = [
    "*/ int main(void) { return 1; } /*",
    "*\\",
    "??/",
    "\u202e\n\r#error no\u0000",
    "class",
    "int",
    "swarmdp_class",
    "floor",
    "INFINITY",
    "uniform",
    "θ",
    "θ'",
    "3 light",
    "a b",
    "a-b",
    "Größe",
    "found",
    "i",
]


@pytest.mark.parametrize("kind", ["table", "soft", "interpolated"])
def test_any_name_makes_a_header_that_compiles(kind: str, tmp_path: Path) -> None:
    parts: dict[str, Any] = {name: Levels(1, units=name) for name in HOSTILE}
    parts[HOSTILE[-1]] = Bins([0, 1, 2])
    units, name = HOSTILE[:2]
    system = Seen(Product(**parts), TURNS, units, name)
    policies: dict[str, Any] = {
        "table": swarmdp.Policy([4, 0]),
        "soft": swarmdp.policies.SoftPolicy(np.eye(5)[[4, 0]]),
        "interpolated": swarmdp.policies.InterpolatedPolicy([0.5, -0.5]),
    }
    anything: Any = system
    header = policies[kind].export(tmp_path / "controller.h", system=anything)
    seen = np.zeros((1, len(HOSTILE)))
    chosen = actions(header, seen, np.zeros(1) if kind == "soft" else None)
    np.testing.assert_array_equal(chosen, [0.5])
    assert header.read_text(encoding="utf-8").isascii()


def test_identifiers() -> None:
    names = ["Local energy", "local-energy", "θ", "2nd", "", "class", "swarmdp_action"]
    assert identifiers(names) == [
        "local_energy",
        "local_energy_1",
        "component_2",
        "component_2nd",
        "component_4",
        "class_",
        "component_swarmdp_action",
    ]
    assert not {f"{word}_" for word in KEYWORDS.split()} & {"found_", "i_", "row_", "values_"}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("kind", ["table", "soft", "interpolated"])
def test_json_brings_the_policy_back(name: str, kind: str, tmp_path: Path) -> None:
    features, rng = MAPS[name], np.random.default_rng(6)
    if kind == "interpolated" and name == "vectors":
        features = Levels(4)
    size = features.size
    policies: dict[str, Any] = {
        "table": lambda interface: swarmdp.Policy(rng.integers(0, 5, (2, size)), interface),
        "soft": lambda interface: swarmdp.policies.SoftPolicy(
            rng.dirichlet(np.ones(5), (2, size)), interface
        ),
        "interpolated": lambda interface: swarmdp.policies.InterpolatedPolicy(
            rng.normal(size=(2, size)), interface
        ),
    }
    policy = policies[kind](interface_of(system_of(features)))
    path = policy.export(tmp_path / "controller.json", replica=1)
    again = swarmdp.policies.load_controller(path)
    assert type(again) is type(policy)
    for key, array in policy.to_arrays().items():
        np.testing.assert_array_equal(again.to_arrays()[key], array[1:])
    interface = again.interface
    assert interface is not None
    np.testing.assert_array_equal(interface.actions, TURNS)
    assert (interface.system, interface.action_units, interface.null) == ("Seen", "rad", 2)
    observations, _ = observed(features)
    restored: Any = interface.features
    assert restored.shape == features.shape
    np.testing.assert_array_equal(restored.index(observations), features.index(observations))
    assert [a.name for a in restored.axes] == [a.name for a in features.axes]
    assert [a.units for a in restored.axes] == [a.units for a in features.axes]


def test_json_is_plain_and_describes_itself(tmp_path: Path) -> None:
    vicsek = swarmdp.Vicsek()
    policy = swarmdp.Policy(np.arange(36) % 13)
    path = policy.export(tmp_path / "new" / "controller.json", system=vicsek)

    def refused(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    plain = json.loads(path.read_text(encoding="utf-8"), parse_constant=refused)
    assert (plain["kind"], plain["schema"]) == ("swarmdp controller", 1)
    assert (plain["system"], plain["swarmdp_version"]) == ("Vicsek", swarmdp.__version__)
    (component,) = plain["observation"]["components"]
    assert (component["name"], component["units"]) == ("misalignment", "rad")
    assert component["edges"][18:20] == pytest.approx([-math.pi / 36, math.pi / 36])
    assert plain["action"] == {"units": "rad", "values": vicsek.actions.tolist(), "null": 6}
    assert plain["table"] == policy.table[0].tolist()
    open_ended = swarmdp.Policy([0, 1, 2]).export(path, system=system_of(MAPS["open bins"]))
    plain = json.loads(open_ended.read_text(encoding="utf-8"), parse_constant=refused)
    assert plain["observation"]["components"][0]["edges"] == ["-inf", -0.1, 0.2, "inf"]


def test_a_controller_rolls_out_as_before(tmp_path: Path) -> None:
    vicsek = swarmdp.Vicsek(n_agents=20)
    policy = swarmdp.Policy(np.arange(36) % 13)
    again = swarmdp.policies.load_controller(policy.export(tmp_path / "c.json", system=vicsek))
    before, after = (
        swarmdp.rollout(vicsek, controller, steps=5, seed=1) for controller in (policy, again)
    )
    np.testing.assert_array_equal(after["heading"], before["heading"])


def test_csv_has_a_row_for_each_class(tmp_path: Path) -> None:
    features = Product(angle=Angles(4), light=Bins([0.0, 0.5, 2.0], units="lx"), near=Levels(3))
    policy = swarmdp.Policy(np.arange(24) % 5, interface_of(system_of(features)))
    with open(policy.export(tmp_path / "controller.csv"), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == [
        "class",
        "angle lower edge [rad]",
        "angle centre [rad]",
        "angle upper edge [rad]",
        "light lower edge [lx]",
        "light centre [lx]",
        "light upper edge [lx]",
        "near",
        "action index",
        "action [rad]",
    ]
    assert len(rows) == 24
    names = ("angle centre [rad]", "light centre [lx]", "near")
    centres = np.array([[float(row[name]) for name in names] for row in rows])
    acted = policy.act(system_of(features), centres[None], np.zeros(1, np.int64))[0]
    np.testing.assert_array_equal([float(row["action [rad]"]) for row in rows], acted)
    np.testing.assert_array_equal([int(row["action index"]) for row in rows], policy.table[0])
    last = rows[-1]
    assert (last["light lower edge [lx]"], last["light upper edge [lx]"]) == ("0.5", "2.0")
    assert float(last["angle upper edge [rad]"]) == pytest.approx(0.75 * math.pi)


def test_csv_of_other_policies(tmp_path: Path) -> None:
    soft = swarmdp.policies.SoftPolicy([[0.25, 0.75], [1.0, 0.0]])
    path = soft.export(tmp_path / "soft.csv", system=system_of(Levels(2), [False, True]))
    assert path.read_text(encoding="utf-8") == (
        "class,observation,action index,action [rad],probability of 0 [rad],"
        "probability of 1 [rad]\n"
        "0,0,1,1,0.25,0.75\n"
        "1,1,0,0,1.0,0.0\n"
    )
    smooth = swarmdp.policies.InterpolatedPolicy([0.5, -0.25])
    path = smooth.export(tmp_path / "smooth.csv", system=system_of(Levels(2)))
    assert (
        path.read_text(encoding="utf-8") == "class,observation,action [rad]\n0,0,0.5\n1,1,-0.25\n"
    )


def test_flips_are_zero_and_one_in_c(tmp_path: Path) -> None:
    ising = swarmdp.Ising()
    policy = swarmdp.Policy((np.arange(25) > 12).astype(int))
    header = policy.export(tmp_path / "controller.h", system=ising)
    chosen = actions(header, np.arange(25.0)[:, None])
    np.testing.assert_array_equal(
        chosen, policy.act(ising, np.arange(25)[None], np.zeros(1, int))[0]
    )
    assert "local_energy" in header.read_text(encoding="utf-8")


def test_many_actions_and_classes(tmp_path: Path) -> None:
    system = system_of(Levels(70_000), np.arange(70_000.0))
    for count in (256, 257, 65_536, 65_537):
        policy = swarmdp.Policy(np.arange(70_000) % count)
        header = policy.export(tmp_path / f"controller{count}.h", system=system)
        chosen = actions(header, np.arange(70_000.0)[:, None])
        np.testing.assert_array_equal(chosen, np.arange(70_000) % count)


def test_a_fit_exports_without_being_told_the_system(tmp_path: Path) -> None:
    vicsek = swarmdp.Vicsek(n_agents=30)
    demo = swarmdp.rollout(vicsek, vicsek.expert, steps=50, seed=1)
    learner = swarmdp.learning.HeterogeneousLearning(steps=5, swarms=1)
    result = swarmdp.fit(vicsek, demo, seed=4, iterations=1, learner=learner, judge=False)
    result.save(tmp_path)
    table = result.policy.to_arrays()["table"]
    for policy in (result.policy, swarmdp.load(tmp_path).policy):
        assert isinstance(policy, Exportable)
        again = swarmdp.policies.load_controller(policy.export(tmp_path / "c.json"))
        np.testing.assert_array_equal(again.to_arrays()["table"], table)


def linear_policy() -> LinearPolicy:
    harmonics = Harmonics(
        np.ones((1, 1), bool), np.ones((1, 2, 1), np.int64), np.zeros((1, 1)), np.ones((1, 1))
    )
    axes = (Axis("angle", units="rad", periodic=True),)
    basis = swarmdp.features.Basis(lambda o: o, ("x",), axes)
    interface = Interface("Seen", basis, TURNS, "rad", 2)
    return LinearPolicy(harmonics, np.zeros((1, 5, 4)), np.zeros((1, 4, 4)), interface)


def test_a_linear_policy_is_told_in_a_few_lines() -> None:
    assert repr(linear_policy()) == (
        "LinearPolicy for Seen: 1 replica(s), 4 smooth features, 5 actions\n"
        "  sees   angle / degrees\n"
        "  does   one of 5 actions, -28.6479 to 28.6479 degrees"
    )
    assert "smooth features" in linear_policy()._repr_html_()


def test_what_cannot_be_exported(tmp_path: Path) -> None:
    file, system = tmp_path / "c.json", system_of(Levels(2))
    policy = swarmdp.Policy([0, 1])
    file.write_text("kept", encoding="utf-8")
    basis: Any = swarmdp.features.Basis(lambda o: o, ("x",))
    for message, work in {
        "give its system": lambda: policy.export(file),
        "must end in .json, .csv, .h, got": lambda: policy.export("c.txt", system=system),
        "replica must be an integer from 0 to 0, got 1": lambda: policy.export(
            file, system=system, replica=1
        ),
        "table has 2 observations, but Seen has 3": lambda: policy.export(
            file, system=system_of(Levels(3))
        ),
        "has table for 2 classes of observations, but Seen has 3": lambda: swarmdp.Policy(
            [0, 1], interface_of(system_of(Levels(3)))
        ).export(file),
        "action indices from 0 to 4, got 0 to 5": lambda: swarmdp.Policy(
            [0, 5], interface_of(system)
        ).export(file),
        "probabilities of 2 actions, but Seen has 5": lambda: swarmdp.policies.SoftPolicy(
            [[0.5, 0.5]] * 2, interface_of(system)
        ).export(file),
        "actions must be finite numbers": lambda: policy.export(
            file, system=system_of(Levels(2), ["left", "right"])
        ),
        "swarmdp.irl.clone": lambda: swarmdp.policies.FunctionPolicy(np.sign).export(file),
        "clone that on classes": lambda: linear_policy().export(file),
        "one of its `policies`": lambda: swarmdp.policies.MixedPolicy([policy], [1.0]).export(file),
        "Product of them, got Basis": lambda: swarmdp.Policy(
            [0, 1], Interface("Seen", basis, TURNS)
        ).export(file),
    }.items():
        with pytest.raises(InvalidInput, match=message):
            work()
    assert file.read_text(encoding="utf-8") == "kept"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Expecting value"),
        ("[]", "not a controller"),
        ('{"kind": "swarmdp controller", "schema": 99}', "in schema 99.*export it again"),
        ('{"kind": "swarmdp controller", "schema": 1}', "observation"),
    ],
)
def test_other_files_are_no_controllers(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "controller.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError, match=f"cannot read .*controller.json: .*{message}"):
        swarmdp.policies.load_controller(path)


def test_damaged_controllers_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="cannot read .*there is no such file"):
        swarmdp.policies.load_controller(tmp_path / "none.json")
    path = swarmdp.policies.SoftPolicy([[0.5, 0.5]]).export(
        tmp_path / "c.json", system=system_of(Levels(1), [0, 1])
    )
    changed = path.read_text(encoding="utf-8").replace("0.5, 0.5", "0.5, 0.6")
    path.write_text(changed)
    with pytest.raises(FileError, match="cannot read .*not what its entry 'sha256' says"):
        swarmdp.policies.load_controller(path)
    path.write_text(without_digest(changed))
    with pytest.raises(FileError, match="cannot read .*sum to 1"):
        swarmdp.policies.load_controller(path)


def without_digest(text: str) -> str:
    plain = json.loads(text)
    del plain["sha256"]
    return json.dumps(plain)


def test_a_controller_without_a_digest_is_read_with_a_warning(tmp_path: Path) -> None:
    path = swarmdp.policies.SoftPolicy([[0.5, 0.5]]).export(
        tmp_path / "c.json", system=system_of(Levels(1), [0, 1])
    )
    swarmdp.policies.load_controller(path)
    path.write_text(without_digest(path.read_text(encoding="utf-8")))
    with pytest.warns(swarmdp.errors.SwarmdpWarning, match=r"c\.json carries no digest"):
        swarmdp.policies.load_controller(path)


def test_a_null_action_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = swarmdp.policies.SoftPolicy([[0.5, 0.5]]).export(
        tmp_path / "c.json", system=system_of(Levels(1), [0, 1])
    )
    plain = json.loads(without_digest(path.read_text(encoding="utf-8")))
    plain["action"]["null"] = 7
    path.write_text(json.dumps(plain))
    with pytest.raises(FileError, match="does nothing must be from 0 to 1, got 7"):
        swarmdp.policies.load_controller(path)


def test_a_table_with_more_actions_than_there_are_is_refused(tmp_path: Path) -> None:
    path = swarmdp.Policy([0, 1]).export(tmp_path / "c.json", system=system_of(Levels(2), [0, 1]))
    text = without_digest(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(json.loads(text) | {"table": [0, 10**6]}))
    with pytest.raises(FileError, match="2 observations and needs 1000001 actions, but .* 2 and 2"):
        swarmdp.policies.load_controller(path)


def test_a_controller_of_deeply_nested_json_is_refused(tmp_path: Path) -> None:
    for text in ("[" * 100_000, '{"kind": ' + "[" * 60 + "]" * 60 + "}"):
        (tmp_path / "c.json").write_text(text)
        with pytest.raises(FileError, match="nested more than 50 deep"):
            swarmdp.policies.load_controller(tmp_path / "c.json")


def test_angles_to_interpolate_must_be_finite() -> None:
    with pytest.raises(InvalidInput, match="finite angles"):
        Angles(4).between(np.array([math.nan]))


def test_the_example_in_c_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs/robots.md").read_text(encoding="utf-8")
    (code,) = [block.split("```")[0] for block in page.split("```c\n")[1:]]
    vicsek = swarmdp.Vicsek()
    table = np.full(36, 12)
    table[18] = 6
    swarmdp.Policy(table).export(tmp_path / "controller.h", system=vicsek)
    (tmp_path / "main.c").write_text(code, encoding="utf-8")
    build(str(tmp_path / "main.c"), "-o", str(tmp_path / "main"), "-lm")
    done = subprocess.run(
        [tmp_path / "main"], input="0 3.1 nan", capture_output=True, text=True, check=True
    )
    turns = ["turn by 0 rad", f"turn by {vicsek.actions[12]:g} rad", "turn by 0 rad"]
    assert done.stdout.splitlines() == turns
