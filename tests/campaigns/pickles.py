"""Mutated pickles of arrays, as tracking tools write them, in processes that may die.

Bytes are changed at random, and whole instructions are taken out, doubled, exchanged and put in
elsewhere, so that many pickles still run. Whatever is read may consist of plain values and arrays
alone; all of it is then looked at, so that an array that points elsewhere ends the process.
"""

import pickle
import pickletools
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np

import swarmdp
from swarmdp.recordings.formats import numpy_files, plain_pickle
from swarmdp.support.errors import SwarmdpError
from tests.campaigns.framework import ACCEPTED, EXPLAINED, Attempt, Campaign

STRANGE = "something else than plain values"
LONG = "not said in one line"
PLAIN = (str, bytes, int, float, type(None), np.generic)
CONTENTS: tuple[Any, ...] = (
    {
        "trajectories": np.arange(24.0).reshape(4, 3, 2),
        "frames_per_second": 28.0,
        "body_length": np.float64(50.0),
        "version": "5.2",
        "setup_points": {"border": np.array([[1, 2], [3, 4]])},
        "identities_labels": ["1", "2", "3"],
    },
    np.array({"trajectories": np.zeros((2, 1, 2), ">f4")}, dtype=object),
    np.array([1, None, "two", [3.0]], dtype=object),
    [np.array(["ab", "ä"]), np.array([b"x", b"yz"]), np.array([True, False]), np.int8(-1)],
    [("scorer", "fish", part, axis) for part in ("nose", "tail") for axis in "xy"],
    ["frame", "x", "y", "particle"],
    {"a": [(), {}, b"", (1,), -(2**40)], 7: [[1.5], [1.5]]},
)
IMAGES = tuple(pickle.dumps(c, protocol) for c in CONTENTS for protocol in range(5))
SIZES = (0, 1, -1, 2, 255, 256, 2**16, 2**31 - 1, -(2**31), 2**32 - 1)


def instructions(image: bytes) -> list[bytes]:
    """The instructions of a pickle, one after the other; the rest where it is none."""
    parts, start = [], 0
    try:
        places = [place or 0 for _, _, place in pickletools.genops(image)]
    except Exception:
        return [image]
    for place in places[1:]:
        parts.append(image[start:place])
        start = place
    return [*parts, image[start:]]


ALL = [part for image in IMAGES for part in instructions(image)]
CODES = [code.code.encode("latin1") for code in pickletools.opcodes]


def change_byte(rng: np.random.Generator, image: bytes) -> bytes:
    changed = bytearray(image)
    changed[rng.integers(len(changed))] = rng.integers(256)
    return bytes(changed)


def change_number(rng: np.random.Generator, image: bytes) -> bytes:
    start = int(rng.integers(len(image)))
    number = struct.pack("<q", SIZES[rng.integers(len(SIZES))])[: rng.choice([1, 2, 4, 8])]
    return image[:start] + number + image[start + len(number) :]


def cut(rng: np.random.Generator, image: bytes) -> bytes:
    start = int(rng.integers(len(image)))
    return image[:start] + image[start + int(rng.integers(1, 20)) :]


def splice(rng: np.random.Generator, image: bytes) -> bytes:
    other = IMAGES[rng.integers(len(IMAGES))]
    return image[: rng.integers(len(image))] + other[rng.integers(len(other)) :]


def drop(rng: np.random.Generator, image: bytes) -> bytes:
    parts = instructions(image)
    del parts[rng.integers(len(parts))]
    return b"".join(parts)


def double(rng: np.random.Generator, image: bytes) -> bytes:
    parts = instructions(image)
    number = int(rng.integers(len(parts)))
    return b"".join([*parts[:number], *[parts[number]] * rng.integers(2, 5), *parts[number:]])


def exchange(rng: np.random.Generator, image: bytes) -> bytes:
    parts = instructions(image)
    first, second = rng.integers(len(parts), size=2)
    parts[first], parts[second] = parts[second], parts[first]
    return b"".join(parts)


