"""Folders of results: one writer at a time, new files together or not at all."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from swarmdp.support import files, folders
from swarmdp.support.errors import FileError, InvalidInput, SwarmdpWarning


def write(folder: Path, name: str, **texts: str) -> None:
    """A run that writes some files and its summary."""
    with folders.writing(folder) as place:
        for stem, text in texts.items():
            (place / f"{stem}.txt").write_text(text)
        plain = {"name": name, folders.DIGESTS: folders.digests(place)}
        files.write_text(place / "summary.json", json.dumps(plain))


def stop(folder: Path, *names: str, **options: Any) -> list[str]:
    """A run that fails after it has written some files; what was there for it."""
    there: list[str] = []

    def work() -> None:
        with folders.writing(folder, **options) as place:
            there.extend(path.name for path in place.iterdir())
            for name in names:
                (place / name).write_text("new")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        work()
    return there


def content(folder: Path) -> dict[str, str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text() for path in paths}


def test_a_second_run_replaces_what_the_first_wrote_and_nothing_else(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "run"
    write(folder, "first", a="1", b="1", c="1")
    (folder / "mine.txt").write_text("keep")
    (folder / "c.txt").write_text("edited by hand")
    write(folder, "second", a="2")
    there = content(folder)
    assert json.loads(there.pop("summary.json"))["name"] == "second"
    assert there == {"a.txt": "2", "mine.txt": "keep", "c.txt": "edited by hand"}


def test_a_failing_run_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path, "first", a="1")
    before = content(tmp_path)
    stop(tmp_path, "a.txt")
    assert content(tmp_path) == before
    stop(tmp_path / "x" / "y", "a.txt")
    assert not (tmp_path / "x").exists()


def test_two_writers_do_not_meet(tmp_path: Path) -> None:
    with folders.writing(tmp_path):
        with pytest.raises(InvalidInput, match="another run is at work in .*choose another folder"):
            write(tmp_path, "second", a="2")
        with folders.locked(tmp_path, ".other-lock"):
            pass
    write(tmp_path, "third", a="3")
    assert content(tmp_path)["a.txt"] == "3"


def test_a_lock_that_was_just_removed_is_none(tmp_path: Path) -> None:
    """Of many that take turns, never two are inside."""
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(200):
            try:
                with folders.locked(tmp_path / "shared"):
                    inside.append(1)
                    most.append(len(inside))
                    inside.pop()
            except InvalidInput:
                pass

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most
    assert max(most) == 1


KILLED = """
import os, sys
from pathlib import Path
from swarmdp.support import folders
from tests.support.test_folders import write
point, count = sys.argv[2], int(sys.argv[3])
kind, name = {"replace": (Path, "replace"), "rename": (Path, "rename"), "unlink": (Path, "unlink"),
              "rmtree": (folders.shutil, "rmtree"), "write": (Path, "write_text")}[point]
usual = getattr(kind, name)
def counted(*args, **more):
    global count
    count -= 1
    if count < 0:
        os._exit(9)
    return usual(*args, **more)
setattr(kind, name, counted)
write(Path(sys.argv[1]), "second", a="2", b="2", d="2")
"""


@pytest.mark.parametrize(
    ("point", "count"),
    [("write", 0), ("write", 3), ("rename", 0), ("rmtree", 0)]
    + [("replace", count) for count in range(6)]
    + [("unlink", count) for count in range(8)],
)
def test_killed_at_any_point_it_is_the_first_or_the_second(
    tmp_path: Path, point: str, count: int
) -> None:
    write(tmp_path, "first", a="1", b="1", c="1")
    first = content(tmp_path)
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), point, str(count)], check=False)
    folders.settle(tmp_path)
    there = {name: text for name, text in content(tmp_path).items() if not name.startswith(".")}
    if there != first:
        assert json.loads(there.pop("summary.json"))["name"] == "second"
        assert there == {"a.txt": "2", "b.txt": "2", "d.txt": "2"}
    write(tmp_path, "third", a="3")
    assert sorted(content(tmp_path)) == ["a.txt", "summary.json"]


def test_what_can_be_continued_stays(tmp_path: Path) -> None:
    for resume, expected in ((False, []), (True, ["fit.nc"]), (False, [])):
        assert stop(tmp_path, "fit.nc", "a.png", kept="fit.nc", resume=resume) == expected
        left = [path.name for path in (tmp_path / folders.UNFINISHED).iterdir()]
        assert left == ["fit.nc"]
    with folders.writing(tmp_path):
        pass
    assert not list(tmp_path.iterdir())


def test_mixed_folders_are_named(tmp_path: Path) -> None:
    write(tmp_path, "first", a="1")
    assert not folders.mixed(tmp_path, "a.txt")
    (tmp_path / "a.txt").write_text("2")
    words = r"do not belong together: a.txt was written by another run than summary.json"
    with pytest.warns(SwarmdpWarning, match=words):
        folders.warn_if_mixed(tmp_path, "a.txt")
    (tmp_path / "summary.json").write_text("no JSON")
    assert not folders.mixed(tmp_path, "a.txt")


@pytest.mark.parametrize("name", ["../victim.txt", "{}/victim.txt", "link.txt"])
def test_nothing_outside_is_removed(tmp_path: Path, name: str) -> None:
    victim, folder = tmp_path / "victim.txt", tmp_path / "run"
    victim.write_text("mine")
    folder.mkdir()
    (folder / "link.txt").symlink_to(victim)
    listed = {name.format(tmp_path): folders.digest_of(victim), "a.txt": ""}
    (folder / "summary.json").write_text(json.dumps({folders.DIGESTS: listed}))
    write(folder, "second", a="2")
    (folder / folders.COMPLETE).mkdir()
    (folder / folders.COMPLETE / ".outdated.json").write_text(json.dumps([name.format(tmp_path)]))
    folders.settle(folder)
    assert victim.read_text() == "mine"


@pytest.mark.parametrize("name", [folders.LOCK, folders.UNFINISHED])
def test_links_that_somebody_planted_are_not_followed(tmp_path: Path, name: str) -> None:
    victim, folder = tmp_path / "victim", tmp_path / "run"
    victim.mkdir()
    folder.mkdir()
    (victim / "a.txt").write_text("mine")
    (folder / name).symlink_to(victim / "new" if name == folders.LOCK else victim)
    if name == folders.LOCK:
        with pytest.raises(InvalidInput, match="is a link, which is not followed"):
            write(folder, "first", a="1")
    else:
        write(folder, "first", a="1")
    assert content(victim) == {"a.txt": "mine"}


def test_a_folder_in_the_middle_of_a_change_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / folders.COMPLETE).mkdir()
    (tmp_path / folders.COMPLETE / "a.txt").write_text("1")
    pauses: list[float] = []
    monkeypatch.setattr("time.sleep", pauses.append)
    with (
        folders.locked(tmp_path),
        pytest.raises(FileError, match="another command is putting its files in place"),
    ):
        folders.settle(tmp_path)
    assert len(pauses) > 10
    folders.settle(tmp_path)
    assert content(tmp_path) == {"a.txt": "1"}


def test_leftovers_of_any_file_are_removed(tmp_path: Path) -> None:
    """Those of a name that is never written again remained."""
    (tmp_path / ".picture.gif.123-abcdef01.part").write_text("half")
    live: Any
    with files.replacing(tmp_path / "one.txt") as live:
        live.write_text("1")
        files.write_text(tmp_path / "two.txt", "2")
        assert live.exists()
    assert sorted(content(tmp_path)) == ["one.txt", "two.txt"]
