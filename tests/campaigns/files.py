"""Damaged and handmade files into every reader and command.

Damage (bits flipped, cut, spliced, overwritten) happens to files as they are on a disk: it may
never be accepted as other content. Handmade files (bombs, links, pickles, foreign data, settings
of other kinds) are what a person or a program could write, with or without a digest that is right:
they may be accepted or refused, in one line that explains itself.
"""

import contextlib
import io
import json
import os
import pickle
import shutil
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import swarmdp
from swarmdp.cli import main
from swarmdp.paper.plan import make_plan
from swarmdp.paper.store import Store, open_store, unit_image
from swarmdp.paper.tasks import Unit
from swarmdp.support import files, netcdf
from tests.campaigns.framework import ACCEPTED, EXPLAINED, FINE, Attempt, Campaign

OTHER = "other content accepted"
UNIT = Unit("vicsek-expert", 0)
PLAN = make_plan("smoke")
TRAJECTORY, RESULT, CONTROLLER = "trajectory.nc", "fit/result.nc", "controller.json"
PLAN_FILE, UNIT_FILE, TIMES = "run/plan.json", "run/units/vicsek-expert/0000.nc", "run/timing.jsonl"
NETCDF = (TRAJECTORY, RESULT, UNIT_FILE)
TEXTS = (CONTROLLER, PLAN_FILE, TIMES)

# Where the files are, each as it should be; a child fills it before its first attempt.
whole: dict[str, bytes] = {}
content: dict[str, str] = {}


@dataclass(frozen=True)
class Reader:
    """How a file is read: from its path to what was read, as a text to compare."""

    name: str
    file: str
    read: Callable[[], str]


def brief(value: Any) -> str:
    """What was read, as a text: the same for the same content."""
    if hasattr(value, "to_xarray"):
        dataset = value.to_xarray()
        arrays = {name: (a.dims, a.values.tolist()) for name, a in dataset.variables.items()}
        return repr((arrays, sorted(dataset.attrs.items())))
    if isinstance(value, dict):
        return repr({name: array.tolist() for name, array in value.items()})
    arrays = {name: array.tolist() for name, array in value.to_arrays().items()}
    return repr((value.kind, arrays, value.interface.to_json()))


