"""The server of the studio: for the user who started it, on this machine only.

It listens on the loopback address. Every request must name it by its own address (`Host`, against
DNS rebinding); a socket must come from its own page (`Origin`) and know the token of the link,
which travels as a subprotocol, so that no log and no history has it. The page is a fixed set of
files of the package, under a policy that allows no script but its own. Those who do not know the
token get few connections and little time (`connections.py`).
"""

import asyncio
import importlib
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

from swarmdp.studio.connections import AT_ONCE, QUEUE, LimitedProtocol, quiet_handler
from swarmdp.studio.limits import LARGEST_MESSAGE
from swarmdp.studio.messages import message_text
from swarmdp.support.errors import FileError, InvalidInput
from swarmdp.support.files import is_folder
from swarmdp.support.markup import render

if TYPE_CHECKING:
    from swarmdp.studio.catalogue import Entry

_HOME = "127.0.0.1"
_HOST_NAMES = (_HOME, "localhost")
MOST_TABS = 12
_THREADS = 48  # of which most wait: kernels share the processors
_PROTOCOL = "swarmdp"
_CLOSED_BY_USER = (1000, 1001)  # what a browser says when a tab is closed or left

_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}
PAGE_FILES = (
    "studio.css",
    "panels.css",
    "studio.js",
    "connection.js",
    "stage.js",
    "charts.js",
    "painting.js",
    "polar.js",
    "bars.js",
    "meaning.js",
    "panels.js",
    "knobs.js",
    "learning.js",
    "keeping.js",
    "links.js",
    "words.js",
)
REPORT_FILES = ("drawing.js", "page.css")  # shared with the report


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
        return f"http://{_HOME}:{self.port}/#token={self.token}"

    @property
    def hosts(self) -> tuple[str, ...]:
        """How requests may call the server."""
        return tuple(f"{name}:{self.port}" for name in _HOST_NAMES)

    def welcomes(self, headers: Mapping[str, str], protocols: list[str]) -> bool:
        """Whether a socket may be opened."""
        origins = {f"http://{host}" for host in self.hosts}
        if headers.get("host") not in self.hosts or headers.get("origin") not in origins:
            return False
        tokens = [name for name in protocols if name.startswith("token.")]
        expected = f"token.{self.token}"
        right = len(tokens) == 1 and secrets.compare_digest(tokens[0].encode(), expected.encode())
        return right and _PROTOCOL in protocols


def application(studio: Studio) -> ASGIApp:
    """The server's application: the files of the page, and its socket."""
    pages = {"/": _asset("swarmdp.studio.assets", "studio.html")}
    pages |= {f"/{name}": _asset("swarmdp.studio.assets", name) for name in PAGE_FILES}
    pages |= {f"/{name}": _asset("swarmdp.report.assets", name) for name in REPORT_FILES}

    async def page(request: Request) -> Response:
        content, kind = pages[request.url.path]
        return Response(content, media_type=kind)

    async def talk(connection: WebSocket) -> None:
        await _talk(studio, connection)

    routes: list[Any] = [Route(path, page, methods=["GET"]) for path in pages]
    inner = Starlette(routes=[*routes, WebSocketRoute("/socket", talk)])
    return _guard(inner, studio)


def _asset(package: str, name: str) -> tuple[bytes, str]:
    return files(package).joinpath(name).read_bytes(), _MEDIA_TYPES[Path(name).suffix]


