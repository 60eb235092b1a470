"""Tables as people have them: the corpus in other dress, which changes nothing, and damaged.

Half of the attempts change what does not matter (line ends, blank lines at the end, packing, the
file's name): the same recording must come out. The others change bytes or lines: whatever is read
must have been accepted or refused in one line.
"""

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import numpy as np

import swarmdp
from swarmdp.support.errors import SwarmdpError
from tests.campaigns.framework import ACCEPTED, EXPLAINED, Attempt, Campaign
from tests.recordings.corpus import CORPUS, Case

WRONG = "another answer"
LONG = "not said in one line"
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}
TEXTS = (".csv", ".txt", ".tsv")


def is_plain(case: Case) -> bool:
    """Whether a file is text of single bytes, so that its lines can be changed."""
    return case.name.endswith((".csv", ".txt")) and not case.name.startswith("utf-16")


def dressed(rng: np.random.Generator, case: Case) -> tuple[str, bytes]:
    """The same table in another dress: its name and its content."""
    name, content = f"table{Path(case.name).suffix}", case.content
    if is_plain(case):
        if rng.random() < 0.5:
            content = content.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        if rng.random() < 0.5:
            content = content.rstrip(b"\r\n") + b"\n" * rng.integers(0, 4)
        if rng.random() < 0.3:
            name = f"table{rng.choice(TEXTS)}"
        if rng.random() < 0.3:
            suffix = str(rng.choice(list(PACKERS)))
            name, content = name + suffix, PACKERS[suffix](content)
    return name, content


def damaged(rng: np.random.Generator, case: Case) -> tuple[str, bytes]:
    """A file with some bytes or lines changed."""
    content = bytearray(case.content)
    for _ in range(rng.geometric(0.4)):
        start = int(rng.integers(len(content)))
        match rng.integers(5):
            case 0:
                content[start] = rng.integers(256)
            case 1:
                del content[start : start + int(rng.integers(1, 30))]
            case 2:
                content[start:start] = content[start : start + int(rng.integers(1, 60))]
            case 3:
                lines = bytes(content).split(b"\n")
                rng.shuffle(lines)
                content = bytearray(b"\n".join(lines))
            case 4:
                content[start:start] = rng.choice(
                    [b",", b";", b"\t", b'"', b"\n", b"nan", b"1e999"]
                )
        content = content or bytearray(b"\n")
    return f"table{''.join(Path(case.name).suffixes[-2:])}", bytes(content)


def right(case: Case, path: Path) -> str:
    """Whether a file gives the right answer."""
    recording = swarmdp.read_tracks(path, **case.options)
    labels = case.labels or recording.names
    if set(recording.names) != set(labels) or recording.unit != case.unit:
        return WRONG
    order = [recording.names.index(label) for label in labels]
    if recording.positions.shape != case.positions.shape:
        return WRONG
    same = np.allclose(
        recording.positions[:, order], case.positions, atol=case.tolerance, equal_nan=True
    )
    return ACCEPTED if same and np.isclose(recording.fps, case.fps) else WRONG


def readable(case: Case, path: Path) -> str:
    """Whether a damaged file is read into something whole, or refused in one line."""
    try:
        recording = swarmdp.read_tracks(path, **case.options)
    except SwarmdpError as error:
        if len(str(error).splitlines()) != 1 or len(str(error)) > 1000:
            raise RuntimeError(f"{LONG}: {str(error)[:200]!r}") from None
        return EXPLAINED
    return ACCEPTED if recording.notes and np.isfinite(recording.positions).any() else WRONG


def attempt(rng: np.random.Generator) -> Attempt:
    """One file of the corpus, in other dress or damaged."""
    case = CORPUS[str(rng.choice(list(CORPUS)))]
    harmless = rng.random() < 0.5
    name, content = (dressed if harmless else damaged)(rng, case)

    def run() -> str:
        path = Path(name)
        path.write_bytes(content)
        try:
            return (right if harmless else readable)(case, path)
        finally:
            path.unlink()

    kind = "in other dress" if harmless else "damaged"
    return Attempt(f"{case.name}, {kind}", f"name, content = {name!r}, {content!r}", run)


def campaign() -> Campaign:
    """The campaign of tables."""
    return Campaign("tables", attempt, memory_bytes=2**31)
