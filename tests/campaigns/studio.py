"""Sockets and messages against a studio that is at work: afterwards it serves its page as before.

Connections that say nothing or half of it, heads that are damaged, wrong tokens and origins,
messages of every kind with wrong values, and tabs that save under one name at once.
"""

import contextlib
import http.client
import json
import random
import socket
import string
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from swarmdp.studio.connections import MOST_CONNECTIONS
from swarmdp.studio.messages import MESSAGE_KINDS
from swarmdp.studio.server import Server, Studio, listen_on
from tests.campaigns.framework import ACCEPTED, Attempt, Campaign
from tests.studio.served import ENTRIES, Tab, joined

SILENT = "the page is not served"
LOST = "two were told that they saved under one name"
OPENED = "a stranger was let in"
NOISE = "it printed something"
SECONDS = 60
RIGHT: dict[str, dict[str, Any]] = {
    "show": {"system": "Vicsek", "settings": {"n_agents": 10}, "seed": 1},
    "run": {"playing": False},
    "pace": {"pace": 5},
    "restart": {"seed": 2},
    "visible": {"visible": True},
    "drawn": {"frame": 1},
    "paint": {"weights": [0.5] * 36, "number": 1},
    "open": {"name": "one.nc"},
    "save": {"what": "left", "name": "one"},
    "learn": {"seed": 1, "iterations": 1, "errors": False},
}
VALUES: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**70,
    1e400,
    "",
    "../x",
    "\0",
    "x" * 5000,
    [],
    {},
    [[]],
    [None] * 99,
)
running: dict[str, Any] = {}


def prepare() -> None:
    """Start a studio in a thread; it ends with the process."""
    where = listen_on(0)
    printed: list[str] = []
    folder = Path("folder").resolve()
    folder.mkdir()
    studio = Studio(where.getsockname()[1], folder, lambda: ENTRIES, print_line=printed.append)
    server = Server(studio)
    threading.Thread(target=server.run, kwargs={"sockets": [where]}, daemon=True).start()
    tab = Tab(studio)
    tab.show(n_agents=10)
    running.update(studio=studio, tab=tab, printed=printed)


def page() -> bool:
    """Whether the page is served."""
    studio = running["studio"]
    connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=SECONDS)
    try:
        connection.request("GET", "/", headers={"Host": f"127.0.0.1:{studio.port}"})
        answer = connection.getresponse()
        return answer.status == 200 and b"swarmdp" in answer.read()
    finally:
        connection.close()


def half_open(rng: random.Random) -> str:
    """Connections that never say what they want."""
    count = rng.choice([1, 10, MOST_CONNECTIONS, 3 * MOST_CONNECTIONS])
    heads = (b"", b"G", b"GET / HTTP/1.1\r\nHost: 127.0.0.1", b"GET /socket HTTP/1.1\r\nUpgrade:")
    with contextlib.ExitStack() as opened:
        for _ in range(count):
            one = socket.create_connection(("127.0.0.1", running["studio"].port), SECONDS)
            opened.enter_context(one)
            with contextlib.suppress(OSError):
                one.sendall(rng.choice(heads))
        return ACCEPTED if page() else SILENT


def damaged_head(rng: random.Random) -> str:
    """A request with bytes changed, or with a body that has no end."""
    port = running["studio"].port
    head = (
        f"GET /socket HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: Upgrade\r\n"
        "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
        f"Origin: http://127.0.0.1:{port}\r\nSec-WebSocket-Protocol: swarmdp, token.x\r\n\r\n"
    ).encode()
    changed = bytearray(head)
    for _ in range(rng.randint(1, 10)):
        match rng.randrange(3):
            case 0:
                changed[rng.randrange(len(changed))] = rng.randrange(256)
            case 1:
                start = rng.randrange(len(changed))
                del changed[start : start + rng.randint(1, 20)]
            case 2:
                start = rng.randrange(len(changed))
                changed[start:start] = rng.choice(
                    [b"\r\n", b"\0", b"A" * 9000, b"Content-Length: 9"]
                )
        changed = changed or bytearray(b"\n")
    with socket.create_connection(("127.0.0.1", port), SECONDS) as one:
        one.settimeout(0.2)
        with contextlib.suppress(OSError):
            one.sendall(bytes(changed))
            if b" 101 " in one.recv(200)[:20]:
                return OPENED
    return ACCEPTED


