"""The server of the studio: for its owner, on this machine, and for nobody else.

It listens on the loopback address. Every request must name it by its own address (`Host`, against
DNS rebinding); a socket must come from its own page (`Origin`) and know the token of the link,
which travels as a subprotocol, so that no log and no history has it. The page is a fixed set of
files of the package, under a policy that allows no script but its own.
"""

import asyncio
import importlib
import json
import os
import secrets
import socket
import tempfile
import traceback
import webbrowser
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from swarmdp.support.errors import FileError, InvalidInput
from swarmdp.support.markup import render

if TYPE_CHECKING:
    from swarmdp.studio.catalogue import Entry

HOME = "127.0.0.1"
NAMES = (HOME, "localhost")
LARGEST = 64 * 1024  # bytes of a message
MOST_TABS = 12
THREADS = 48  # of which most wait: kernels share the processors
PROTOCOL = "swarmdp"

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}
OWN = (
    "studio.css",
    "studio.js",
    "connection.js",
    "stage.js",
    "charts.js",
    "painting.js",
    "polar.js",
    "bars.js",
    "knobs.js",
    "learning.js",
    "keeping.js",
    "links.js",
    "words.js",
)
SHARED = ("drawing.js", "page.css")  # of the report


@dataclass(eq=False)
class Studio:
    """What is served, and to whom."""

    port: int
    folder: Path
    entries: Callable[[], "Mapping[str, Entry]"]  # asked for when the first tab is there
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    print_line: Callable[[str], None] = print
    tabs: int = 0

    @property
    def link(self) -> str:
        """The address of the page, with the token: a browser does not send what follows '#'."""
        return f"http://{HOME}:{self.port}/#token={self.token}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """How requests may call the server."""
        return tuple(f"{name}:{self.port}" for name in NAMES)

    def welcomes(self, headers: Mapping[str, str], protocols: list[str]) -> bool:
        """Whether a socket may be opened."""
        own = {f"http://{host}" for host in self.hosts}
        if headers.get("host") not in self.hosts or headers.get("origin") not in own:
            return False
        given = [each for each in protocols if each.startswith("token.")]
        known = f"token.{self.token}"
        right = len(given) == 1 and secrets.compare_digest(given[0].encode(), known.encode())
        return right and PROTOCOL in protocols


def application(studio: Studio) -> ASGIApp:
    """The server's application: the files of the page, and its socket."""
    pages = {"/": _asset("swarmdp.studio.assets", "studio.html")}
    pages |= {f"/{name}": _asset("swarmdp.studio.assets", name) for name in OWN}
    pages |= {f"/{name}": _asset("swarmdp.report.assets", name) for name in SHARED}

    async def page(request: Request) -> Response:
        content, kind = pages[request.url.path]
        return Response(content, media_type=kind)

    async def talk(connection: WebSocket) -> None:
        await _talk(studio, connection)

    routes: list[Any] = [Route(path, page, methods=["GET"]) for path in pages]
    inner = Starlette(routes=[*routes, WebSocketRoute("/socket", talk)])
    return _guarded(inner, studio)


def _asset(package: str, name: str) -> tuple[bytes, str]:
    return files(package).joinpath(name).read_bytes(), TYPES[Path(name).suffix]


