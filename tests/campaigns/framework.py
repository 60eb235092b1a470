"""Campaigns: many random but seeded attempts to break swarmdp, each in a process that may die.

A campaign turns a random generator into an `Attempt`; the framework runs it in one of a few child
processes, watches for hangs, crashes and memory, and says how it ended. An attempt is known by its
campaign, seed and number, so that any of them can be repeated alone.

To add a campaign: a module with a function that gives a `Campaign`, and a row in `__main__.py`.
"""

import contextlib
import faulthandler
import itertools
import multiprocessing as mp
import os
import resource
import shutil
import signal
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import numpy as np

from swarmdp.support.errors import SwarmdpError

HANG_SECONDS = 20.0
MEMORY_BYTES = 6 * 2**30  # of address space, beyond what a child starts with

ACCEPTED = "accepted"
EXPLAINED = "explained"
INTERNAL = "internal error"
CRASH = "crash"
HANG = "hang"
MEMORY = "memory"
FINE = (ACCEPTED, EXPLAINED)
PREPARED = ("prepared", "")
MISTAKES = ("missing", "unexpected keyword", "positional argument", "multiple values")


@dataclass(frozen=True)
class Attempt:
    """One try: what it is called in the table, the lines that repeat it, and the try itself.

    `run` returns how it ended if nothing was raised: ACCEPTED, or a kind of failure of the
    campaign's own, such as "NaN accepted". What it raises is judged by `kind_of_error`.
    """

    group: str
    repeat: str
    run: Callable[[], str]


@dataclass(frozen=True)
class Campaign:
    """What is tried, and what a child does before its first attempt (such as to write files).

    A child works in an empty folder of its own, which is removed in the end.
    """

    name: str
    attempt: Callable[[np.random.Generator], Attempt] | Sequence[Attempt]  # a random one, or all
    prepare: Callable[[], None] = lambda: None
    hang_seconds: float = HANG_SECONDS
    memory_bytes: int = MEMORY_BYTES

    @property
    def size(self) -> int | None:
        """How many attempts there are; None: no end of them."""
        return None if callable(self.attempt) else len(self.attempt)


@dataclass(frozen=True)
class Failure:
    """An attempt that ended as none may."""

    kind: str
    number: int
    attempt: Attempt
    detail: str


@dataclass
class Outcome:
    """What came of a campaign."""

    name: str
    seed: int
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[Failure] = field(default_factory=list)

    @property
    def attempts(self) -> int:
        return sum(self.counts.values())


def attempt_of(campaign: Campaign, seed: int, number: int) -> Attempt:
    """The attempt of this number: the same whatever was tried before."""
    if callable(campaign.attempt):
        return campaign.attempt(np.random.default_rng([seed, number]))
    order = np.random.default_rng(seed).permutation(len(campaign.attempt))
    chosen: Attempt = campaign.attempt[order[number]]
    return chosen


def kind_of_error(error: BaseException) -> str:
    """Whether an error explains itself, or is one that should never reach a user."""
    if isinstance(error, SwarmdpError):
        return EXPLAINED if str(error).strip() else INTERNAL
    if isinstance(error, MemoryError):
        return MEMORY
    if isinstance(error, KeyError) and "was not recorded" in str(error):
        return EXPLAINED  # what a mapping has to raise, with what there is
    innermost = traceback.extract_tb(error.__traceback__)[-1].filename
    ours = "/swarmdp/" in innermost and not innermost.endswith("/support/arguments.py")
    if isinstance(error, TypeError) and any(text in str(error) for text in MISTAKES) and not ours:
        return EXPLAINED  # Python itself: a call that does not fit the signature
    return INTERNAL


