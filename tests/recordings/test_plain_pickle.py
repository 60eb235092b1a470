"""Pickles of arrays: read as the tools write them, without any of NumPy's own unpickling."""

import io
import os
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import swarmdp
from swarmdp.recordings.formats import numpy_files, plain_pickle
from swarmdp.support.errors import InvalidInput, SwarmdpError

CONTENT: dict[str, Any] = {
    "trajectories": np.arange(24.0).reshape(4, 3, 2),
    "turned": np.asfortranarray(np.arange(6, dtype=">i4").reshape(2, 3)),
    "flags": np.array([True, False]),
    "names": np.array(["ä", "b"]),
    "raw": np.array([b"one", b"two"]),
    "mixed": np.array([1, None, "two"], dtype=object),
    "accuracy": np.float64(0.99),
    "count": np.int64(3),
    "version": "5.2",
    "colours": ["#fff", (0.1, 2, None)],
    "stats": {"good": True, 7: -(2**40)},
    "empty": [(), {}, b""],
}


def same(first: Any, second: Any) -> bool:
    """Whether two values are the same, arrays by what they hold and their kind."""
    if isinstance(first, np.ndarray):
        kinds = first.dtype.newbyteorder("=") == second.dtype.newbyteorder("=")
        shapes = first.shape == second.shape
        return bool(kinds and shapes and first.tolist() == second.tolist())
    if isinstance(first, dict):
        return list(first) == list(second) and all(same(first[k], second[k]) for k in first)
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(map(same, first, second))
    return bool(first == second)


@pytest.mark.parametrize("protocol", range(5))
def test_what_tools_write_is_read(protocol: int) -> None:
    assert same(CONTENT, plain_pickle.loads(pickle.dumps(CONTENT, protocol)))
    shared = [1.5, 2.5]
    assert plain_pickle.loads(pickle.dumps([shared, shared], protocol)) == [shared, shared]
    long = list(range(5000))
    assert plain_pickle.loads(pickle.dumps(long, protocol)) == long


def test_what_python_2_wrote_is_read() -> None:
    """Texts of Python 2 are bytes, also those that hold an array's numbers."""
    numbers = np.arange(3.0).tobytes()
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\x00\x85U\x01b\x87R"
        b"q\x03(K\x01K\x03\x85cnumpy\ndtype\nU\x02f8K\x00K\x01\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xff"
        b"J\xff\xff\xff\xffK\x00tb\x89U" + bytes([len(numbers)]) + numbers + b"tb"
    )
    content = plain_pickle.loads(b"\x80\x02}q\x00U\x0ctrajectories" + array + b"s.")
    assert list(content) == ["trajectories"]
    np.testing.assert_array_equal(content["trajectories"], np.arange(3.0))


def state(shape: bytes, kind: bytes, content: bytes, order: bytes = b"\x89") -> bytes:
    """A pickled array with this state."""
    return (
        b"\x80\x03cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R"
        b"(K\x01" + shape + kind + order + content + b"tb."
    )


def kind(code: bytes, flags: int = 0) -> bytes:
    return (
        b"cnumpy\ndtype\nX"
        + struct.pack("<i", len(code))
        + code
        + b"\x89\x88\x87R(K\x03X\x01\x00\x00\x00|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK"
        + bytes([flags])
        + b"tb"
    )


