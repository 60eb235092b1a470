"""How much a browser may say, at once and over time."""

import time
from collections.abc import Callable

LARGEST_MESSAGE = 64 * 1024  # bytes
MOST_WEIGHTS = 1000  # of a reward that can be painted
RATE, BURST = 300.0, 600.0  # messages per second, and at once
ANSWERED = 20  # malformed messages that get an answer saying what is wrong
PATIENCE = 200  # malformed or too frequent messages until a tab is shut out


class MessageLimit:
    """Counts messages; `passes` says whether the next one is looked at."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._last, self._left = clock, clock(), BURST
        self._strikes = 0

    def passes(self) -> bool:
        """Whether one more message is within the rate."""
        now = self._clock()
        self._left = min(BURST, self._left + RATE * (now - self._last))
        self._last = now
        if self._left < 1:
            self.strike()
            return False
        self._left -= 1
        return True

    def strike(self) -> None:
        """Count a message that the studio's own page would not send."""
        self._strikes += 1

    @property
    def worth_answering(self) -> bool:
        """Whether the sender still gets an answer."""
        return self._strikes <= ANSWERED

    @property
    def exceeded(self) -> bool:
        """Whether the tab is to be shut out."""
        return self._strikes > PATIENCE
