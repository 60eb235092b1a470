"""`swarmdp studio --export`: one file that shows rewards and their swarms to others."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

import swarmdp
from swarmdp.cli import main
from swarmdp.studio import export as exporting
from swarmdp.studio.catalogue import BUILT_IN, Entry
from swarmdp.studio.learning import identified_weights
from swarmdp.studio.presets import presets_of
from swarmdp.support.errors import InvalidInput

SMALL = "http://127.0.0.1:1/#system=Vicsek&seed=3&s.n_agents=40"
WEIGHTS = [round(place / 36, 3) for place in range(36)]
LINK = f"{SMALL}&weights={','.join(map(str, WEIGHTS))}"


def data_of(page: str, place: str) -> Any:
    """The data of a page: of the player, or of its rewards."""
    found = re.search(rf'<script type="application/json" {place}>(.*?)</script>', page, re.S)
    assert found is not None
    return json.loads(found[1])


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two iterations find the learned reward."""
    monkeypatch.setattr(exporting, "ITERATIONS", 2)


def write(path: Path, given: str | None, entries: dict[str, Entry] | None = None) -> str:
    entries = {**BUILT_IN} if entries is None else entries
    return exporting.export(path, entries, next(iter(entries)), given).read_text("utf-8")


@pytest.mark.usefixtures("quick")
def test_a_painted_reward_is_first(tmp_path: Path) -> None:
    page = write(tmp_path / "page.html", LINK)
    rewards = data_of(page, 'id="rewards"')["rewards"]
    names = [preset.name for preset in presets_of(swarmdp.Vicsek())]
    assert [one["name"] for one in rewards] == ["the painted one", "the learned one", *names]
    assert rewards[0]["weights"] == WEIGHTS
    assert rewards[0]["collected"].startswith("Each agent collects ")
    assert rewards[1]["collected"].startswith("The verdict: this swarm ")
    played = data_of(page, 'class="data"')
    assert [one["label"] for one in played["swarms"]] == [
        "expert",
        *(reward["name"] for reward in rewards),
    ]
    assert played["agents"] == 40
    starts = {one["positions"][:200] for one in played["swarms"]}
    assert len(starts) == 1  # all from the same start
    assert len({one["positions"] for one in played["swarms"]}) == len(played["swarms"])


@pytest.mark.usefixtures("quick")
def test_it_needs_nothing_else(tmp_path: Path) -> None:
    page = write(tmp_path / "page.html", LINK)
    assert len(page) < 1_000_000
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)
    assert not re.search(r"^\s*(import|export) ", page, re.M)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none'")
    assert "script-src 'sha256-" in policy[1]


def test_a_saved_fit_is_the_learned_one(tmp_path: Path) -> None:
    system = swarmdp.Ising(shape=(10, 10), reach=1)
    demo = swarmdp.rollout(system, system.expert, steps=60, runs=3, seed=1)
    result = swarmdp.fit(system, demo, seed=1, iterations=2)
    result.save(tmp_path / "fit")
    page = write(tmp_path / "page.html", str(tmp_path / "fit"))
    first = data_of(page, 'id="rewards"')["rewards"][0]
    assert first["name"] == "the learned one"
    assert first["weights"] == result.reward.weights[0].tolist()
    assert first["clear"] == identified_weights(result)
    played = data_of(page, 'class="data"')
    assert (played["kind"], played["rows"], played["steps"]) == ("grid", 10, 60)
    speeds = [int(text) for text in re.findall(r'<option value="(\d+)"', page)]
    assert max(speeds) == 5  # a grid that blinks flashes less than three times a second


@pytest.mark.usefixtures("quick")
def test_many_agents_get_fewer_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "_LARGEST_DATA", 60_000)
    page = write(tmp_path / "page.html", LINK)
    played = data_of(page, 'class="data"')
    assert played["steps"] == 60_000 // (7 * 5 * 40)
    sizes = [
        len(base64.b64decode(one[part]))
        for one in played["swarms"]
        for part in ("positions", "headings")
    ]
    assert sum(sizes) <= 1.05 * 60_000


@pytest.mark.usefixtures("quick")
def test_a_system_of_one_s_own(tmp_path: Path) -> None:
    entries = {"Robots": Entry("tests.examples:Robots")}
    page = write(tmp_path / "page.html", None, entries)
    assert [one["name"] for one in data_of(page, 'id="rewards"')["rewards"]] == ["the learned one"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (f"{SMALL}&weights=1,2,x", "not a number"),
        (f"{SMALL}&weights=1,2", "must have 36 weights, got 2"),
        (SMALL, "no reward"),
        (f"{LINK.replace('Vicsek', 'Bees')}", "no system 'Bees'"),
    ],
)
def test_a_wrong_link_is_explained(tmp_path: Path, given: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        write(tmp_path / "page.html", given)
    assert not (tmp_path / "page.html").exists()


@pytest.mark.usefixtures("quick")
def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "page.html"
    main(["studio", "--export", str(path), "--reward", LINK])
    assert f"{path}: 0." in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["studio", "--reward", LINK])
    assert "--reward is for --export" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["studio", "--export", str(tmp_path / "other.html"), "--reward", "nowhere"])
    assert "nowhere" in capsys.readouterr().err