POINTER = b"C\x10" + struct.pack("<QQ", 0x4141414141414141, 0x4242424242424242)
HOSTILE = {
    "an object array larger than its list": state(b"M\x00\x10\x85", kind(b"O8", 63), b"]NaNaNa"),
    "pointers as objects": state(b"K\x02\x85", kind(b"O8", 0), POINTER),
    "a function as a value": b"\x80\x02cnumpy\nndarray\n.",
    "a kind of array as a value": b"\x80\x02]" + kind(b"f8") + b"a.",
    "fewer bytes than numbers": state(b"J\x00\x00\x00\x10\x85", kind(b"f8"), POINTER),
    "a negative shape": state(b"J\xfe\xff\xff\xff\x85", kind(b"f8"), POINTER),
    "a shape that overflows": state(
        b"\x8a\x09" + (2**64 + 2).to_bytes(9, "little") + b"\x85", kind(b"f8"), POINTER
    ),
    "a shape of texts": state(b"X\x01\x00\x00\x00a\x85", kind(b"f8"), POINTER),
    "a kind that is none": state(b"K\x02\x85", b"K\x07", POINTER),
    "texts of characters that do not exist": state(
        b"K\x01\x85", kind(b"U4").replace(b"|", b"<"), b"C\x10" + b"\xff" * 16
    ),
    "a structured kind": state(b"K\x02\x85", kind(b"V8"), POINTER),
    "an array that was never filled": b"\x80\x03cnumpy.core.multiarray\n_reconstruct\n"
    b"cnumpy\nndarray\nK\x00\x85C\x01b\x87R.",
    "a list in itself": b"\x80\x02]q\x00h\x00a.",
    "lists that double": b"\x80\x02]q\x00"
    + b"".join(b"](h%ch%ceq%c" % (n, n, n + 1) for n in range(80))
    + b".",
    "a deep list": b"]" * 3000 + b"a" * 2999 + b".",
    "a name that is called": b"\x80\x02cos\nsystem\nU\x04true\x85R.",
    "a name on the stack": b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",
    "a name with dots": b"\x80\x04\x8c\x05numpy\x8c\x10ndarray.__reduce\x93.",
    "an object of a class": b"\x80\x02cnumpy\nndarray\n)\x81.",
    "a class of Python 2": b"(inumpy\nndarray\n.",
    "something persistent": b"Pname\n.",
    "an extension": b"\x82\x01.",
    "a memo that is not there": b"h\x05.",
    "an empty stack": b"a.",
    "no mark": b"e.",
    "no end": b"]",
    "nothing": b"",
    "a huge number": b"\x8b" + struct.pack("<i", 2000) + b"\x7f" * 2000 + b".",
    "more than is there": b"B\xff\xff\xff\x7f.",
    "keys that cannot be kept": b"}]K\x01s.",
    "an odd number of keys and values": b"}(K\x01K\x02K\x03u.",
    "numbers as a dictionary": b"K\x01(K\x01K\x02u.",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pickles_are_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    # No method of Python's own unpicklers is needed, in C or in Python.
    for unpickler in ("load", "loads", "Unpickler", "_Unpickler"):
        monkeypatch.setattr(pickle, unpickler, pytest.fail)
    with pytest.raises(InvalidInput) as raised:
        plain_pickle.loads(HOSTILE[name])
    assert len(str(raised.value).splitlines()) == 1
    assert len(str(raised.value)) < 300
    path = tmp_path / "trajectories.npy"
    path.write_bytes(with_header(HOSTILE[name]))
    with pytest.raises(SwarmdpError, match="cannot read .*trajectories.npy: "):
        swarmdp.read_tracks(path, fps=1, unit="px")


def test_flags_of_a_kind_are_not_needed() -> None:
    """Without them NumPy takes what is in an array of objects for numbers."""
    content = plain_pickle.loads(state(b"K\x02\x85", kind(b"O8", 0), b"](K\x01K\x02e"))
    assert content.dtype == object
    assert content.tolist() == [1, 2]


def with_header(content: bytes) -> bytes:
    """A `.npy` of one object, with this pickle in its place."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "|O", "fortran_order": False, "shape": ()})
    return file.getvalue() + content


def survives(work: Callable[[], object]) -> bool:
    """Whether a process that does this ends by itself."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.WIFEXITED(os.waitpid(pid, 0)[1])


def test_no_state_of_an_array_reaches_numpy(tmp_path: Path) -> None:
    """A file of 272 bytes made NumPy follow a pointer that stood in it."""
    path = tmp_path / "trajectories.npy"
    for name, content in HOSTILE.items():
        path.write_bytes(with_header(content))
        assert survives(lambda: repr(numpy_files.read_npy(path))), name


def test_structured_arrays_in_files_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "records.npy", np.zeros(3, dtype=[("x", "f8"), ("y", "f8")]))
    with pytest.raises(InvalidInput, match="array of the kind .*expected numbers or texts"):
        swarmdp.read_tracks(tmp_path / "records.npy", fps=1, unit="px")
