"""One tab of a browser: what it says, what it is told, and the swarms that it watches."""

import asyncio
import json
import math
import tempfile
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from starlette.websockets import WebSocketDisconnect

from swarmdp.irl.expectations import feature_expectations
from swarmdp.irl.result import Result
from swarmdp.kernels.runtime import events
from swarmdp.model.rewards import Reward
from swarmdp.model.system import System, class_map
from swarmdp.model.traits import null_action
from swarmdp.model.trajectory import Trajectory
from swarmdp.policies import Controller, LocalPolicy, Policy, selected
from swarmdp.recordings.analysis import Analysis
from swarmdp.recordings.swarm import Swarm
from swarmdp.simulation.rollout import rollout
from swarmdp.studio import messages, planning
from swarmdp.studio.catalogue import Entry, calibrated, expert_of, system_in
from swarmdp.studio.folder import Folder
from swarmdp.studio.knobs import built, knobs_of
from swarmdp.studio.learning import Learning, Wish
from swarmdp.studio.limits import Limit
from swarmdp.studio.script import script_of
from swarmdp.studio.stage import Play, Stage
from swarmdp.support.errors import InvalidInput, SwarmdpError

MOST_UNDRAWN = 2  # frames on their way; a tab that draws slowly misses the others
MOST_JOBS = 32  # that wait
SETTLE_SECONDS = 0.4  # without a stroke, until a painted reward is planned from nothing
GIF_STEPS = (20, 120)  # the shortest and the longest
GIF_NAME = b"swarm.gif"
FILE = 9  # the first byte of a file, where frames have their kind
T = TypeVar("T")
_drawing = threading.Lock()  # Matplotlib's settings are for all threads


class Socket(Protocol):
    """What a session needs of a connection."""

    async def send_text(self, data: str) -> None:
        """Send a text."""

    async def send_bytes(self, data: bytes) -> None:
        """Send bytes."""

    async def close(self, code: int = 1000, reason: str | None = None) -> None:
        """End it."""


@dataclass(eq=False)
class Shown:
    """What a tab looks at: a stage, and what moves its right swarm."""

    stage: Stage
    entry: str  # its system's name in the catalogue
    base: System  # whose settings the sliders change
    given: Mapping[str, float]  # what the sliders were set to
    recording: str | None = None  # the file on the left
    paintable: str = ""  # why its reward cannot be painted; empty if it can
    expert_mu: NDArray[np.float64] | None = None
    weights: tuple[float, ...] | None = None  # painted
    moved_by: str = "nothing"  # "painted", "learned" or "opened"
    opened: str | None = None  # the Python expression of its policy, if that is of a file
    waiting: bool = False  # its swarms rest until the first policy is planned

    @property
    def system(self) -> System:
        """The system."""
        return self.stage.play.system