def command(*arguments: str) -> str:
    """Run a command; what it says of bad input must be one line."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(io.StringIO()):
            main(arguments)
    except SystemExit as stop:
        lines = [line for line in said.getvalue().splitlines() if ": warning: " not in line]
        if stop.code != 2 or len(lines) != 1:
            raise RuntimeError(f"exit code {stop.code}, {len(lines)} lines: {lines[:3]}") from None
        return EXPLAINED
    return ACCEPTED


FEW = ("--iterations", "1", "--resamples", "0")
SMALL = ("--runs", "2", "--steps", "3", "-o", "out")
READERS = [
    Reader("load", TRAJECTORY, lambda: brief(swarmdp.load(TRAJECTORY))),
    Reader("load", RESULT, lambda: brief(swarmdp.load(RESULT))),
    Reader("load", UNIT_FILE, lambda: brief(swarmdp.load(UNIT_FILE))),
    Reader(
        "load_controller", CONTROLLER, lambda: brief(swarmdp.policies.load_controller(CONTROLLER))
    ),
    Reader("load_controller", RESULT, lambda: brief(swarmdp.policies.load_controller(RESULT))),
    Reader("load", CONTROLLER, lambda: brief(swarmdp.load(CONTROLLER))),
    Reader("Store.read", UNIT_FILE, lambda: brief(Store(Path("run"), PLAN).read(UNIT))),
    Reader("open_store", PLAN_FILE, lambda: repr(open_store(Path("run")).plan)),
    Reader("seconds", TIMES, lambda: str(sorted(Store(Path("run"), PLAN).seconds()))),
    Reader("swarmdp report", PLAN_FILE, lambda: command("report", "run")),
    Reader("swarmdp report", UNIT_FILE, lambda: command("report", "run")),
    Reader("swarmdp evaluate", RESULT, lambda: command("evaluate", "fit", *SMALL)),
    Reader("swarmdp export", RESULT, lambda: command("export", "fit", "-o", "out.json")),
    Reader(
        "swarmdp animate",
        RESULT,
        lambda: command("animate", "--fit", "fit", "--steps", "2", "-o", "out.html"),
    ),
    Reader(
        "swarmdp fit --demo",
        TRAJECTORY,
        lambda: command("fit", "--demo", TRAJECTORY, *FEW, "--no-judge", "-o", "out"),
    ),
    Reader(
        "swarmdp fit --resume",
        RESULT,
        lambda: command("fit", "--demo", "demo.nc", *FEW, "--resume", "-o", "fit"),
    ),
]


def prepare() -> None:
    """A folder with one file of each kind, which the attempts then damage.

    Every reader reads its file as it is, so that nothing is left to be compiled.
    """
    system = swarmdp.Vicsek(n_agents=5)
    demo = swarmdp.rollout(system, system.expert, steps=50, seed=1)
    demo.save(TRAJECTORY)
    demo.save("demo.nc")
    learner = swarmdp.learning.HeterogeneousLearning(steps=2, swarms=1)
    result = swarmdp.fit(system, demo, seed=1, iterations=2, learner=learner, judge=False)
    result.save("fit")
    policy: Any = result.policy
    policy.export(CONTROLLER)
    store = Store(Path("run"), PLAN)
    with store.locked():
        measure = np.linspace(0, 1, 300 * 41).reshape(300, 41)
        store.write(UNIT, unit_image(PLAN, UNIT, {"measure": measure}), 1.0)
    for name in (*NETCDF, *TEXTS):
        whole[name] = Path(name).read_bytes()
    for reader in READERS:
        with contextlib.suppress(swarmdp.errors.SwarmdpError):
            outcome = reader.read()
            if outcome not in FINE:
                content[reader.name + reader.file] = outcome


def campaign() -> Campaign:
    """The campaign of files."""
    return Campaign("files", attempt, prepare)


def attempt(rng: np.random.Generator) -> Attempt:
    """One file, damaged or made by hand, for one reader."""
    reader = READERS[rng.integers(len(READERS))]
    damage = rng.random() < 0.6
    if damage:
        name, change = pick(rng, DAMAGES)
    elif reader.file in NETCDF:
        name, change = pick(rng, HANDMADE)
    else:
        name, change = pick(rng, WRITTEN)
    child = np.random.default_rng(rng.integers(2**63))

    def run() -> str:
        for file, image in whole.items():
            Path(file).unlink(missing_ok=True)
            Path(file).write_bytes(image)
        for left in ("out", "out.html", "out.json"):
            shutil.rmtree(left, ignore_errors=True)
            Path(left).unlink(missing_ok=True)
        target = Path(reader.file)
        change(child, target)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            outcome = reader.read()
        if target.is_file() and target.read_bytes() == whole[reader.file]:
            return ACCEPTED  # the change changed nothing
        if outcome in (ACCEPTED, EXPLAINED):
            same = outcome == EXPLAINED or not damage or reader.file == UNIT_FILE
            return outcome if same else OTHER
        if damage and reader.file != TIMES and outcome != content.get(reader.name + reader.file):
            return OTHER
        return ACCEPTED

    return Attempt(f"{name} / {reader.name} {reader.file}", f"# {name}, then {reader.name}", run)


def pick(rng: np.random.Generator, among: dict[str, Any]) -> tuple[str, Any]:
    name = list(among)[rng.integers(len(among))]
    return name, among[name]


# Damage: what a disk, a network or a killed copy does.


def flip(rng: np.random.Generator, path: Path, bits: int) -> None:
    image = np.frombuffer(path.read_bytes(), np.uint8).copy()
    for _ in range(bits):
        image[rng.integers(len(image))] ^= np.uint8(1 << rng.integers(8))
    path.write_bytes(image.tobytes())


def cut(rng: np.random.Generator, path: Path) -> None:
    image = path.read_bytes()
    path.write_bytes(image[: rng.integers(len(image))])


def cut_start(rng: np.random.Generator, path: Path) -> None:
    path.write_bytes(path.read_bytes()[rng.integers(1, 2000) :])


def blank(rng: np.random.Generator, path: Path) -> None:
    image = bytearray(path.read_bytes())
    begin = int(rng.integers(len(image)))
    end = min(len(image), begin + int(rng.choice([1, 16, 512, 4096, 10**9])))
    image[begin:end] = bytes(end - begin)
    path.write_bytes(image)


def noise(rng: np.random.Generator, path: Path) -> None:
    image = bytearray(path.read_bytes())
    begin = int(rng.integers(len(image)))
    end = min(len(image), begin + int(rng.choice([1, 16, 512, 4096])))
    image[begin:end] = rng.bytes(end - begin)
    path.write_bytes(image)


def splice(rng: np.random.Generator, path: Path) -> None:
    """The beginning of this file and the end of another, or of itself shifted."""
    image, others = path.read_bytes(), [n for n in whole if n != path.as_posix()]
    other = whole[others[rng.integers(len(others))]]
    begin = int(rng.integers(1, len(image)))
    path.write_bytes(image[:begin] + other[min(begin, len(other) - 1) :])


def repeat_piece(rng: np.random.Generator, path: Path) -> None:
    image = path.read_bytes()
    begin = int(rng.integers(len(image) - 1))
    end = int(rng.integers(begin + 1, len(image)))
    path.write_bytes(image[:end] + image[begin:end] + image[end:])


def append(rng: np.random.Generator, path: Path) -> None:
    path.write_bytes(path.read_bytes() + rng.bytes(int(rng.integers(1, 600))))


def newlines(rng: np.random.Generator, path: Path) -> None:
    """What a transfer as text does."""
    image = path.read_bytes()
    path.write_bytes(image.replace(b"\n", b"\r\n") if rng.random() < 0.5 else image.rstrip())


DAMAGES: dict[str, Callable[[np.random.Generator, Path], None]] = {
    "one bit": partial(flip, bits=1),
    "one bit more": partial(flip, bits=1),
    "three bits": partial(flip, bits=3),
    "many bits": partial(flip, bits=200),
    "cut": cut,
    "start cut": cut_start,
    "zeros": blank,
    "noise": noise,
    "spliced": splice,
    "a piece twice": repeat_piece,
    "more at its end": append,
    "newlines": newlines,
}


# Handmade: what a person or another program could write.


class Trap:
    """Unpickled, it would leave a file."""

    def __reduce__(self) -> Any:
        return (Path.touch, (Path("trapped"),))


def other_things(rng: np.random.Generator, path: Path) -> None:
    things: list[bytes] = [
        b"",
        b"hello",
        pickle.dumps(Trap()),
        pickle.dumps([1.0]),
        b"CDF\x01" + bytes(200),
        b"\x89HDF\r\n\x1a\n" + rng.bytes(300),
        netcdf.with_digest(b"\x89HDF\r\n\x1a\n" + rng.bytes(3000)),
        netcdf.with_digest(b""),
        netcdf.with_digest(pickle.dumps(Trap())),
        b"[" * 200_000,
        b"\xff\xfe" * 100,
        b'{"kind": "swarmdp controller", "schema": 1}',
        b"PK\x03\x04" + bytes(300),
        b"\x1f\x8b" + rng.bytes(300),
        b"\0" * 100_000,
    ]
    path.write_bytes(things[rng.integers(len(things))])


def other_kind_of_file(rng: np.random.Generator, path: Path) -> None:
    which = rng.integers(3)
    if which == 0:
        others = list(whole)
        path.write_bytes(whole[others[rng.integers(len(others))]])
        return
    path.unlink()
    if which == 1:
        path.symlink_to(path.absolute())
    else:
        os.mkfifo(path)


def edited(
    change: Callable[[np.random.Generator, Any], None],
) -> Callable[[np.random.Generator, Path], None]:
    """A change by HDF5, after which half of the files get a digest that is right."""

    def apply(rng: np.random.Generator, path: Path) -> None:
        with h5py.File(path, "r+") as file:
            change(rng, file)
        if rng.random() < 0.5:
            path.write_bytes(netcdf.with_digest(path.read_bytes()))

    return apply


PLAIN: list[Any] = [
    *(None, True, 0, -1, 3, 2.5, 10**6, 10**12, 10**30, 1e308, float("nan"), float("inf"), "", "x"),
    *([], {}, [1, 2], {"x": 1}, [[[]]], "1e6", -0.0, 2**31, 2**63, ["x"], [None], "\0", "x" * 9999),
]
VALUES: list[Any] = [
    *(3, -1, 2.5, float("nan"), "", "x", "[]", "null", "3", "{}", "{", "[" * 9999, "\u00e9" * 50),
    *(np.arange(3), np.zeros((2, 2)), np.array([b"x", b"y"]), np.bool_(True), np.uint64(2**63)),
    *(h5py.Empty("f"), np.array([], float), b"\xff\xfe", np.complex128(1j), np.zeros(20_000)),
    *('{"kind": 1}', '[[{"name": 1}]]', "NaN", "1" * 5000, "swarmdp fit", "swarmdp trajectory"),
]


def attribute(rng: np.random.Generator, file: Any) -> None:
    places = [file, *(file[name] for name in file)]
    place = places[0] if rng.random() < 0.7 else places[rng.integers(len(places))]
    names = [n for n in place.attrs if not n.startswith(("DIM", "REF", "CLASS", "_Net"))]
    if not names:
        return
    name = names[rng.integers(len(names))]
    if rng.random() < 0.2:
        del place.attrs[name]
    else:
        place.attrs[name] = VALUES[rng.integers(len(VALUES))]


def mutated(rng: np.random.Generator, plain: Any) -> Any:
    """JSON with something else in one place."""
    if isinstance(plain, dict | list) and plain and rng.random() < 0.85:
        keys = list(plain) if isinstance(plain, dict) else list(range(len(plain)))
        key = keys[rng.integers(len(keys))]
        if rng.random() < 0.1:
            del plain[key]
        else:
            plain[key] = mutated(rng, plain[key])
        if isinstance(plain, dict) and rng.random() < 0.05:
            plain["wings"] = 2
        return plain
    return PLAIN[rng.integers(len(PLAIN))]


def settings(rng: np.random.Generator, file: Any) -> None:
    names = [n for n in ("settings", "system_settings", "blocks", "interface") if n in file.attrs]
    if names:
        name = names[rng.integers(len(names))]
        file.attrs[name] = json.dumps(mutated(rng, json.loads(file.attrs[name])))


def some_variable(rng: np.random.Generator, file: Any) -> str:
    names = [str(name) for name in file]
    return names[rng.integers(len(names))]


def variable(rng: np.random.Generator, file: Any) -> None:
    """Another array in the place of one."""
    name = some_variable(rng, file)
    old = file[name]
    axes = [dimension[0] for dimension in old.dims if len(dimension)]
    units = dict(old.attrs.items()) if rng.random() < 0.5 else {}
    kept = {k: v for k, v in units.items() if k in ("units", "long_name")}
    arrays: list[Any] = [
        np.full(old.shape, np.nan),
        np.zeros(old.shape, np.complex128),
        np.zeros(old.shape, np.int8),
        np.zeros(old.shape, ">f4"),
        np.full(old.shape, 1e300),
        np.full(old.shape, 2**62),
        np.zeros((*old.shape, 3)),
        np.zeros(old.shape[:-1]),
        np.zeros(0),
        np.array([b"abc"] * 3),
        np.float64(1.0),
        np.zeros(3, [("a", float), ("b", int)]),
    ]
    new = arrays[rng.integers(len(arrays))]
    del file[name]
    file[name] = new
    file[name].attrs.update(kept)
    if rng.random() < 0.7:
        for number, axis in enumerate(axes[: np.ndim(new)]):
            with contextlib.suppress(Exception):
                file[name].dims[number].attach_scale(axis)


def without(rng: np.random.Generator, file: Any) -> None:
    del file[some_variable(rng, file)]


def renamed(rng: np.random.Generator, file: Any) -> None:
    other = some_variable(rng, file) + str(rng.choice(["x", "é", " "]))
    with contextlib.suppress(ValueError):  # HDF5 cannot move all of them
        file.move(some_variable(rng, file), other)


def bomb(rng: np.random.Generator, file: Any) -> None:
    name = some_variable(rng, file)
    ways: list[dict[str, Any]] = [
        {"shape": (1, 51, 2**33), "dtype": float},
        {"shape": (10**12,), "dtype": np.int8, "chunks": (10**6,), "compression": "gzip"},
        {"shape": (2**40,), "dtype": float, "chunks": (2**20,)},
        {"shape": (0,), "maxshape": (None,), "dtype": np.int8, "chunks": (2**31,)},
        {"shape": (2**31,), "dtype": np.int8, "fillvalue": 1},
        {"shape": (3,) * 30, "dtype": np.int8},
        {"shape": (10**6,), "dtype": h5py.string_dtype()},
        {"shape": (5,), "dtype": h5py.vlen_dtype(float)},
        {"shape": (5,), "dtype": h5py.ref_dtype},
    ]
    del file[name]
    file.create_dataset(name, **ways[rng.integers(len(ways))])


def packed(rng: np.random.Generator, file: Any) -> None:
    """Zeros that deflate to little: 8 MiB of them, which fit into memory."""
    name = some_variable(rng, file)
    del file[name]
    zeros = file.create_dataset(
        name, (2**20,), float, chunks=(2**19,), compression="gzip", compression_opts=1
    )
    zeros[...] = 0


def link(rng: np.random.Generator, file: Any) -> None:
    name = some_variable(rng, file)
    del file[name]
    which = rng.integers(6)
    if which == 0:
        file[name] = h5py.ExternalLink("/etc/passwd", "/x")
    elif which == 1:
        file[name] = h5py.ExternalLink(str(Path("demo.nc").absolute()), f"/{name}")
    elif which == 2:
        file[name] = h5py.SoftLink(f"/{name}")
    elif which == 3:
        file.create_dataset(name, (10,), np.int8, external=[("/etc/passwd", 0, 10)])
    elif which == 4:
        layout = h5py.VirtualLayout((51,), float)
        layout[...] = h5py.VirtualSource(str(Path("demo.nc").absolute()), "time", (51,))
        file.create_virtual_dataset(name, layout)
    else:
        file.create_group(name)["round"] = file["/"]


def coding(rng: np.random.Generator, file: Any) -> None:
    """Attributes by which xarray decodes: scales, missing values, characters."""
    place = file[some_variable(rng, file)]
    ways: list[tuple[str, Any]] = [
        ("scale_factor", 2.0),
        ("scale_factor", "x"),
        ("add_offset", np.nan),
        ("_FillValue", 0.0),
        ("missing_value", np.arange(3.0)),
        ("_Unsigned", "true"),
        ("dtype", "bool"),
        ("dtype", "object"),
        ("_Encoding", "nonsense"),
        ("units", "days since 1 Jan"),
        ("calendar", "x"),
        ("coordinates", "a b c"),
        ("_Netcdf4Dimid", np.int32(99)),
        ("DIMENSION_LIST", 3),
        ("NAME", "This is a netCDF dimension but not a netCDF variable"),
    ]
    name, value = ways[rng.integers(len(ways))]
    with contextlib.suppress(OSError):
        place.attrs[name] = value


HANDMADE: dict[str, Callable[[np.random.Generator, Path], None]] = {
    "other things": other_things,
    "another kind of file": other_kind_of_file,
    "attribute": edited(attribute),
    "attribute again": edited(attribute),
    "settings": edited(settings),
    "settings again": edited(settings),
    "variable": edited(variable),
    "without": edited(without),
    "renamed": edited(renamed),
    "bomb": edited(bomb),
    "packed": edited(packed),
    "link": edited(link),
    "coding": edited(coding),
}


def rewritten(rng: np.random.Generator, path: Path) -> None:
    """JSON with something else in one place, with a right digest, a wrong one or none."""
    lines = path.read_text().splitlines() if path.suffix == ".jsonl" else [path.read_text()]
    texts = []
    for line in lines:
        plain = mutated(rng, json.loads(line))
        which = rng.integers(3)
        if isinstance(plain, dict) and which < 2:
            plain.pop(files.DIGEST, None)
        if isinstance(plain, dict) and which == 1:
            plain[files.DIGEST] = files.digest_of(plain)
        texts.append(json.dumps(plain))
    path.write_text("\n".join(texts))


WRITTEN: dict[str, Callable[[np.random.Generator, Path], None]] = {
    "other things": other_things,
    "another kind of file": other_kind_of_file,
    "rewritten": rewritten,
    "rewritten again": rewritten,
    "and again": rewritten,
}