def perform(attempt: Attempt) -> tuple[str, str]:
    """How an attempt ends in this process, and the error if there was one."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return attempt.run(), ""
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        place = next((f for f in reversed(frames) if "/swarmdp/" in f.filename), frames[-1])
        where = f"{place.filename.rpartition('/swarmdp/')[2]}:{place.lineno}"
        return kind_of_error(error), f"{type(error).__name__}: {str(error)[:300]} ({where})"


def run(
    campaign: Campaign,
    *,
    seed: int,
    minutes: float | None = None,
    attempts: int | None = None,
    workers: int = 2,
    first: int = 0,
    watch: Callable[[Outcome], None] = lambda outcome: None,
) -> Outcome:
    """Run a campaign for some minutes, or a number of attempts, whichever ends first.

    Parameters
    ----------
    campaign
        What is tried.
    seed
        Of the campaign: same seed, same attempts in the same order.
    minutes
        The budget of time.
    attempts
        The budget of attempts.
    workers
        The number of child processes.
    first
        The number of the first attempt.
    watch
        Called after each attempt, with all until then.

    """
    outcome = Outcome(campaign.name, seed)
    end = None if minutes is None else time.monotonic() + 60 * minutes
    limits = [n for n in (attempts, campaign.size) if n is not None]
    numbers = iter(range(first, first + min(limits))) if limits else itertools.count(first)
    pool = [_Child(campaign, seed) for _ in range(workers)]
    for child in pool:
        child.give(numbers)
    try:
        while busy := [child for child in pool if child.number is not None]:
            ready = wait([child.pipe for child in busy], timeout=1.0)
            for child in busy:
                ended = child.ended(child.pipe in ready)
                if ended is None:
                    continue
                kind, detail = ended
                assert child.number is not None
                outcome.counts[kind] += 1
                if kind not in FINE:
                    attempt = attempt_of(campaign, seed, child.number)
                    outcome.failures.append(Failure(kind, child.number, attempt, detail))
                watch(outcome)
                over = end is not None and time.monotonic() > end
                child.give(iter(()) if over else numbers)
    finally:
        for child in pool:
            child.stop()
    return outcome


def shared(
    campaigns: Sequence[Campaign], *, seed: int, minutes: float, **budget: Any
) -> Iterator[Outcome]:
    """Run campaigns one after the other in some minutes, of which each may use its share.

    Those that have an end come first: what they leave of their shares is for the others.
    """
    end = time.monotonic() + 60 * minutes
    in_order = sorted(campaigns, key=lambda campaign: campaign.size is None)
    for number, campaign in enumerate(in_order):
        left = max(0.0, end - time.monotonic()) / 60
        yield run(campaign, seed=seed, minutes=left / (len(in_order) - number), **budget)


class _Child:
    """A process that makes one attempt after the other, and is replaced when it dies."""

    def __init__(self, campaign: Campaign, seed: int) -> None:
        self._campaign, self._seed = campaign, seed
        self.number: int | None = None
        self._start()

    def _start(self) -> None:
        self._folder = tempfile.mkdtemp(prefix=f"swarmdp-{self._campaign.name}-")
        self.pipe, theirs = mp.get_context("fork").Pipe()
        self._process = mp.get_context("fork").Process(
            target=_work, args=(self._campaign, self._seed, self._folder, theirs)
        )
        self._process.start()
        theirs.close()
        self._prepared = False

    def give(self, numbers: Iterator[int]) -> None:
        """Start the next attempt, if there is one."""
        self.number = next(numbers, None)
        if self.number is not None:
            self._begin()
            self.pipe.send(self.number)

    def _begin(self) -> None:
        self._since = time.monotonic()
        self._work_before = _seconds_of_work(self._process.pid)

    def ended(self, ready: bool) -> tuple[str, str] | None:
        """How the attempt ended; None if it goes on."""
        if ready:
            try:
                message: tuple[str, str] = self.pipe.recv()
            except (EOFError, OSError):
                self._process.join()
                code = self._process.exitcode or 0
                what = signal.Signals(-code).name if code < 0 else f"exit code {code}"
                self.stop()
                self._start()
                return CRASH, f"the process died: {what}"
            if self._prepared:
                return message
            if message != PREPARED:
                raise RuntimeError(f"{self._campaign.name} could not be prepared: {message[1]}")
            self._prepared = True
            self._begin()  # what was compiled does not count
            return None
        if self._prepared and self._hangs():
            self.stop()
            self._start()
            return HANG, f"no end after {self._campaign.hang_seconds:g} s"
        return None

    def _hangs(self) -> bool:
        """Whether it has worked for too long, or waited: a busy machine may be slow."""
        limit, waited = self._campaign.hang_seconds, time.monotonic() - self._since
        if waited <= limit:
            return False
        return _seconds_of_work(self._process.pid) - self._work_before > limit / 2 or (
            waited > 5 * limit
        )

    def stop(self) -> None:
        """End the process and those that it started, and remove its folder."""
        self._process.kill()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid or 0, signal.SIGKILL)
        self._process.join()
        self.pipe.close()
        shutil.rmtree(self._folder, ignore_errors=True)


def _seconds_of_work(pid: int | None) -> float:
    """The processor time that a process and its threads have used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _work(campaign: Campaign, seed: int, folder: str, pipe: Connection) -> None:
    os.setpgid(0, 0)  # so that all it starts can be ended with it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    faulthandler.disable()  # of pytest: a child that dies is an outcome, not a report
    os.chdir(folder)
    try:
        campaign.prepare()
    except (Exception, SystemExit):
        pipe.send((INTERNAL, traceback.format_exc()))
        return
    limit_memory(campaign.memory_bytes)
    pipe.send(PREPARED)
    while True:
        try:
            number = pipe.recv()
        except (EOFError, OSError):
            return
        pipe.send(perform(attempt_of(campaign, seed, number)))


def limit_memory(more: int) -> None:
    """Let this process ask for at most so many bytes beyond what it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def table(outcomes: Sequence[Outcome]) -> str:
    """Campaign, attempts, and how they ended: a row for each campaign."""
    kinds = sorted({kind for o in outcomes for kind in o.counts if kind not in FINE})
    head = ("campaign", "seed", "attempts", *FINE, *kinds)
    rows: list[tuple[Any, ...]] = [
        head,
        *((o.name, o.seed, o.attempts, *(o.counts[k] for k in (*FINE, *kinds))) for o in outcomes),
    ]
    widths = [max(len(str(row[i])) for row in rows) for i in range(len(head))]
    lines = [
        "  ".join(
            str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def report(outcome: Outcome, most: int = 20) -> str:
    """The failures, a few lines for each to repeat it; alike ones once, with how many there are."""
    same_failures: dict[tuple[str, str, str], list[Failure]] = {}
    for failure in outcome.failures:
        key = (failure.kind, failure.attempt.group, failure.detail[-60:])
        same_failures.setdefault(key, []).append(failure)
    parts = []
    for failures in sorted(same_failures.values(), key=len, reverse=True)[:most]:
        one = failures[0]
        parts.append(
            f"# {one.kind}: {one.attempt.group} ({len(failures)} like this)\n"
            f"# {one.detail}\n"
            f"# python -m tests.campaigns {outcome.name} --seed {outcome.seed} "
            f"--only {one.number}\n"
            f"{one.attempt.repeat}"
        )
    if len(same_failures) > most:
        parts.append(f"# and {len(same_failures) - most} more kinds of failure")
    return "\n\n".join(parts)