class Session:
    """The conversation with one tab.

    The event loop never works itself: swarms, planning and fits run in threads, whose kernels
    release the interpreter lock.
    """

    def __init__(
        self,
        socket: Socket,
        entries: Mapping[str, Entry],
        folder: Folder,
        print_line: Callable[[str], None] = print,
    ) -> None:
        self._socket, self._entries, self._folder = socket, dict(entries), folder
        self._print = print_line
        self._loop = asyncio.get_running_loop()
        self._sending = asyncio.Lock()
        self._limit = Limit()
        self._outbox: asyncio.Queue[str | bytes] = asyncio.Queue()
        self._jobs: deque[messages.Message] = deque()
        self._job_came, self._wake, self._stroke = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._shown: Shown | None = None
        self._scenes = 0
        self._playing, self._visible, self._pace = True, True, 0
        self._steps, self._refresh, self._drawn = 0, False, 0
        self._memory: tuple[int, Mapping[str, NDArray[np.float64]]] | None = None
        self._number = 0  # of the newest stroke
        self._learning: Learning | None = None
        self._fitting: asyncio.Task[None] | None = None
        self.dropped = 0  # frames that were not sent since the tab draws slowly

    # The conversation

    async def run(self, receive: Callable[[], Coroutine[Any, Any, str | None]]) -> None:
        """Talk until the tab is gone; `receive` gives its messages, None at the end."""
        tasks = [
            asyncio.create_task(work)
            for work in (self._tell(), self._work(), self._play(), self._plan())
        ]
        try:
            self._say("hello", systems=list(self._entries), folder=self._folder.path.name or "/")
            while (text := await receive()) is not None:
                if self._limit.passes():
                    self._hear(text)
                if self._limit.exceeded:
                    await self._socket.close(1008, "too many messages that make no sense")
                    return
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await self._end_learning()

    def _hear(self, text: str) -> None:
        try:
            message = messages.parsed(text)
        except InvalidInput as error:
            self._limit.strike()
            if self._limit.worth_answering:
                self._say("error", about="message", text=str(error))
            return
        match message:
            case messages.Run(playing):
                self._playing = playing
            case messages.Step():
                self._playing, self._steps = False, min(self._steps + 1, 100)
            case messages.Pace(pace):
                self._pace = pace
            case messages.Visible(visible):
                self._visible = visible
            case messages.Drawn(frame):
                self._drawn = max(self._drawn, frame)
            case messages.Paint():
                self._paint(message)
            case messages.Stop():
                if self._learning is not None:
                    self._learning.stop()
            case messages.Learn() | messages.GoOn():
                self._start_learning(message)
            case _:
                if len(self._jobs) >= MOST_JOBS:
                    self._say(
                        "error", about="busy", text="This is too much at once: wait a moment."
                    )
                    return
                self._jobs.append(message)
                self._job_came.set()
        self._wake.set()

    def _say(self, kind: str, **entries: Any) -> None:
        """Tell the page something; from the event loop only."""
        self._outbox.put_nowait(json.dumps({"kind": kind, **_finite(entries)}, allow_nan=False))

    def _say_from_thread(self, kind: str, **entries: Any) -> None:
        self._loop.call_soon_threadsafe(lambda: self._say(kind, **entries))

    async def _tell(self) -> None:
        while True:
            await self._send(await self._outbox.get())

    async def _send(self, what: str | bytes) -> None:
        async with self._sending:
            try:
                if isinstance(what, bytes):
                    await self._socket.send_bytes(what)
                else:
                    await self._socket.send_text(what)
            except (WebSocketDisconnect, RuntimeError, OSError):
                await asyncio.Event().wait()  # the tab is gone: `run` is about to end this task

    # What takes a while, one after the other

    async def _work(self) -> None:
        while True:
            await self._job_came.wait()
            while self._jobs:
                job = self._jobs.popleft()
                if isinstance(job, messages.Show) and any(
                    isinstance(later, messages.Show) for later in self._jobs
                ):
                    continue  # a slider that is still being dragged
                await self._do(job)
            self._job_came.clear()

    async def _do(self, job: messages.Message) -> None:
        about = type(job).__name__.lower()
        try:
            match job:
                case messages.Show():
                    await self._show(job)
                case messages.Restart(seed):
                    if self._shown is not None:
                        await asyncio.to_thread(self._shown.stage.restart, seed)
                        self._refresh = True
                        self._say("restarted", seed=seed)
                case messages.List():
                    self._say("list", entries=await asyncio.to_thread(self._folder.listed))
                case messages.Open(name):
                    await self._open(name)
                case messages.Save(what, name):
                    saved = await asyncio.to_thread(self._save, what, name)
                    self._say("saved", name=saved)
                    self._say("list", entries=await asyncio.to_thread(self._folder.listed))
                case messages.Script():
                    self._say("script", text=await asyncio.to_thread(self._script))
                case messages.Gif():
                    data = await asyncio.to_thread(self._gif)
                    self._outbox.put_nowait(bytes([FILE, len(GIF_NAME)]) + GIF_NAME + data)
        except SwarmdpError as error:
            self._say("error", about=about, text=_told(error))
        except Exception as error:  # of a system of the user's own
            traceback.print_exc()
            self._say("error", about=about, text=_unexpected(error))
        self._wake.set()

    async def _show(self, wanted: messages.Show) -> None:
        if wanted.system not in self._entries:
            raise InvalidInput(
                f"there is no system {wanted.system!r} here, but: {', '.join(self._entries)}"
            )
        before = self._shown
        keep = before is not None and before.entry == wanted.system and before.recording is None
        entry = self._entries[wanted.system]

        def make() -> Shown:
            base = before.base if keep and before is not None else entry.made()
            system = built(type(base), wanted.settings, base)
            left: Controller | Trajectory = entry.recording or expert_of(system)
            return self._staged(
                wanted.system, base, wanted.settings, Play(system, left, wanted.seed)
            )

        shown = await self._compiling(make)
        if keep and before is not None and before.stage.policy.kind == "table":
            _keep_policy(before, shown)
        await self._put_on(shown)

    def _staged(self, entry: str, base: System, given: Mapping[str, float], play: Play) -> Shown:
        """A new scene, in a thread."""
        self._scenes += 1
        why, mu = "", None
        try:
            planning.check_paintable(play.system)
        except InvalidInput as error:
            why = str(error)
        policy: Controller
        if why:
            policy = expert_of(play.system)
        else:
            nothing = null_action(play.system)
            policy = Policy(np.full(class_map(play.system).size, nothing))
            mu = _expert_mu(play)
        stage = Stage(play, policy, self._scenes)
        stage.advance()  # compiles what moves it
        stage.restart(play.seed)
        return Shown(stage, entry, base, given, paintable=why, expert_mu=mu)

    async def _compiling(self, work: Callable[[], T]) -> T:
        """Do the work in a thread, telling which kernels it waits for."""

        def watched() -> T:
            with events.watched(lambda name: self._say_from_thread("compiling", name=name)):
                return work()

        return await asyncio.to_thread(watched)

    async def _put_on(self, shown: Shown) -> None:
        """Show a new scene instead of the one before."""
        same = self._shown is not None and _features(self._shown) == _features(shown)
        if self._shown is None or not same or self._shown.recording != shown.recording:
            await self._end_learning()
        if not same:
            self._memory = None
        self._shown, self._drawn = shown, 0
        self._pace = 0
        self._say("scene", **self._described(shown))
        if shown.moved_by in ("nothing", "painted") and not shown.paintable:
            self._number += 1
            shown.waiting = shown.moved_by == "nothing"
            self._stroke.set()
        self._refresh = True
        self._wake.set()

    def _described(self, shown: Shown) -> dict[str, Any]:
        now = {knob.name: knob.value for knob in knobs_of(shown.system)}
        knobs = [{**asdict(k), "value": now.get(k.name, k.value)} for k in knobs_of(shown.base)]
        blocks = [[_axis(axis.shown) for axis in block] for block in shown.system.features.blocks]
        if shown.weights is None and shown.expert_mu is not None:
            shown.weights = tuple(_rounded(shown.expert_mu / max(shown.expert_mu.max(), 1e-12)))
        mirrored = not shown.paintable and planning.mirrored_weights(shown.system)
        return {
            **shown.stage.described(),
            "entry": shown.entry,
            "knobs": knobs,
            "given": dict(shown.given),
            "blocks": [] if shown.paintable else blocks,
            "mirror": mirrored or None,
            "why": shown.paintable,
            "weights": shown.weights,
            "expert": None if shown.expert_mu is None else shown.expert_mu.tolist(),
            "recording": shown.recording,
            "moved_by": shown.moved_by,
            "planned_with": planning.small(shown.system).n_agents,
        }

    async def _open(self, name: str) -> None:
        found = await asyncio.to_thread(self._folder.open, name)
        seed = 1 if self._shown is None else self._shown.stage.seed

        def make() -> Shown:
            if isinstance(found, Swarm | Analysis):
                return self._calibrated(found, name, seed)
            entry, system = system_in(found, self._entries)
            if isinstance(found, Result):
                left = self._entries[entry].recording or expert_of(system)
                shown = self._staged(entry, system, {}, Play(system, left, seed))
                shown.weights = tuple(found.reward.weights[0].tolist())
                shown.stage.follow(selected(found.policy, slice(0, 1)))
                shown.stage.collect(Reward(found.reward.weights[:1]))
                shown.moved_by = "opened"
                shown.opened = f"swarmdp.load({self._where(name)!r}).policy"
                return shown
            shown = self._staged(entry, system, {}, Play(system, found.only(0), seed))
            shown.recording = name
            return shown

        shown = await self._compiling(make)
        await self._put_on(shown)
        facts: dict[str, Any] = {}
        if isinstance(found, Result):
            error = found.reward_error
            facts = {
                "distance": float(found.distance[0]),
                "error": None
                if error is None or not np.isfinite(error[0]).all()
                else error[0].tolist(),
                "verdict": found.verdicts[0].words if found.verdicts else "",
                "experiments": found.experiments,
            }
        elif isinstance(found, Analysis) and found.verdict is not None:
            facts = {"verdict": found.verdict.words}
        kinds = {Result: "fit", Trajectory: "trajectory", Swarm: "swarm", Analysis: "analysis"}
        self._say("opened", name=name, what=kinds[type(found)], **facts)

    def _calibrated(self, found: Swarm | Analysis, name: str, seed: int) -> Shown:
        """A swarm made from tracks beside its recording, and what an analysis learned of it."""
        source = f"swarmdp.load({self._where(name)!r})"
        whole = isinstance(found, Analysis)
        system = found.swarm if isinstance(found, Analysis) else found
        entry = calibrated(system, f"{source}.swarm" if whole else source)
        assert entry.recording is not None
        self._entries[name] = entry
        shown = self._staged(name, system, {}, Play(system, entry.recording, seed))
        if isinstance(found, Analysis):
            shown.weights = tuple(found.result.reward.weights[0].tolist())
            shown.stage.follow(found.controller)
            shown.stage.collect(Reward(shown.weights))
            shown.moved_by, shown.opened = "opened", f"{source}.controller"
        return shown

    def _save(self, what: str, name: str) -> str:
        if what == "fit":
            learning = self._learning
            found = None if learning is None else learning.kept()
            if learning is None or found is None:
                raise InvalidInput("there is no fit to be kept yet: learn one first")
            saved = self._folder.save(name, found)
            learning.saved = True
            return saved
        return self._folder.save(name, self._trajectories()[what])

    def _trajectories(self, most: int | None = None) -> dict[str, Trajectory]:
        """What is seen, from the start to now: with the same seed the swarms do the same again."""
        shown = self._on_stage()
        stage = shown.stage
        steps = stage.step if most is None else min(max(stage.step, GIF_STEPS[0]), most)
        left = stage.play.left
        started = stage.play.started

        def rolled(policy: Controller) -> Trajectory:
            return rollout(started, policy, steps=steps, seed=stage.seed, threads=1, progress=False)

        if isinstance(left, Trajectory):
            steps = min(steps, left.steps)
        shown_left = left.until(steps) if isinstance(left, Trajectory) else rolled(left)
        return {"left": shown_left, "right": rolled(stage.policy)}

    def _gif(self) -> bytes:
        from swarmdp.report.animation import write_gif
        from swarmdp.report.scenes import Scene

        shown = self._on_stage()
        both = self._trajectories(GIF_STEPS[1])
        labels = {"left": shown.stage.described()["left"], "right": shown.moved_by}
        scene = Scene(shown.system, {labels[side]: swarm for side, swarm in both.items()})
        with tempfile.TemporaryDirectory() as folder, _drawing:
            path = Path(folder) / "swarm.gif"
            write_gif(path, scene, min(scene.steps_per_second, shown.stage.fastest))
            return path.read_bytes()

    def _script(self) -> str:
        shown, learning = self._on_stage(), self._learning
        learned = shown.moved_by == "learned" and learning is not None
        return script_of(
            shown.system,
            entry=self._entries[shown.entry],
            seed=shown.stage.seed,
            steps=shown.stage.step,
            recording=self._where(shown.recording),
            weights=shown.weights if shown.moved_by == "painted" else None,
            wish=learning.wish if learned and learning is not None else None,
            done=len(learning.done) if learning is not None else 0,
            policy=shown.opened if shown.moved_by == "opened" else None,
        )

    def _where(self, name: str | None) -> str | None:
        return None if name is None else str(self._folder.path / name)

    def _on_stage(self) -> Shown:
        if self._shown is None:
            raise InvalidInput("there is no swarm yet: choose a system first")
        return self._shown

    # The swarms, moved on at their pace

    async def _play(self) -> None:
        due = time.monotonic()
        while True:
            self._wake.clear()
            shown = self._shown
            moving = (self._playing or self._steps > 0) and not (shown and shown.waiting)
            behind = shown is not None and self._refresh and self._room(shown.stage)
            if shown is None or not self._visible or not (moving or behind):
                await self._wake.wait()
                due = time.monotonic()
                continue
            try:
                await self._step(shown, moving)
            except Exception as error:  # of a system of the user's own
                self._playing, self._steps = False, 0
                if not isinstance(error, SwarmdpError):
                    traceback.print_exc()
                words = _told(error) if isinstance(error, SwarmdpError) else _unexpected(error)
                self._say("failed", text=words)
            pace = min(self._pace or shown.stage.usual, shown.stage.fastest)
            now = time.monotonic()
            due = max(due + 1 / pace, now)
            if due > now and self._playing:
                await asyncio.sleep(due - now)

    async def _step(self, shown: Shown, moving: bool) -> None:
        stage = shown.stage
        # Both before the work starts: what is asked for meanwhile is done after it, not forgotten.
        self._refresh = False
        if moving:
            self._steps = max(0, self._steps - 1)

        def work() -> tuple[bool, bytes | None]:
            moved = stage.advance() if moving else True
            return moved, stage.frame() if self._room(stage) else None

        moved, frame = await asyncio.to_thread(work)
        if not moved:
            self._playing, self._steps = False, 0
            self._say("over", steps=stage.step)
        if frame is None:
            self.dropped += 1
            self._refresh = True  # the last one must arrive
            return
        await self._send(frame)

    def _room(self, stage: Stage) -> bool:
        return stage.frames_made - self._drawn < MOST_UNDRAWN

    # Painted rewards, the newest only

    def _paint(self, stroke: messages.Paint) -> None:
        shown = self._shown
        if shown is None or shown.paintable:
            return
        count = sum(int(np.prod([len(a.values) for a in b])) for b in shown.system.features.blocks)
        if len(stroke.weights) != count:
            text = f"the reward must have {count} weights, got {len(stroke.weights)}"
            self._say("error", about="paint", text=text)
            return
        shown.weights, shown.moved_by, shown.opened = stroke.weights, "painted", None
        self._number = stroke.number
        self._stroke.set()

    async def _plan(self) -> None:
        while True:
            await self._stroke.wait()
            self._stroke.clear()
            shown = self._shown
            if shown is None or shown.weights is None:
                continue
            quick = self._memory is not None and self._memory[0] % 4 != 3
            await self._planned(shown, quick)
            if quick:
                # The policy that stays depends on the reward alone, not on how it was painted.
                try:
                    await asyncio.wait_for(self._stroke.wait(), SETTLE_SECONDS)
                except TimeoutError:
                    await self._planned(shown, quick=False)

    async def _planned(self, shown: Shown, quick: bool) -> None:
        weights, number = shown.weights, self._number
        assert weights is not None
        memory = self._memory[1] if quick and self._memory is not None else None

        def work() -> planning.Planned:
            array = np.array(weights)
            found = planning.plan_painted(shown.system, array, shown.expert_mu, memory)
            if shown.weights == weights and shown.moved_by in ("nothing", "painted"):
                shown.stage.follow(found.policy)
                shown.stage.collect(Reward(array))
                if shown.waiting:
                    shown.stage.restart(shown.stage.seed)  # measures this reward from the start
                    self._refresh = True
                shown.moved_by = "painted"
            return found

        try:
            found = await self._compiling(work)
        except SwarmdpError as error:
            self._say("error", about="paint", text=_told(error))
            return
        except Exception as error:  # of a system of the user's own
            traceback.print_exc()
            self._say("error", about="paint", text=_unexpected(error))
            return
        finally:
            shown.waiting = False
            self._wake.set()
        self._memory = (0 if self._memory is None else self._memory[0] + 1, found.memory)
        if shown is not self._shown:
            return
        self._say(
            "planned",
            number=number,
            step=shown.stage.step,
            visited=None if found.visited is None else found.visited.tolist(),
            value=found.value,
            expert=None if np.isnan(found.expert_value) else found.expert_value,
            best=found.best,
            settled=not quick,
        )

    # Fits

    def _start_learning(self, message: messages.Learn | messages.GoOn) -> None:
        shown = self._shown
        if shown is None:
            return
        if self._fitting is not None:
            self._say("error", about="learn", text="A fit is running already: stop it first.")
            return
        if isinstance(message, messages.Learn):
            wish = Wish(message.seed, message.iterations, message.errors)
            self._learning = Learning(shown.stage.play, wish)
        if self._learning is None:
            self._say("error", about="learn", text="There is no fit to go on with: start one.")
            return
        self._learning.go_on()
        shown.moved_by, shown.opened = "learned", None
        self._fitting = asyncio.create_task(self._learn(self._learning, shown))

    async def _learn(self, learning: Learning, shown: Shown) -> None:
        def say(told: dict[str, Any]) -> None:
            if "weights" in told and shown.moved_by == "learned":
                shown.weights = tuple(told["weights"])
                shown.stage.collect(Reward(told["weights"]))
            self._say_from_thread("learning", **told)

        def follow(policy: LocalPolicy) -> None:
            now = self._shown  # sliders may have changed the swarm meanwhile
            if now is not None and now.moved_by == "learned":
                now.stage.follow(policy)

        try:
            last = await self._compiling(lambda: learning.run(say, follow))
        except SwarmdpError as error:
            last = {"phase": "failed", "text": _told(error)}
        except Exception as error:  # of a system of the user's own
            traceback.print_exc()
            last = {"phase": "failed", "text": _unexpected(error)}
        self._fitting = None  # before the end is told: the next one may start at once
        if last:
            if "weights" in last and shown.moved_by == "learned":
                shown.weights = tuple(last["weights"])
            self._say("learning", **last)

    async def _end_learning(self) -> None:
        """Stop the fit; what nobody has saved is kept under a name of its own."""
        learning, self._learning = self._learning, None
        if learning is None:
            return
        learning.abandon()
        if (fitting := self._fitting) is not None:
            await asyncio.gather(fitting, return_exceptions=True)
        found = None if learning.saved else learning.kept()
        if found is not None:
            name = self._folder.free_name("unsaved-fit")
            try:
                await asyncio.to_thread(self._folder.save, name, found)
            except SwarmdpError as error:
                self._print(f"a fit could not be kept: {_told(error)}")
                return
            learning.saved = True
            self._jobs.append(messages.List())
            self._job_came.set()
            self._print(f"a fit that was not saved is kept in {self._folder.path / name}")


