"""One tab of a browser: it reads the tab's messages, and plays, plans, learns and answers.

The event loop never works itself: swarms, planning and fits run in threads, whose kernels release
the interpreter lock.
"""

import asyncio
import time
import traceback
from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np
from starlette.websockets import WebSocketDisconnect

from swarmdp.kernels.runtime import events
from swarmdp.model.rewards import Reward
from swarmdp.model.system import feature_count
from swarmdp.policies import LocalPolicy
from swarmdp.studio import messages, planning
from swarmdp.studio.catalogue import Entry
from swarmdp.studio.folder import Folder
from swarmdp.studio.keeping import gif_of, trajectories_of
from swarmdp.studio.learning import StudioFit
from swarmdp.studio.limits import MessageLimit
from swarmdp.studio.scene import SceneMaker, StudioScene, opened_facts
from swarmdp.studio.script import script_of
from swarmdp.studio.stage import StudioStage
from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput, SwarmdpError

_MOST_UNDRAWN = 2  # frames on their way; a tab that draws slowly misses the others
_MOST_JOBS = 32  # that wait
_SETTLE_SECONDS = 0.4  # without a stroke, until a painted reward is planned from nothing
_FILE_MARK = 9  # the first byte of a file, where frames have their kind
_T = TypeVar("_T")


class Socket(Protocol):
    """What a session needs of a connection."""

    async def send_text(self, data: str) -> None:
        """Send a text."""

    async def send_bytes(self, data: bytes) -> None:
        """Send bytes."""

    async def close(self, code: int = 1000, reason: str | None = None) -> None:
        """End it."""


