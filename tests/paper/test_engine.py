"""The engine: units that depend on nothing else, a store that loses nothing, resuming."""

import concurrent.futures
import dataclasses
import json
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

from swarmdp.paper import engine
from swarmdp.paper.plan import Plan, blocks, make_plan
from swarmdp.paper.store import Store, open_store, unit_image
from swarmdp.paper.tasks import FIGURE_TASKS, Unit, compute, tasks_of, units_of
from swarmdp.support import files
from swarmdp.support.errors import FileError, InvalidInput, SwarmdpWarning

PLAN = make_plan("smoke", seed=3)
X = Unit("x", 0)


def contents(folder: Path) -> dict[str, bytes]:
    """All finished units of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted((folder / "units").rglob("*.nc"))
    }


def begin(folder: Path, plan: Plan = PLAN) -> None:
    """Start in a folder and stop at once."""
    with Store(folder, plan).locked():
        pass


def test_blocks_cover_all_numbers_once() -> None:
    assert [list(block) for block in blocks(7, 3)] == [[0, 1, 2], [3, 4, 5], [6]]
    assert [list(block) for block in blocks(2, 5)] == [[0, 1]]


def test_every_figure_has_units_and_every_task_a_figure() -> None:
    used = {unit.task for figure in FIGURE_TASKS for unit in units_of(PLAN, figure)}
    assert used == set(tasks_of(PLAN))


def test_paper_scale_has_the_numbers_of_the_paper() -> None:
    plan = make_plan("paper")
    assert (plan.expert_runs, plan.experiments, plan.runs_each) == (10_000, 100, 100)
    assert plan.uncertainty_runs == 10_000
    assert plan.radii == (0.125, 0.05)
    assert plan.vicsek.n_agents == 200
    assert plan.ising.shape == (100, 100)
    assert plan.ising.periodic  # each agent has 24 neighbours
    assert plan.learning_iterations is None


@pytest.mark.parametrize("task", list(tasks_of(PLAN)))
def test_a_unit_depends_on_nothing_but_plan_and_number(task: str) -> None:
    unit = Unit(task, tasks_of(PLAN)[task].count - 1)
    once, again = compute(PLAN, unit), compute(PLAN, unit, threads=2)
    assert set(once) == set(again)
    for name, array in once.items():
        np.testing.assert_array_equal(array, again[name])


@pytest.mark.parametrize(("which", "mirrored"), [("paper", False), ("default", True)])
def test_only_the_default_learner_counts_experience_also_mirrored(
    which: str, mirrored: bool
) -> None:
    table = compute(PLAN, Unit(f"vicsek-swarm-{which}", 0))["table"]
    last = len(PLAN.vicsek.actions) - 1
    classes = PLAN.vicsek.features.index(-np.asarray(PLAN.vicsek.features.axes[0].values))
    assert np.array_equal(table[:, classes], last - table) == mirrored


def test_units_of_a_task_differ() -> None:
    first, second = (compute(PLAN, Unit("vicsek-random", index)) for index in (0, 1))
    assert not np.array_equal(first["mean"], second["mean"])


def test_runs_do_not_depend_on_the_block_that_they_are_in() -> None:
    whole = dataclasses.replace(PLAN, runs_block=PLAN.expert_runs)
    halves = dataclasses.replace(PLAN, runs_block=PLAN.expert_runs // 2)
    together = compute(whole, Unit("vicsek-expert", 0))["measure"]
    apart = [compute(halves, Unit("vicsek-expert", index))["measure"] for index in (0, 1)]
    np.testing.assert_array_equal(together, np.concatenate(apart))


def test_the_same_demonstrations_teach_all_learners() -> None:
    paper, default = (
        compute(PLAN, Unit(f"ising-swarm-{which}", 0))["visited"] for which in ("paper", "default")
    )
    np.testing.assert_array_equal(paper, default)


def test_a_store_gives_back_what_was_written(tmp_path: Path) -> None:
    store, unit = Store(tmp_path, PLAN), Unit("ising-expert", 2)
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.array([True, False])}
    assert unit not in store
    store.write(unit, unit_image(PLAN, unit, arrays), 1.5)
    assert unit in store
    for name, array in store.read(unit).items():
        np.testing.assert_array_equal(array, arrays[name])
    assert store.seconds() == {"ising-expert": 1.5}
    with xarray.open_dataset(store.path(unit), engine="h5netcdf") as opened:  # an open format
        np.testing.assert_array_equal(opened["a"].values, arrays["a"])
        assert opened.attrs["task"] == "ising-expert"


def test_unit_files_are_the_same_bytes_for_the_same_arrays(tmp_path: Path) -> None:
    images = []
    for folder in ("a", "b"):
        store = Store(tmp_path / folder, PLAN)
        store.write(X, unit_image(PLAN, X, {"a": np.arange(5)}), 0.1)
        images.append(store.path(X).read_bytes())
        if folder == "a":
            time.sleep(1.1)  # a time stamp would differ
    assert images[0] == images[1]


def test_other_settings_in_the_same_folder_are_refused_by_name(tmp_path: Path) -> None:
    begin(tmp_path)
    begin(tmp_path)
    other = dataclasses.replace(PLAN, seed=4, runs_each=5)
    with pytest.raises(InvalidInput, match="runs_each is 4 there and 5 here; seed is 3 there"):
        begin(tmp_path, other)


def test_results_of_another_version_are_refused(tmp_path: Path) -> None:
    begin(tmp_path)
    there = json.loads((tmp_path / "plan.json").read_text())
    older = {**there, "version": "0.0.1"}
    (tmp_path / "plan.json").write_text(json.dumps(older))
    with pytest.raises(FileError, match="its content is not what its entry 'sha256' says"):
        begin(tmp_path)
    (tmp_path / "plan.json").write_text(json.dumps({**older, "sha256": files.digest_of(older)}))
    with pytest.raises(InvalidInput, match="version is '0.0.1' there"):
        begin(tmp_path)
    del there["sha256"]
    (tmp_path / "plan.json").write_text(json.dumps(there))
    with pytest.warns(SwarmdpWarning, match="carries no digest"):
        begin(tmp_path)


@pytest.mark.parametrize("text", ["[]", "null", "3", "[" * 100_000, '{"seed": null}', "{}", "\x00"])
@pytest.mark.filterwarnings("ignore:.*no digest:swarmdp.support.errors.SwarmdpWarning")
def test_other_plans_are_refused_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(FileError, match="cannot read .*plan.json"):
        open_store(tmp_path)


def test_a_seed_of_another_kind_in_a_plan_is_refused(tmp_path: Path) -> None:
    begin(tmp_path)
    plain = json.loads((tmp_path / "plan.json").read_text()) | {"seed": None}
    plain["sha256"] = files.digest_of(plain)
    (tmp_path / "plan.json").write_text(json.dumps(plain))
    with pytest.raises(FileError, match=r"plan\.json: seed must be an integer, got None"):
        open_store(tmp_path)
    with pytest.raises(InvalidInput, match="seed is None there"):
        begin(tmp_path)


def test_a_damaged_plan_or_unit_is_named(tmp_path: Path) -> None:
    store = Store(tmp_path, PLAN)
    store.write(X, unit_image(PLAN, X, {"a": np.arange(5)}), 0.1)
    store.path(X).write_bytes(b"half a file")
    with pytest.raises(FileError, match="remove the file and start again"):
        store.read(X)
    (tmp_path / "plan.json").write_text("{")
    with pytest.raises(FileError, match="plan.json"):
        begin(tmp_path)


def test_unexpected_lines_among_the_times_do_not_count(tmp_path: Path) -> None:
    store = Store(tmp_path, PLAN)
    store.write(X, unit_image(PLAN, X, {"a": np.arange(5)}), 2.0)
    odd = ["[]", "3", "null", '"text"', '{"task": 1, "seconds": 2}', '{"task": "x"}', "[" * 9999]
    odd += [
        '{"task": "x", "seconds": "2"}',
        '{"task": "x", "seconds": NaN}',
        '{"task": [], "s": 1}',
    ]
    with open(tmp_path / "timing.jsonl", "a") as timing:
        timing.write("\n".join(odd))
    assert store.seconds() == {"x": 2.0}
    (tmp_path / "timing.jsonl").write_bytes(b"\xff\xfe")
    assert store.seconds() == {}


def test_a_unit_of_another_plan_is_named(tmp_path: Path) -> None:
    """Units that somebody copied from another folder look as the right ones do."""
    begin(tmp_path)
    other = dataclasses.replace(PLAN, seed=4)
    store = Store(tmp_path, PLAN)
    store.write(X, unit_image(other, X, {"a": np.arange(5)}), 0.1)
    with pytest.raises(FileError, match=r"it is not of this reproduction.*remove the file"):
        store.read(X)
    store.write(X, unit_image(PLAN, dataclasses.replace(X, index=X.index + 1), {}), 0.1)
    with pytest.raises(FileError, match="it is not of this reproduction"):
        store.read(X)


def test_of_two_starts_at_once_with_different_settings_one_wins(tmp_path: Path) -> None:
    """Both begin at the same moment: the folder then belongs to one plan, with its units alone."""
    plans = [dataclasses.replace(PLAN, seed=seed) for seed in (3, 4)]
    for attempt in range(20):
        folder, together = tmp_path / str(attempt), threading.Barrier(2)

        def work(plan: Plan, folder: Path = folder, at: threading.Barrier = together) -> str:
            at.wait()
            try:
                with Store(folder, plan).locked():
                    image = unit_image(plan, X, {"seed": np.array(plan.seed)})
                    Store(folder, plan).write(X, image, 0.1)
                    return "won"
            except InvalidInput as error:
                return str(error)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            said = list(pool.map(work, plans))
        winner = json.loads((folder / "plan.json").read_text())["seed"]
        assert Store(folder, dataclasses.replace(PLAN, seed=winner)).read(X)["seed"] == winner
        assert [text == "won" for text in said] == [plan.seed == winner for plan in plans]
        assert any("another run is at work" in text or "other settings" in text for text in said)


def test_two_processes_with_different_seeds_at_once(tmp_path: Path) -> None:
    starts = [
        subprocess.Popen(
            [*command(tmp_path), "--only", "snapshots", "--seed", seed], stderr=subprocess.PIPE
        )
        for seed in ("1", "2")
    ]
    said = [process.communicate()[1].decode() for process in starts]
    codes = [process.returncode for process in starts]
    assert sorted(codes) == [0, 2]
    winner = json.loads((tmp_path / "plan.json").read_text())["seed"]
    assert codes[winner - 1] == 0
    loser = said[2 - winner].strip().splitlines()
    assert len(loser) == 1
    assert "another run is at work" in loser[0] or "other settings" in loser[0]
    assert json.loads((tmp_path / "summary.json").read_text())["plan"]["seed"] == winner


def test_timing_survives_a_line_that_was_cut_off(tmp_path: Path) -> None:
    store = Store(tmp_path, PLAN)
    store.write(X, unit_image(PLAN, X, {"a": np.arange(5)}), 2.0)
    with open(tmp_path / "timing.jsonl", "a") as timing:
        timing.write('{"task": "x", "ind')
    assert store.seconds() == {"x": 2.0}


def test_a_second_start_in_the_same_folder_is_kept_out(tmp_path: Path) -> None:
    with (
        Store(tmp_path, PLAN).locked(),
        pytest.raises(InvalidInput, match="another run is at work"),
    ):
        engine.reproduce(PLAN, tmp_path, figures=["snapshots"])


def test_unknown_figures_and_scales_are_refused() -> None:
    with pytest.raises(InvalidInput, match="there is no 'entropy'"):
        engine.check_figures(["entropy"])
    assert engine.check_figures(["energy", "snapshots"]) == ["snapshots", "energy"]
    with pytest.raises(InvalidInput, match="smoke, quick, paper"):
        make_plan("huge")
    with pytest.raises(InvalidInput, match="runs_each must be an integer of at least 1"):
        dataclasses.replace(PLAN, runs_each=0)


def test_finished_units_are_not_repeated_and_progress_adds_up(tmp_path: Path) -> None:
    seen: list[engine.Progress] = []
    engine.reproduce(PLAN, tmp_path, figures=["snapshots"], progress=seen.append)
    assert [(p.done, p.total) for p in seen] == [(1, 2), (2, 2)]
    assert seen[-1].figures == {"snapshots": (2, 2)}
    assert seen[-1].seconds_left == 0
    asked: list[Unit] = []

    def executor(plan: Plan, units: Sequence[Unit]) -> Iterator[engine.Done]:
        asked.extend(units)
        yield from engine.in_threads(1)(plan, units)

    engine.reproduce(PLAN, tmp_path, figures=["snapshots"], executor=executor)
    assert asked == []


def test_a_failing_unit_loses_nothing(tmp_path: Path) -> None:
    def executor(plan: Plan, units: Sequence[Unit]) -> Iterator[engine.Done]:
        yield engine.compute_unit(plan, units[0])
        raise RuntimeError("the second unit fails")

    with pytest.raises(RuntimeError, match="second unit"):
        engine.reproduce(PLAN, tmp_path, figures=["snapshots"], executor=executor)
    assert len(contents(tmp_path)) == 1


PROGRAM = "import sys; from swarmdp.cli import main; main(sys.argv[1:])"
# Sends itself a signal at the given call on a file of its folder.
STOPPED = """
import os, sys
folder, left = sys.argv[-1], {moment}