def _keep_policy(before: Shown, after: Shown) -> None:
    """Let the new swarm follow what moved the one before, if it can."""
    if _features(before) != _features(after):
        return
    after.weights, after.opened = before.weights, before.opened
    try:
        after.stage.follow(before.stage.policy)
    except InvalidInput:
        return
    after.moved_by = before.moved_by
    if before.weights is not None:
        after.stage.collect(Reward(before.weights))


def _features(shown: Shown) -> tuple[str, Any]:
    blocks = shown.system.features.blocks
    return shown.entry, [[axis.to_json() for axis in block] for block in blocks]


def _expert_mu(play: Play) -> NDArray[np.float64]:
    if isinstance(play.left, Trajectory):
        discount = planning.DISCOUNT
        found = feature_expectations(play.system, play.left, discount=discount)
        mean: NDArray[np.float64] = found.mean(axis=0) * (1 - discount)
        return mean
    return planning.expectations(planning.small(play.system), play.left)


def _axis(axis: Any) -> dict[str, Any]:
    return {**axis.to_json(), "label": axis.label}


def _rounded(weights: NDArray[np.float64]) -> list[float]:
    return [float(f"{weight:.3g}") for weight in weights]


def _finite(plain: Any) -> Any:
    """Plain data in which what is no number is None, as browsers read no other."""
    if isinstance(plain, dict):
        return {name: _finite(value) for name, value in plain.items()}
    if isinstance(plain, list | tuple):
        return [_finite(value) for value in plain]
    return None if isinstance(plain, float) and not math.isfinite(plain) else plain


def _told(error: BaseException) -> str:
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return str(text).split("\n")[0]


def _unexpected(error: BaseException) -> str:
    return f"Something went wrong: {type(error).__name__}: {error!s:.300}. The terminal tells more."
