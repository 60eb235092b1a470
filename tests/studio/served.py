"""A studio that is served for tests, and a browser's half of its conversation."""

import contextlib
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from websockets.sync.client import ClientConnection, connect

from swarmdp.studio.catalogue import BUILT_IN, Entry
from swarmdp.studio.server import Server, Studio, listen_on

PATIENCE = 120  # seconds until something that never happens is a failure

# Small swarms, so that tests are quick.
ENTRIES = {
    **BUILT_IN,
    "Robots": Entry("tests.examples:Robots"),
    "Sand": Entry("tests.examples:Sand"),
    "Failing": Entry("tests.studio.failing:Failing"),
}


@contextlib.contextmanager
def served(folder: Path) -> Iterator[Studio]:
    """A studio of this folder on a free port."""
    printed: list[str] = []
    with listen_on(0) as where:
        studio = Studio(where.getsockname()[1], folder, lambda: ENTRIES, print_line=printed.append)
        server = Server(studio)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [where]})
        thread.start()
        try:
            yield studio
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            assert not thread.is_alive()


def joined(studio: Studio, **changes: Any) -> ClientConnection:
    """A socket to the studio, as its own page opens it unless something is changed."""
    options: dict[str, Any] = {
        "origin": f"http://127.0.0.1:{studio.port}",
        "subprotocols": ["swarmdp", f"token.{studio.token}"],
        "max_size": None,
        "max_queue": None,
        "open_timeout": PATIENCE,
        "close_timeout": PATIENCE,
        "compression": None,
        **changes,
    }
    opened: ClientConnection = connect(f"ws://127.0.0.1:{studio.port}/socket", **options)
    return opened


class Tab:
    """One tab of a browser that draws every frame at once."""

    def __init__(self, studio: Studio, **changes: Any) -> None:
        self._open = contextlib.ExitStack()
        self.socket = self._open.enter_context(joined(studio, **changes))
        self.frames: list[bytes] = []
        self.heard: list[dict[str, Any]] = []

    def __enter__(self) -> "Tab":
        return self

    def __exit__(self, *reason: object) -> None:
        self._open.close()

    def say(self, kind: str, **entries: Any) -> None:
        self.socket.send(json.dumps({"kind": kind, **entries}))

    def hear(self, *kinds: str, draw: bool = True) -> dict[str, Any]:
        """The next message of one of these kinds; frames that come before it are drawn."""
        while True:
            said = self.socket.recv(PATIENCE)
            if isinstance(said, bytes):
                self.frames.append(said)
                if said[0] == 9:
                    message = {"kind": "file", "data": said}
                else:
                    message = {"kind": "frame", "data": said}
                    if draw:
                        self.say("drawn", frame=int.from_bytes(said[8:12], "little"))
            else:
                message = json.loads(said)
                self.heard.append(message)
                if message["kind"] in ("error", "failed") and message["kind"] not in kinds:
                    raise AssertionError(message["text"])
            if message["kind"] in kinds:
                return message

    def show(self, system: str = "Vicsek", seed: int = 1, **settings: float) -> dict[str, Any]:
        self.say("show", system=system, settings=settings, seed=seed)
        return self.hear("scene", "error")


def step_of(frame: dict[str, Any]) -> int:
    """The time step of a frame."""
    return int.from_bytes(frame["data"][4:8], "little")


def places(frame: dict[str, Any], agents: int) -> np.ndarray[Any, Any]:
    """Where the agents of both swarms are (2, agents, 2), as 16-bit shares."""
    data = frame["data"]
    return np.frombuffer(data, "<u2", 4 * agents, len(data) - 10 * agents).reshape(2, agents, 2)
