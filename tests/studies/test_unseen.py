"""The study of unseen swarms, on few cases and methods."""

import json
from pathlib import Path

import numpy as np
import pytest

from studies import unseen
from studies.battery import development
from studies.rows import Row
from studies.unseen import Setting

CASES = {case.name: case for case in development.cases()}
FEW = {unseen.DEFAULT: unseen.fitted(iterations=1), "random table": unseen.drawn}


def test_every_method_meets_every_case() -> None:
    rows = unseen.settings()
    assert len(set(rows)) == len(rows)
    cases = unseen.cases()
    assert len(rows) == len(unseen.METHODS) * sum(map(len, cases.values()))
    assert sum(map(len, cases.values())) >= 24
    for some in cases.values():
        assert len({case.name for case in some}) == len(some)
    assert sum(not case.learnable for some in cases.values() for case in some) >= 4


def test_the_study_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unseen, "METHODS", FEW)
    few = {unseen.DEVELOPMENT: [CASES["fireflies"]], unseen.FINAL: [CASES["tide"]]}
    monkeypatch.setattr(unseen, "cases", lambda: few)
    rows = unseen.study(tmp_path, only=[unseen.DEVELOPMENT], quick=True)
    assert [row["method"] for row in rows] == list(FEW)
    kept = json.loads((tmp_path / unseen.ROWS).read_text())
    assert [row["case"] for row in kept] == ["fireflies"] * 2
    fitted, drawn = rows
    assert len(fitted["fits"]) == 1
    assert fitted["fits"][0]["right"]
    alarm = fitted["fits"][0]["alarm"]  # right policies raise one by chance, at times
    assert alarm in (True, False)
    learner = fitted["fits"][0]["learner"]
    assert learner != "Algorithm 2"
    assert set(fitted["fits"][0]["off"]) == set(CASES["fireflies"].scores)
    assert drawn["fits"][0]["alarm"] is None
    assert not drawn["fits"][0]["right"]
    text = (tmp_path / "unseen.md").read_text()
    assert "## Development" in text
    assert "## Run once" not in text
    cells = "0 of 1 | 1 of 1" if alarm else "1 of 1 | 0 of 1"
    assert f"| default | {cells} | 0 of 1 | 0 of 1 | 0 of 0 |" in text
    assert "| random table | 0 of 1 | - | - | 1 of 1 | - |" in text
    assert f"1 x {learner}" in text
    words = f"development, fireflies, default: 1 of 1 right, {int(alarm)} alarms"
    assert unseen.line(fitted).startswith(words)


def row(case: str, method: str, learnable: bool, fits: list[tuple[bool, bool | None]]) -> Row:
    return {
        "part": unseen.FINAL,
        "case": case,
        "method": method,
        "kind": "a kind",
        "learnable": learnable,
        "reason": "" if learnable else "needs memory",
        "fits": [
            {"right": right, "alarm": alarm, "learner": "Algorithm 2", "seconds": 2.0 + k}
            for k, (right, alarm) in enumerate(fits)
        ],
    }


def test_tables_count_what_is_right_and_what_is_alarmed() -> None:
    rows = [
        row("one", unseen.DEFAULT, True, [(True, False), (True, True), (False, True)]),
        row("two", unseen.DEFAULT, True, [(False, False), (True, False), (True, False)]),
        row("three", unseen.DEFAULT, False, [(False, True), (False, False), (False, True)]),
        row("one", "random table", True, [(False, None)]),
    ]
    text = unseen.tables(rows)
    assert text.startswith("## Run once\n")
    assert "| default | 3 of 6 | 1 of 6 | 1 of 6 | 1 of 6 | 2 of 3 | 3.0 / 4.0 |" in text
    assert "| random table | 0 of 1 | - | - | 1 of 1 | - | 2.0 / 2.0 |" in text
    assert "| one | a kind | 2 of 3 / 2 | 3 x Algorithm 2 |" in text
    assert "| three | a kind (cannot: needs memory) | 0 of 3 / 2 |" in text
    widths = {line.count("|") for line in text.splitlines() if line.startswith(("| case", "| one"))}
    assert len(widths) == 1


def test_methods_meet_the_same_demos() -> None:
    """The policy of a method is its own; the demo is that of the experiment."""
    case = CASES["tide"]
    setting = Setting(unseen.DEVELOPMENT, case.name, "random table")
    one, other = (unseen.measured(setting, case, 2) for _ in range(2))
    for name in ("right", "off", "alarm", "learner"):
        assert [fit[name] for fit in one["fits"]] == [fit[name] for fit in other["fits"]]
    assert one["fits"][0]["off"] != one["fits"][1]["off"]
    assert (one["learnable"], one["reason"]) == (False, case.reason)


@pytest.mark.parametrize("method", ["clone of explained actions alone", "policy search alone"])
def test_methods_that_do_not_judge_themselves(method: str) -> None:
    case = CASES["colours"]
    outcome = unseen.METHODS[method](case, case.demo(1), 2)
    assert outcome.alarm is None
    assert np.isnan(outcome.gain)
    assert case.is_right(outcome.policy, seed=3)