class Session:
    """The conversation with one tab."""

    def __init__(
        self,
        socket: Socket,
        entries: Mapping[str, Entry],
        folder: Folder,
        print_line: Callable[[str], None] = print,
    ) -> None:
        self._socket, self._folder, self._print = socket, folder, print_line
        self._maker = SceneMaker(entries, folder.path)
        self._loop = asyncio.get_running_loop()
        self._sending = asyncio.Lock()
        self._limit = MessageLimit()
        self._outbox: asyncio.Queue[str | bytes] = asyncio.Queue()
        self._jobs: deque[messages.Message] = deque()
        self._job_came, self._wake, self._stroke = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._scene: StudioScene | None = None
        self._playing, self._visible, self._pace = True, True, 0
        self._steps, self._refresh, self._drawn = 0, False, 0
        self._plans = 0  # for the features of the scene
        self._memory: Mapping[str, Floats] | None = None  # of the latest of them
        self._number = 0  # of the newest stroke
        self._fit: StudioFit | None = None
        self._fitting: asyncio.Task[None] | None = None
        self.closed_by_user = False  # rather than by a lost connection or the end of the studio
        self.dropped = 0  # frames that were not sent since the tab draws slowly

    # The conversation

    async def run(self, receive: Callable[[], Coroutine[Any, Any, str | None]]) -> None:
        """Talk until the tab is gone; `receive` gives its messages, None at the end."""
        tasks = [
            asyncio.create_task(work)
            for work in (self._deliver(), self._work(), self._play(), self._plan())
        ]
        try:
            systems = list(self._maker.entries)
            self._say("hello", systems=systems, folder=self._folder.path.name or "/")
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
            await self._end_fit(keep=not self.closed_by_user)

    def _hear(self, text: str) -> None:
        try:
            message = messages.parse_message(text)
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
                if self._fit is not None:
                    self._fit.stop()
            case messages.Learn() | messages.GoOn():
                self._start_fit(message)
            case _:
                if len(self._jobs) >= _MOST_JOBS:
                    self._say(
                        "error", about="busy", text="This is too much at once: wait a moment."
                    )
                    return
                self._jobs.append(message)
                self._job_came.set()
        self._wake.set()

    def _say(self, kind: str, **entries: Any) -> None:
        """Send the page a message; from the event loop only."""
        self._outbox.put_nowait(messages.message_text(kind, **entries))

    def _say_from_thread(self, kind: str, **entries: Any) -> None:
        self._loop.call_soon_threadsafe(lambda: self._say(kind, **entries))

    async def _deliver(self) -> None:
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
        try:
            match job:
                case messages.Show():
                    await self._show(job)
                case messages.Restart(seed):
                    if self._scene is not None:
                        await asyncio.to_thread(self._scene.stage.restart, seed)
                        self._refresh = True
                        self._say("restarted", seed=seed)
                case messages.List():
                    await self._list()
                case messages.Open(name):
                    await self._open(name)
                case messages.Save(what, name):
                    self._say("saved", name=await asyncio.to_thread(self._save, what, name))
                    await self._list()
                case messages.Script():
                    self._say("script", text=await asyncio.to_thread(self._script))
                case messages.Gif():
                    data = await asyncio.to_thread(lambda: gif_of(self._current_scene()))
                    self._give(b"swarm.gif", data)
                case messages.Page():
                    self._give(b"swarm.html", await asyncio.to_thread(self._page))
        except Exception as error:
            self._say("error", about=type(job).__name__.lower(), text=_in_words(error))
        self._wake.set()

    async def _show(self, message: messages.Show) -> None:
        before = self._scene
        if before is not None and (before.entry != message.system or before.recording is not None):
            before = None
        scene = await self._compiling(
            lambda: self._maker.from_system(message.system, message.settings, message.seed, before)
        )
        if before is not None and before.stage.policy.kind == "table":
            scene.take_over(before)
        await self._put_on(scene)

    async def _open(self, name: str) -> None:
        opened = await asyncio.to_thread(self._folder.open, name)
        seed = 1 if self._scene is None else self._scene.stage.seed
        await self._put_on(await self._compiling(lambda: self._maker.from_file(name, opened, seed)))
        self._say("opened", name=name, **opened_facts(opened))

    async def _compiling(self, work: Callable[[], _T]) -> _T:
        """Do the work in a thread; the page shows which kernels it waits for."""

        def watch() -> _T:
            with events.watched(lambda name: self._say_from_thread("compiling", name=name)):
                return work()

        return await asyncio.to_thread(watch)

    async def _put_on(self, scene: StudioScene) -> None:
        """Show a new scene instead of the one before."""
        before = self._scene
        same = before is not None and before.has_features_of(scene)
        if before is None or not same or before.recording != scene.recording:
            await self._end_fit()
        if not same:
            self._plans, self._memory = 0, None
        self._scene, self._drawn, self._pace = scene, 0, 0
        if scene.weights is None:
            scene.weights = scene.expert_weights
        self._say("scene", **scene.description())
        if scene.moved_by in ("nothing", "painted") and not scene.not_paintable:
            self._number += 1
            scene.waiting = scene.moved_by == "nothing"
            self._stroke.set()
        self._refresh = True
        self._wake.set()

    async def _list(self) -> None:
        self._say("list", entries=await asyncio.to_thread(self._folder.entries))

    def _save(self, what: str, name: str) -> str:
        if what != "fit":
            return self._folder.save(name, trajectories_of(self._current_scene())[what])
        fit = self._fit
        result = None if fit is None else fit.result_so_far()
        if fit is None or result is None:
            raise InvalidInput("there is no fit to be kept yet: learn one first")
        saved = self._folder.save(name, result)
        fit.saved = True
        return saved

    def _give(self, name: bytes, content: bytes) -> None:
        """Send a file that the browser downloads."""
        self._outbox.put_nowait(bytes([_FILE_MARK, len(name)]) + name + content)

    def _page(self) -> bytes:
        from swarmdp.studio.export import own_reward, page_of

        scene = self._current_scene()
        result = None if self._fit is None else self._fit.result
        return page_of(scene, own_reward(scene, result)).encode()

    def _script(self) -> str:
        scene = self._current_scene()
        recording = None if scene.recording is None else str(self._folder.path / scene.recording)
        return script_of(scene, self._maker.entries[scene.entry], self._fit, recording)

    def _current_scene(self) -> StudioScene:
        if self._scene is None:
            raise InvalidInput("there is no swarm yet: choose a system first")
        return self._scene

    # The swarms, moved on at their pace

    async def _play(self) -> None:
        due = time.monotonic()
        while True:
            self._wake.clear()
            scene = self._scene
            moving = (self._playing or self._steps > 0) and not (scene and scene.waiting)
            behind = scene is not None and self._refresh and self._room(scene.stage)
            if scene is None or not self._visible or not (moving or behind):
                await self._wake.wait()
                due = time.monotonic()
                continue
            try:
                await self._step(scene.stage, moving)
            except Exception as error:
                self._playing, self._steps = False, 0
                self._say("failed", text=_in_words(error))
            pace = min(self._pace or scene.stage.usual, scene.stage.fastest)
            now = time.monotonic()
            due = max(due + 1 / pace, now)
            if due > now and self._playing:
                await asyncio.sleep(due - now)

    async def _step(self, stage: StudioStage, moving: bool) -> None:
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

    def _room(self, stage: StudioStage) -> bool:
        return stage.frames_made - self._drawn < _MOST_UNDRAWN

    # Painted rewards, the newest only

    def _paint(self, stroke: messages.Paint) -> None:
        scene = self._scene
        if scene is None or scene.not_paintable:
            return
        count = feature_count(scene.system)
        if len(stroke.weights) != count:
            text = f"the reward must have {count} weights, got {len(stroke.weights)}"
            self._say("error", about="paint", text=text)
            return
        scene.weights, scene.moved_by, scene.opened = stroke.weights, "painted", None
        self._number = stroke.number
        self._stroke.set()

    async def _plan(self) -> None:
        while True:
            await self._stroke.wait()
            self._stroke.clear()
            scene = self._scene
            if scene is None or scene.weights is None:
                continue
            quick = self._plans % 4 != 0
            await self._plan_once(scene, scene.weights, quick)
            if quick:
                # The policy that stays depends on the reward alone, not on how it was painted.
                try:
                    await asyncio.wait_for(self._stroke.wait(), _SETTLE_SECONDS)
                except TimeoutError:
                    await self._plan_once(scene, scene.weights, quick=False)

    async def _plan_once(self, scene: StudioScene, weights: tuple[float, ...], quick: bool) -> None:
        number, memory = self._number, self._memory if quick else None

        def work() -> planning.Planned:
            array = np.array(weights)
            planned = planning.plan_painted(scene.system, array, scene.expert_mu, memory)
            if scene.weights == weights and scene.moved_by in ("nothing", "painted"):
                scene.stage.follow(planned.policy)
                scene.stage.collect(Reward(array))
                if scene.waiting:
                    scene.stage.restart(scene.stage.seed)  # measures this reward from the start
                    self._refresh = True
                scene.moved_by = "painted"
            return planned

        try:
            planned = await self._compiling(work)
        except Exception as error:
            self._say("error", about="paint", text=_in_words(error))
            return
        finally:
            scene.waiting = False
            self._wake.set()
        self._plans, self._memory = self._plans + 1, planned.memory
        if scene is not self._scene:
            return
        self._say(
            "planned",
            number=number,
            step=scene.stage.step,
            visited=None if planned.visited is None else planned.visited.tolist(),
            value=planned.value,
            expert=planned.expert_value,
            best=planned.best,
            settled=not quick,
        )

    # Fits

    def _start_fit(self, message: messages.Learn | messages.GoOn) -> None:
        scene = self._scene
        if scene is None:
            return
        if self._fitting is not None:
            self._say("error", about="learn", text="A fit is running already: stop it first.")
            return
        if isinstance(message, messages.Learn):
            self._fit = StudioFit(scene.stage.play, message)
        if self._fit is None:
            self._say("error", about="learn", text="There is no fit to go on with: start one.")
            return
        self._fit.go_on()
        scene.moved_by, scene.opened = "learned", None
        self._fitting = asyncio.create_task(self._learn(self._fit, scene))

    async def _learn(self, fit: StudioFit, scene: StudioScene) -> None:
        def report(facts: dict[str, Any]) -> None:
            if "weights" in facts and scene.moved_by == "learned":
                scene.weights = tuple(facts["weights"])
                scene.stage.collect(Reward(facts["weights"]))
            self._say_from_thread("learning", **facts)

        def follow(policy: LocalPolicy) -> None:
            now = self._scene  # sliders may have changed the swarm meanwhile
            if now is not None and now.moved_by == "learned":
                now.stage.follow(policy)

        try:
            last = await self._compiling(lambda: fit.run(report, follow))
        except Exception as error:
            last = {"phase": "failed", "text": _in_words(error)}
        self._fitting = None  # before the page hears of the end: the next one may start at once
        if last:
            if "weights" in last and scene.moved_by == "learned":
                scene.weights = tuple(last["weights"])
            self._say("learning", **last)

    async def _end_fit(self, keep: bool = True) -> None:
        """Stop the fit; if it was not saved, it is kept under a new name.

        Not if its tab was closed: the page has asked before.
        """
        fit, self._fit = self._fit, None
        if fit is None:
            return
        fit.abandon()
        if (fitting := self._fitting) is not None:
            await asyncio.gather(fitting, return_exceptions=True)
        result = None if fit.saved or not keep else fit.result_so_far()
        if result is not None:
            try:
                name = await asyncio.to_thread(self._folder.save_new, "unsaved-fit", result)
            except SwarmdpError as error:
                self._print(f"a fit could not be kept: {_in_words(error)}")
                return
            fit.saved = True
            self._jobs.append(messages.List())
            self._job_came.set()
            self._print(f"a fit that was not saved is kept in {self._folder.path / name}")


def _in_words(error: Exception) -> str:
    """What the page says of an error; one of a user's own system is printed here as well."""
    if isinstance(error, SwarmdpError):
        text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return str(text).split("\n")[0]
    traceback.print_exception(error)
    return f"Something went wrong: {type(error).__name__}: {error!s:.300}. The terminal tells more."