def count(event, arguments):
    global left
    if event in ("open", "os.rename", "os.remove", "os.mkdir") and folder in str(arguments[0]):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), {signal:d})

sys.addaudithook(count)
"""


def command(folder: Path, *more: str, program: str = PROGRAM) -> list[str]:
    arguments = ["reproduce", "--scale", "smoke", "--only", "energy", "ising-reward", *more]
    return [sys.executable, "-c", program, *arguments, "-o", str(folder)]


def test_killed_at_any_moment_it_goes_on_to_the_same_bits(tmp_path: Path) -> None:
    # The moments are counted in calls on files, six or seven to a unit, so that they fall between
    # any two of them and mean the same on every machine: 12 of the 16 units at most.
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run(command(whole), check=True, capture_output=True)
    moments, finished = random.Random(5), dict[Path, int]()
    for _ in range(2):
        program = STOPPED.format(moment=moments.randint(16, 32), signal=signal.SIGKILL)
        process = subprocess.run(
            command(killed, "--threads", "1", program=program + PROGRAM), capture_output=True
        )
        assert process.returncode == -signal.SIGKILL
        for path, written in finished.items():
            assert path.stat().st_mtime_ns == written, f"{path} was computed again"
        before = len(finished)
        finished = {p: p.stat().st_mtime_ns for p in killed.glob("units/*/*.nc")}
        assert len(finished) > before
    assert len(finished) < len(contents(whole))
    subprocess.run(command(killed), check=True, capture_output=True)
    for path, written in finished.items():
        assert path.stat().st_mtime_ns == written, f"{path} was computed again"
    assert contents(killed) == contents(whole)
    assert (killed / "summary.json").read_bytes() == (whole / "summary.json").read_bytes()
    assert not list(killed.rglob("*.nc.*"))


def test_an_interrupt_keeps_what_is_done(tmp_path: Path) -> None:
    program = STOPPED.format(moment=25, signal=signal.SIGINT)
    process = subprocess.run(
        command(tmp_path, "--threads", "1", program=program + PROGRAM), capture_output=True
    )
    assert process.returncode == 130
    assert b"units are kept in" in process.stderr
    assert 0 < len(contents(tmp_path)) < 16
    assert "stopped" in (tmp_path / "log.txt").read_text()


def test_units_under_way_are_finished_when_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    under_way, interrupted, began = threading.Event(), threading.Event(), list[Unit]()

    def first_wait(*arguments: Any, **options: Any) -> Any:
        under_way.wait()
        monkeypatch.setattr(engine, "wait", second_wait)
        raise KeyboardInterrupt  # as if it came while waiting

    def second_wait(*arguments: Any, **options: Any) -> Any:
        interrupted.set()
        return concurrent.futures.wait(*arguments, **options)

    def compute_unit(plan: Plan, unit: Unit) -> engine.Done:
        began.append(unit)
        under_way.set()
        interrupted.wait()
        return unit, unit_image(PLAN, unit, {"a": np.arange(3)}), 0.1

    monkeypatch.setattr(engine, "wait", first_wait)
    monkeypatch.setattr(engine, "compute_unit", compute_unit)
    with pytest.raises(KeyboardInterrupt):
        engine.reproduce(PLAN, tmp_path, figures=["order"], executor=engine.in_threads(1))
    assert len(began) == 1
    assert len(contents(tmp_path)) == 1


def test_what_is_finished_beside_a_failing_unit_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = threading.Barrier(2)

    def compute_unit(plan: Plan, unit: Unit) -> engine.Done:
        together.wait()
        if unit.index == 0:
            raise RuntimeError("the first unit fails")
        return unit, unit_image(PLAN, unit, {"a": np.arange(3)}), 0.1

    monkeypatch.setattr(engine, "compute_unit", compute_unit)
    units = [Unit("vicsek-expert", index) for index in range(2)]
    done = engine.in_threads(2)(PLAN, units)
    assert next(done)[0] == units[1]
    with pytest.raises(RuntimeError, match="first unit"):
        next(done)