def _guard(inner: ASGIApp, studio: Studio) -> ASGIApp:
    """Answer only requests that name this server, and add the security headers to answers."""
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    security = [
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
                message["headers"] = [*message["headers"], *security]
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
    await connection.accept(_PROTOCOL)
    if studio.tabs >= MOST_TABS:
        await connection.close(1013, f"at most {MOST_TABS} tabs: close one of them")
        return
    studio.tabs += 1

    try:
        with suppress(WebSocketDisconnect, RuntimeError, OSError):
            session = await _session(studio, connection)

            async def receive() -> str | None:
                message = await connection.receive()
                if message["type"] == "websocket.disconnect":
                    session.closed_by_user = message.get("code") in _CLOSED_BY_USER
                    return None
                text = message.get("text")
                return "" if text is None else text  # bytes are no message

            await session.run(receive)
    finally:
        studio.tabs -= 1


async def _session(studio: Studio, connection: WebSocket) -> Any:
    """The session of a tab; what it needs is imported now, so that the page comes first."""
    await connection.send_text(message_text("loading"))
    try:
        return await _import_session(studio, connection)
    except Exception as error:
        traceback.print_exc()
        words = f"The studio cannot start: {type(error).__name__}: {error!s:.300}"
        await connection.send_text(message_text("error", about="start", text=words))
        await connection.close(1011, words[:100])
        raise WebSocketDisconnect(1011) from error


async def _import_session(studio: Studio, connection: WebSocket) -> Any:
    module = await asyncio.to_thread(importlib.import_module, "swarmdp.studio.session")
    folder = await asyncio.to_thread(importlib.import_module, "swarmdp.studio.folder")
    entries = await asyncio.to_thread(studio.entries)
    return module.Session(connection, entries, folder.Folder(studio.folder), studio.print_line)


def listen_on(port: int) -> socket.socket:
    """A socket that listens on the loopback address; raises FileError if the port is taken."""
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":  # elsewhere other programs could take the port as well
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_HOME, port))
        listener.listen(QUEUE)
    except (OSError, OverflowError) as error:
        listener.close()
        raise FileError(
            getattr(error, "errno", None) or 98,
            f"cannot listen on port {port}: {getattr(error, 'strerror', None) or error}. Choose "
            "another one, or leave --port out for a free one",
        ) from None
    return listener


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
    if not is_folder(folder):
        raise InvalidInput(f"{folder} is not a folder: make it first, or give another")
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        raise FileError(13, f"you may not read and write {folder}: give another folder")
    with listen_on(port) as where:
        studio = Studio(where.getsockname()[1], folder.resolve(), entries, print_line=print_line)
        print_line(f"The studio is at {studio.link}")
        print_line(f"It reads and writes {studio.folder}. Ctrl-C ends it.")
        with suppress(KeyboardInterrupt):
            Server(studio, browser).run(sockets=[where])
        print_line("The studio is closed.")


class Server(uvicorn.Server):
    """Opens the page once it is served, with enough threads for all tabs."""

    def __init__(self, studio: Studio, browser: bool = False) -> None:
        config = uvicorn.Config(
            application(studio),
            http=LimitedProtocol,
            backlog=AT_ONCE,
            ws="websockets-sansio",
            ws_max_size=LARGEST_MESSAGE,
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
        self._redirect: Path | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start to listen, then open the page."""
        loop = asyncio.get_running_loop()
        loop.set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="swarmdp-studio"))
        loop.set_exception_handler(quiet_handler(self._studio.print_line))
        await super().startup(sockets)
        for one in sockets or ():
            one.listen(QUEUE)  # asyncio takes `backlog` for both numbers
        if self._browser:
            self._redirect = _redirect_to(self._studio.link)
            if not await asyncio.to_thread(webbrowser.open, self._redirect.as_uri()):
                self._studio.print_line("No browser could be opened: follow the link yourself.")

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End all tabs; their fits that were not saved are kept."""
        if self._redirect is not None:
            self._redirect.unlink(missing_ok=True)
        await super().shutdown(sockets)


def _redirect_to(link: str) -> Path:
    """A file that redirects to the link: other users can read a command line, and so the token."""
    number, name = tempfile.mkstemp(prefix="swarmdp-studio-", suffix=".html")  # for its owner only
    with open(number, "w", encoding="utf-8") as file:
        file.write(render("studio/templates/way.html.j2", link=link))
    return Path(name)
