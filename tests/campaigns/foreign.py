"""Other users: folders that may not be read or written, and traps in folders that all may write.

Everything runs as users who are not root, so the campaign needs root to become them. A command ends
well, or with one line; what belongs to somebody else stays as it was.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tests.campaigns.forks import Ended, Fork, command
from tests.campaigns.framework import ACCEPTED, EXPLAINED, Attempt, Campaign

OWNER, ATTACKER = 65_533, 65_534  # numbers of users who own nothing else here
CHANGED = "something of another user was changed"
UNSAID = "not said in one line"
SIZE = ["--n-agents", "5"]
FIT = ["fit", "vicsek", *SIZE, "--iterations", "1", "--demo-steps", "50", "--resamples", "0"]
FIT += ["--no-judge", "--no-policy-search"]
READING: dict[str, Callable[[str], list[str]]] = {  # of what may not be read
    "evaluate": lambda path: ["evaluate", path, "--runs", "2", "-o", "out"],
    "export": lambda path: ["export", path, "-o", "out.json"],
    "replan": lambda path: ["replan", path, "-o", "out"],
    "report": lambda path: ["report", path],
    "studio": lambda path: ["studio", path, "--no-browser"],
    "tracks": lambda path: ["tracks", path, "--fps", "1", "--unit", "cm", "-o", "out"],
    "fit --tracks": lambda path: ["fit", "--tracks", path, "-o", "out"],
    "fit --demo": lambda path: [*FIT, "--demo", path, "-o", "out"],
}
WRITING: dict[str, Callable[[str], list[str]]] = {  # of where the results go
    "fit": lambda path: [*FIT, "-o", path],
    "evaluate": lambda path: ["evaluate", "../fit", "--runs", "2", "-o", path],
    "replan": lambda path: ["replan", "../fit", "--attempts", "1", "--no-judge", "-o", path],
    "simulate": lambda path: ["simulate", "vicsek", *SIZE, "-o", path],
    "tracks": lambda path: ["tracks", "../t.csv", "--fps", "1", "--unit", "cm", "-o", path],
    "animate": lambda path: ["animate", "vicsek", *SIZE, "--steps", "2", "-o", f"{path}/a.gif"],
    "export": lambda path: ["export", "../fit", "-o", f"{path}/controller.json"],
    "reproduce": lambda path: ["reproduce", "--scale", "smoke", "--only", "snapshots", "-o", path],
}
TRAPS: tuple[str, ...] = (
    ".lock",
    ".unfinished",
    ".complete",
    "result.nc",
    "summary.json",
    "report.html",
)
TRAPS += ("figures", "reward.png", "a.gif", "controller.json", "plan.json", "units")


def prepare() -> None:
    """Do every command once, so that nothing has to be imported by a user who cannot."""
    import swarmdp.recordings.reading
    import swarmdp.studio.server  # noqa: F401

    lines = [f"{t},{n},{t + n},{n}" for t in range(30) for n in range(3)]
    Path("t.csv").write_text("frame,id,x,y\n" + "\n".join(lines) + "\n")
    command([*FIT, "-o", "fit"])()
    Path("warm").mkdir()
    os.chdir("warm")
    for name, arguments in WRITING.items():
        ended = Fork(command(arguments(f"out-{name}"))).finished()
        if ended.code:
            raise RuntimeError(f"{name}: {ended.said[-500:]}")
        command(arguments(f"here-{name}"))()
    os.chdir("..")
    Path.cwd().chmod(0o755)


def as_user(number: int, folder: Path, arguments: list[str]) -> Ended:
    """Run a command as a user, in a folder."""

    def work() -> None:
        os.environ["HOME"] = str(folder)
        os.chdir(folder)
        os.setgroups([])
        os.setgid(number)
        os.setuid(number)
        command(arguments)()

    return Fork(work).finished()


def judge(ended: Ended) -> str:
    """Whether a command ended well or with one line."""
    if ended.code == 0:
        return ACCEPTED
    if ended.code != 2 or len(ended.lines) != 1:
        raise RuntimeError(f"{UNSAID}: exit code {ended.code}: {ended.said[-400:]}")
    return EXPLAINED


def forbidden(rng: np.random.Generator) -> tuple[str, Callable[[Path], str]]:
    """A command on something that another user has closed."""
    reads = bool(rng.random() < 0.5)
    name = str(rng.choice(list(READING if reads else WRITING)))
    mode = int(rng.choice([0o000, 0o700, 0o111] if reads else [0o000, 0o555, 0o111, 0o700]))
    inner = str(rng.choice(["", "result.nc", "new", "deep/er"]))

    def run(folder: Path) -> str:
        closed = folder / "closed"
        shutil.copytree("fit", closed)
        for path in (closed, *closed.rglob("*")):
            os.chown(path, OWNER, OWNER)
            path.chmod(0o600 if path.is_file() else mode)
        before = _content(closed)
        target = str(closed / inner) if inner else str(closed)
        ended = as_user(ATTACKER, folder / "mine", (READING if reads else WRITING)[name](target))
        outcome = judge(ended)
        if _content(closed) != before:
            return CHANGED
        if outcome == ACCEPTED:
            raise RuntimeError("it was allowed what is forbidden")
        return outcome

    return f"{name}, closed with {mode:03o}", run


def trapped(rng: np.random.Generator) -> tuple[str, Callable[[Path], str]]:
    """A command that writes to a folder in which another user has laid links."""
    name = str(rng.choice(list(WRITING)))
    traps = rng.choice(TRAPS, rng.integers(1, 4), replace=False).tolist()
    to_folder = bool(rng.random() < 0.5)

    def run(folder: Path) -> str:
        precious, shared = folder / "precious", folder / "shared"
        precious.mkdir()
        (precious / "diary.txt").write_text("of the owner")
        shared.mkdir()
        for trap in traps:
            target = precious if to_folder else precious / "diary.txt"
            (shared / trap).symlink_to(target)
            os.chown(shared / trap, ATTACKER, ATTACKER, follow_symlinks=False)
        os.chown(shared, ATTACKER, ATTACKER)
        shared.chmod(0o777)
        for path in (precious, precious / "diary.txt"):
            os.chown(path, OWNER, OWNER)
        outcome = judge(as_user(OWNER, folder / "mine", WRITING[name](str(shared))))
        return outcome if _content(precious) == {"diary.txt": b"of the owner"} else CHANGED

    return f"{name}, with links {', '.join(traps)}", run


def _content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def attempt(rng: np.random.Generator) -> Attempt:
    """One command of one user against another."""
    kind = forbidden if rng.random() < 0.6 else trapped
    group, work = kind(rng)

    def run() -> str:
        folder = Path(tempfile.mkdtemp(dir=".")).resolve()
        try:
            folder.chmod(0o755)
            (folder / "mine").mkdir(mode=0o777)
            (folder / "mine").chmod(0o777)
            shutil.copytree("fit", folder / "fit")
            shutil.copy("t.csv", folder / "t.csv")
            return work(folder)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    return Attempt(f"{kind.__name__}: {group}", f"# {group}", run)


def campaign() -> Campaign:
    """The campaign of other users; empty for those who cannot become another one."""
    if os.geteuid() != 0:
        return Campaign("foreign", [])
    return Campaign("foreign", attempt, prepare, hang_seconds=120)