def stranger(rng: random.Random) -> str:
    """A socket with another token, origin or host."""
    studio = running["studio"]
    token = list(studio.token)
    token[rng.randrange(len(token))] = rng.choice(string.ascii_letters)
    wrong = "".join(token)
    if wrong == studio.token:
        return ACCEPTED
    changes: dict[str, Any] = rng.choice(
        [
            {"subprotocols": ["swarmdp", f"token.{wrong}"]},
            {"subprotocols": ["swarmdp", f"token.{studio.token[:-1]}"]},
            {"subprotocols": [f"token.{studio.token}"]},
            {"origin": "http://evil.example"},
            {"origin": f"http://127.0.0.1:{studio.port + 1}"},
            {"additional_headers": {"Host": "evil.example"}},
        ]
    )
    try:
        with joined(studio, **changes):
            return OPENED
    except (InvalidHandshake, InvalidMessage, ConnectionClosed, OSError):
        return ACCEPTED


def message(rng: random.Random) -> str:
    """Some messages with wrong values, between right ones."""
    with contextlib.suppress(ConnectionClosed), joined(running["studio"]) as one:
        for _ in range(rng.randint(1, 30)):
            kind = rng.choice(list(MESSAGE_KINDS))
            entries = dict(RIGHT.get(kind, {}))
            if kind == "learn" and rng.random() < 0.9:
                entries["iterations"] = 0  # otherwise there would be nothing but fits
            for name in list(entries):
                if rng.random() < 0.4:
                    entries[name] = rng.choice(VALUES)
            if rng.random() < 0.2:
                entries[rng.choice(["more", "kind", "__class__"])] = rng.choice(VALUES)
            text = json.dumps({"kind": kind, **entries})
            if rng.random() < 0.2:
                place = rng.randrange(len(text))
                text = text[:place] + rng.choice(string.printable) + text[place + 1 :]
            one.send(text)
        if rng.random() < 0.5:
            one.recv(SECONDS)
    return ACCEPTED


def savers(rng: random.Random) -> str:
    """Two tabs that save under one name at the same moment: one of them is told no."""
    name = "".join(rng.choices(string.ascii_lowercase, k=12))
    with Tab(running["studio"]) as one, Tab(running["studio"]) as other:
        for tab in (one, other):
            tab.show(n_agents=10)
        for tab in (one, other):
            tab.say("save", what="left", name=name)
        answers = [tab.hear("saved", "error")["kind"] for tab in (one, other)]
    (running["studio"].folder / f"{name}.nc").unlink()
    return ACCEPTED if sorted(answers) == ["error", "saved"] else LOST


KINDS: dict[Callable[[random.Random], str], float] = {
    message: 0.5,
    damaged_head: 0.25,
    stranger: 0.2,
    half_open: 0.03,
    savers: 0.02,
}


def attempt(rng: np.random.Generator) -> Attempt:
    """One attack, and a look at the page after it."""
    kind = list(KINDS)[rng.choice(len(KINDS), p=list(KINDS.values()))]
    seed = int(rng.integers(2**32))

    def run() -> str:
        outcome = kind(random.Random(seed))
        if outcome == ACCEPTED and not page():
            return SILENT
        strange = [line for line in running["printed"] if "not saved is kept" not in line]
        running["printed"].clear()
        if strange:
            raise RuntimeError(f"{NOISE}: {strange[0]}")
        return outcome

    return Attempt(kind.__name__, f"# {kind.__name__}(random.Random({seed}))", run)


def campaign() -> Campaign:
    """The campaign of the studio."""
    return Campaign("studio", attempt, prepare, hang_seconds=120)