def _guarded(inner: ASGIApp, studio: Studio) -> ASGIApp:
    """The application for those who call it by its name; what it sends says what is allowed."""
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    own = [
        (b"content-security-policy", policy.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
        (b"referrer-policy", b"no-referrer"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"cache-control", b"no-store"),
    ]

    async def guarded(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await inner(scope, receive, send)  # the socket checks for itself
            return

        async def sent(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *own]
            await send(message)

        named = [value.decode("latin-1") for key, value in scope["headers"] if key == b"host"]
        if len(named) != 1 or named[0] not in studio.hosts:
            text = f"This is the studio of another address: open http://{studio.hosts[0]}/\n"
            await PlainTextResponse(text, 421)(scope, receive, sent)
            return
        await inner(scope, receive, sent)

    return guarded


async def _talk(studio: Studio, connection: WebSocket) -> None:
    """One tab, from its first message to its last."""
    single = all(len(connection.headers.getlist(name)) == 1 for name in ("host", "origin"))
    protocols = list(connection.scope.get("subprotocols", []))
    if not single or not studio.welcomes(connection.headers, protocols):
        await connection.close(1008)  # before it is accepted: an answer of 403
        return
    await connection.accept(PROTOCOL)
    if studio.tabs >= MOST_TABS:
        await connection.close(1013, f"at most {MOST_TABS} tabs: close one of them")
        return
    studio.tabs += 1

    async def receive() -> str | None:
        while True:
            message = await connection.receive()
            if message["type"] == "websocket.disconnect":
                return None
            text = message.get("text")
            return "" if text is None else text  # bytes are no message

    try:
        with suppress(WebSocketDisconnect, RuntimeError, OSError):
            session = await _session(studio, connection)
            await session.run(receive)
    finally:
        studio.tabs -= 1


async def _session(studio: Studio, connection: WebSocket) -> Any:
    """The session of a tab; what it needs is imported now, so that the page comes first."""
    await connection.send_text('{"kind": "loading"}')
    try:
        return await _made_session(studio, connection)
    except Exception as error:
        traceback.print_exc()
        words = f"The studio cannot start: {type(error).__name__}: {error!s:.300}"
        await connection.send_text(json.dumps({"kind": "error", "about": "start", "text": words}))
        await connection.close(1011, words[:100])
        raise WebSocketDisconnect(1011) from error


async def _made_session(studio: Studio, connection: WebSocket) -> Any:
    module = await asyncio.to_thread(importlib.import_module, "swarmdp.studio.session")
    folder = await asyncio.to_thread(importlib.import_module, "swarmdp.studio.folder")
    entries = await asyncio.to_thread(studio.entries)
    return module.Session(connection, entries, folder.Folder(studio.folder), studio.print_line)


def listening(port: int) -> socket.socket:
    """A socket that listens on the loopback address; raises FileError if the port is taken."""
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere it would let others take the port as well
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind((HOME, port))
        found.listen(128)
    except (OSError, OverflowError) as error:
        found.close()
        raise FileError(
            getattr(error, "errno", None) or 98,
            f"cannot listen on port {port}: {getattr(error, 'strerror', None) or error}. Choose "
            "another one, or leave --port out for a free one",
        ) from None
    return found


def serve(
    folder: Path,
    entries: Callable[[], "Mapping[str, Entry]"],
    *,
    port: int = 0,
    browser: bool = True,
    print_line: Callable[[str], None] = print,
) -> None:
    """Serve the studio until it is interrupted; print its link, and open it in a browser.

    Parameters
    ----------
    folder
        The only folder that the page may read and write.
    entries
        Gives the systems by name; called in a thread when the first tab is there.
    port
        0 for a free one.
    browser
        Whether to open the page.
    print_line
        What prints a line.

    """
    if not folder.is_dir():
        raise InvalidInput(f"{folder} is not a folder: make it first, or give another")
    with listening(port) as where:
        studio = Studio(where.getsockname()[1], folder.resolve(), entries, print_line=print_line)
        print_line(f"The studio is at {studio.link}")
        print_line(f"It reads and writes {studio.folder}. Ctrl-C ends it.")
        with suppress(KeyboardInterrupt):
            Server(studio, browser).run(sockets=[where])
        print_line("The studio is closed.")


class Server(uvicorn.Server):
    """Opens the page once it is served; its threads are as many as its tabs may need."""

    def __init__(self, studio: Studio, browser: bool = False) -> None:
        config = uvicorn.Config(
            application(studio),
            http="h11",
            ws="websockets-sansio",
            ws_max_size=LARGEST,
            ws_max_queue=16,
            ws_ping_interval=20,
            ws_ping_timeout=20,
            ws_per_message_deflate=False,
            lifespan="off",
            log_config=None,
            log_level="critical",  # nothing that a browser sends is written down
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=30,
        )
        super().__init__(config)
        self._studio, self._browser = studio, browser
        self._way: Path | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen, then open the page."""
        asyncio.get_running_loop().set_default_executor(
            ThreadPoolExecutor(THREADS, thread_name_prefix="swarmdp-studio")
        )
        await super().startup(sockets)
        if self._browser:
            self._way = _way_to(self._studio.link)
            if not await asyncio.to_thread(webbrowser.open, self._way.as_uri()):
                self._studio.print_line("No browser could be opened: follow the link yourself.")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End all tabs; fits that nobody saved are kept."""
        if self._way is not None:
            self._way.unlink(missing_ok=True)
        await super().shutdown(sockets)


def _way_to(link: str) -> Path:
    """A file that leads to the link: on a command line everybody could read the token."""
    number, name = tempfile.mkstemp(prefix="swarmdp-studio-", suffix=".html")  # for its owner only
    with open(number, "w", encoding="utf-8") as file:
        file.write(render("studio/templates/way.html.j2", link=link))
    return Path(name)
