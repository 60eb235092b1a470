"""No name reaches a file outside of the studio's folder, and nothing is overwritten."""

import os
import threading
from pathlib import Path

import pytest

import swarmdp
from swarmdp.irl.result import Result
from swarmdp.model.trajectory import Trajectory
from swarmdp.studio.folder import Folder
from swarmdp.support.errors import FileError, InvalidInput, SwarmdpError
from tests.examples import Robots, result_of


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    inside = tmp_path / "inside"
    inside.mkdir()
    return Folder(inside)


def recording() -> Trajectory:
    system = swarmdp.Vicsek(n_agents=3)
    return swarmdp.rollout(system, system.expert, steps=2, seed=1)


def test_what_is_saved_is_listed_and_opened(folder: Folder) -> None:
    assert folder.entries() == []
    assert folder.save("one", recording()) == "one.nc"
    assert folder.save("fit-1", result_of(Robots().features)) == "fit-1"
    actual = {entry["name"]: entry["kind"] for entry in folder.entries()}
    assert actual == {"one.nc": "trajectory", "fit-1": "fit"}
    assert isinstance(folder.open("one.nc"), Trajectory)
    assert isinstance(folder.open("fit-1"), Result)
    assert folder.free_name("fit") == "fit-2"


def test_nothing_is_overwritten(folder: Folder) -> None:
    folder.save("one", recording())
    before = (folder.path / "one.nc").read_bytes()
    with pytest.raises(InvalidInput, match="choose a new name"):
        folder.save("one", recording())
    (folder.path / "link.nc").symlink_to(folder.path / "nowhere")
    with pytest.raises(InvalidInput):
        folder.save("link", recording())
    assert (folder.path / "one.nc").read_bytes() == before


@pytest.mark.parametrize("what", [recording(), result_of(Robots().features)], ids=["file", "fit"])
def test_of_two_who_save_at_once_one_is_told(
    folder: Folder, what: Trajectory | Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both look whether the name is free before one of them writes."""
    both = threading.Barrier(2)
    look = os.path.lexists

    def slow_look(path: Path) -> bool:
        there = look(path)
        both.wait(60)
        return there

    monkeypatch.setattr("swarmdp.studio.folder.os.path.lexists", slow_look)
    ends: list[str] = []

    def save() -> None:
        try:
            ends.append(folder.save("one", what))
        except InvalidInput as error:
            ends.append(str(error))

    threads = [threading.Thread(target=save) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    monkeypatch.undo()
    assert sum("choose a new name" in end for end in ends) == 1
    assert [path.name for path in folder.path.iterdir()] in (["one.nc"], ["one"])
    folder.open("one.nc" if isinstance(what, Trajectory) else "one")


def test_unsaved_fits_get_names_of_their_own(folder: Folder) -> None:
    result = result_of(Robots().features)
    assert folder.save_new("unsaved-fit", result) == "unsaved-fit-1"
    assert folder.save_new("unsaved-fit", result) == "unsaved-fit-2"


@pytest.mark.parametrize(
    "name", ["../outside", "/etc/x", "a/b", "..", ".hidden", "a\\b", "", "a" * 65]
)
def test_names_of_new_files_are_plain(folder: Folder, name: str) -> None:
    with pytest.raises(InvalidInput, match="a name must be"):
        folder.save(name, recording())


@pytest.mark.parametrize(
    "name",
    ["../outside.nc", "/etc/passwd", "sub/../../outside.nc", "way/outside.nc", "way.nc", "~"],
)
def test_no_name_leads_out(folder: Folder, name: str) -> None:
    outside = folder.path.parent / "outside.nc"
    recording().save(outside)
    (folder.path / "way").symlink_to(folder.path.parent)
    (folder.path / "way.nc").symlink_to(outside)
    with pytest.raises(SwarmdpError) as caught:
        folder.open(name)
    assert isinstance(caught.value, InvalidInput) or "no fit" in str(caught.value)
    assert [entry["name"] for entry in folder.entries()] == []


def test_foreign_files_are_refused_in_words(folder: Folder) -> None:
    (folder.path / "foreign.nc").write_bytes(b"no NetCDF")
    with pytest.raises(FileError, match="foreign.nc"):
        folder.open("foreign.nc")
    with pytest.raises(FileError, match="no fit and no trajectory"):
        folder.open("missing")
