"""Rows are measured once, and recognised by all that decides their numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swarmdp
from studies import learners, transfer, updates
from studies.rows import Job, Row, as_json, collect, conditions, read, select
from swarmdp.support.errors import FileError, InvalidInput
from tests.examples import ROOT

FULL = conditions(quick=False, experiments=30, steps=50, seeds=[1, 2])


class Measured:
    """Jobs that count how often they are done."""

    def __init__(self) -> None:
        self.done: list[str] = []

    def job(self, name: str) -> Job:
        def measure() -> Row:
            self.done.append(name)
            return {"value": len(self.done)}

        return Job({"name": name, "size": (3, 4)}, measure)


def test_rows_are_measured_once(tmp_path: Path) -> None:
    file, measured = tmp_path / "rows.json", Measured()
    first, second, third = (measured.job(name) for name in ("first", "second", "third"))
    rows = collect(file, [second, third], FULL, str)
    assert [row["value"] for row in rows] == [1, 2]
    both = collect(file, [first, second, third], FULL, str)
    assert measured.done == ["second", "third", "first"]
    assert [row["value"] for row in both] == [3, 1, 2]  # in the order of the jobs
    assert both == read(file)


def test_rows_of_other_jobs_are_kept(tmp_path: Path) -> None:
    file, measured = tmp_path / "rows.json", Measured()
    collect(file, [measured.job("first")], FULL, str)
    both = collect(file, [measured.job("second")], FULL, str)
    assert [row["name"] for row in both] == ["second", "first"]


@pytest.mark.parametrize(
    "changed",
    [{"quick": True}, {"experiments": 2}, {"seeds": [1, 3]}, {"version": "0.0.1"}, {"steps": 100}],
)
def test_rows_of_other_conditions_are_no_answer(
    changed: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, measured = tmp_path / "rows.json", Measured()
    (other,) = collect(file, [measured.job("only")], {**FULL, **changed}, str)
    (measured_row,) = collect(file, [measured.job("only")], FULL, str)
    assert measured.done == ["only", "only"]
    assert (other["value"], measured_row["value"]) == (1, 2)
    assert [row["value"] for row in read(file)] == [2, 1]
    assert "rows of other conditions, which are left out here: 1" in capsys.readouterr().out


def test_a_row_without_a_condition_is_no_answer(tmp_path: Path) -> None:
    """Rows of before a condition was written down are not known to meet it, not even as None."""
    file, measured = tmp_path / "rows.json", Measured()
    file.write_text(as_json([{"name": "only", "size": [3, 4], "value": 7}]))
    (row,) = collect(file, [measured.job("only")], {"limit": None}, str)
    assert row["value"] == 1


def test_the_version_is_a_condition() -> None:
    assert conditions(quick=True)["version"] == swarmdp.__version__


def test_what_is_no_number_in_json_is_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        collect(tmp_path / "rows.json", [Job({}, lambda: {"value": np.nan})], FULL, str)
    assert not (tmp_path / "rows.json").exists()


@pytest.mark.parametrize("text", ["[{", '{"value": 1}', "[1, 2]"])
def test_a_file_that_holds_no_rows_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "rows.json"
    file.write_text(text)
    with pytest.raises(FileError, match=r"rows.json .* move it away to start again"):
        collect(file, [], FULL, str)
    assert file.read_text() == text


def test_only_what_is_there_can_be_chosen() -> None:
    rows = updates.settings()
    assert select(rows, "system", []) == rows
    assert {row.system for row in select(rows, "system", ["ising"])} == {"ising"}
    with pytest.raises(InvalidInput, match=r"no system 'fish' .* \['vicsek', 'ising'\]"):
        select(rows, "system", ["vicsek", "fish"])


@pytest.mark.parametrize("study", [learners, updates])
def test_quick_rows_do_not_count_for_the_full_study(
    study: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor do rows of fewer experiments; and none of them enters the tables of the other."""
    setting = next(s for s in study.settings() if getattr(s, "iterations", 50) == 50)
    done: list[tuple[bool, int]] = []
    monkeypatch.setattr(study, "settings", lambda: [setting])
    monkeypatch.setattr(study, "case_of", lambda name, quick: quick)
    monkeypatch.setattr(study, "table", lambda rows: f"{len(rows)} rows")
    monkeypatch.setattr(study, "_line", str)

    def measure(setting: Any, quick: bool, experiments: int, *_: Any) -> Row:
        done.append((quick, experiments))
        return {}

    name = "measure_learner" if study is learners else "measure_update"
    monkeypatch.setattr(study, name, measure)
    if study is updates:
        for figure in ("distances_figure", "measures_figure", "rewards_figure"):
            monkeypatch.setattr(f"studies.figures.{figure}", lambda rows: None)
        monkeypatch.setattr("swarmdp.report.style.save", lambda figure, path: None)
    starts = [(True, 2), (False, 2), (False, 3), (True, 2), (False, 3)]
    for quick, experiments in starts:
        (row,) = study.study(tmp_path, experiments=experiments, quick=quick)
        assert (row["quick"], row["experiments"]) == (quick, experiments)
        (table,) = tmp_path.glob("*.md")
        assert table.read_text() == "1 rows"
    assert done == starts[:3]


def test_the_rows_in_the_documentation_can_be_tabulated() -> None:
    """They were written before all conditions were."""
    for study, words in (
        (learners, ["## Vicsek", "## Ising", "| default | 300 | expert |"]),
        (updates, ["## Vicsek", "| max_margin, single agent |"]),
        (transfer, ["## Order parameter", "| turns up to 20° |"]),
    ):
        rows = read(ROOT / "docs" / study.ROWS)
        table = study.table(rows)
        for word in words:
            assert word in table
