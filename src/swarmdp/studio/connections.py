"""Connections of strangers: few at once, and each has to say soon what it wants.

Any user of the machine can connect to the studio. Until a socket has shown the token, a connection
is a stranger's: it gets a few seconds for each request and for each answer, and when there are too
many the oldest one has to go. A browser sends its request at once, so it always gets an answer.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS = 64  # of HTTP; sockets of tabs are counted elsewhere
AT_ONCE = 16  # that are accepted before the others are looked at
QUEUE = 128  # that wait to be accepted
SECONDS = 10.0  # for the head of a request, and for its answer


class LimitedProtocol(H11Protocol):
    """HTTP with a time limit for each request and each answer, and a limit of connections."""

    _deadline: asyncio.TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room for a new connection, and wait for its request."""
        others = [one for one in self.connections if isinstance(one, LimitedProtocol)]
        if len(others) >= MOST_CONNECTIONS:
            min(others, key=lambda one: (one.is_answered, one._since)).end()
        super().connection_made(transport)
        self._since = self.loop.time()
        self._expect()

    @property
    def is_answered(self) -> bool:
        """Whether a request has come and its answer is not complete."""
        return self.cycle is not None and not self.cycle.response_complete

    def handle_events(self) -> None:
        """Read what has come; a request that is complete gets new time for its answer."""
        before = self.is_answered
        super().handle_events()
        if self.is_answered and not before:
            self._expect()

    def on_response_complete(self) -> None:
        """Wait for another request on the same connection."""
        self._expect()
        super().on_response_complete()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """Leave the connection to the socket, which asks for the token."""
        self._stop_waiting()
        super().handle_websocket_upgrade(event)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._stop_waiting()
        super().connection_lost(exc)

    def end(self) -> None:
        """Close the connection, whatever it was about to send."""
        self._stop_waiting()
        self.connections.discard(self)
        self.transport.abort()

    def _expect(self) -> None:
        self._stop_waiting()
        self._deadline = self.loop.call_later(SECONDS, self.end)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def quiet_handler(
    print_line: Callable[[str], None],
) -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """What an event loop does with errors of connections: one line for each kind, once."""
    told: set[str] = set()

    def handle(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        kind = f"{context.get('message', '')}: {type(error).__name__}"
        if kind not in told:
            told.add(kind)
            print_line(f"a connection failed, others go on ({kind})")

    return handle