def put_in(rng: np.random.Generator, image: bytes) -> bytes:
    parts = instructions(image)
    parts.insert(rng.integers(len(parts)), ALL[rng.integers(len(ALL))])
    return b"".join(parts)


def replace(rng: np.random.Generator, image: bytes) -> bytes:
    parts = instructions(image)
    parts[rng.integers(len(parts))] = ALL[rng.integers(len(ALL))]
    return b"".join(parts)


def other_code(rng: np.random.Generator, image: bytes) -> bytes:
    parts = instructions(image)
    number = rng.integers(len(parts))
    parts[number] = CODES[rng.integers(len(CODES))] + parts[number][1:]
    return b"".join(parts)


MUTATIONS: tuple[Callable[[np.random.Generator, bytes], bytes], ...] = (
    change_byte,
    change_number,
    cut,
    splice,
    drop,
    double,
    exchange,
    put_in,
    replace,
    other_code,
)


def looked_at(value: Any) -> bool:
    """Whether a value is plain; every part of it is read on the way."""
    if isinstance(value, np.ndarray):
        return all(looked_at(item) for item in value.ravel().tolist()) and bool(
            value.tobytes() + b"+"
        )
    if isinstance(value, dict):
        return all(isinstance(k, str | int) and looked_at(v) for k, v in value.items())
    if isinstance(value, list | tuple):
        return all(map(looked_at, value))
    return isinstance(value, PLAIN) and bool(repr(value))


def from_bytes(image: bytes) -> str:
    """Read by the reader of pickles."""
    return ACCEPTED if looked_at(plain_pickle.loads(image)) else STRANGE


def from_array(image: bytes) -> str:
    """Read from a `.npy` of one object."""
    with open("one.npy", "wb") as file:
        header = {"descr": "|O", "fortran_order": False, "shape": ()}
        np.lib.format.write_array_header_1_0(file, header)
        file.write(image)
    try:
        swarmdp.read_tracks("one.npy", fps=1, unit="px")
    except SwarmdpError:
        return ACCEPTED if looked_at(numpy_files.read_npy(Path("one.npy"))) else STRANGE
    return ACCEPTED


def from_frame(image: bytes) -> str:
    """Read as the names of the columns of a data frame in HDF5."""
    with h5py.File("one.h5", "w") as file:
        place = file.create_group("df_with_missing")
        place.attrs["pandas_type"] = np.bytes_(b"frame_table")
        kind = np.dtype([("index", "<i8"), ("values_block_0", "<f8", (4,))])
        table = place.create_dataset("table", data=np.zeros(3, kind), chunks=True)
        table.attrs["values_block_0_kind"] = np.bytes_(image)
    swarmdp.read_tracks("one.h5", fps=1, unit="px")
    return ACCEPTED


READERS = {"pickle": from_bytes, ".npy": from_array, "HDF5": from_frame}
SHARES = (0.8, 0.15, 0.05)


def attempt(rng: np.random.Generator) -> Attempt:
    """One pickle, mutated once or several times, for one reader."""
    image = IMAGES[rng.integers(len(IMAGES))]
    names = []
    for _ in range(rng.geometric(0.4)):
        mutation = MUTATIONS[rng.integers(len(MUTATIONS))]
        image = mutation(rng, image) or b"."
        names.append(mutation.__name__)
    reader = str(rng.choice(list(READERS), p=SHARES))

    def run() -> str:
        try:
            return READERS[reader](image)
        except SwarmdpError as error:
            if len(str(error).splitlines()) != 1 or len(str(error)) > 1000:
                raise RuntimeError(f"{LONG}: {str(error)[:200]!r}") from None
            return EXPLAINED

    return Attempt(f"{reader}, {names[0]}", f"image = {image!r}", run)


def campaign() -> Campaign:
    """The campaign of pickles."""
    return Campaign("pickles", attempt, memory_bytes=2**30)
