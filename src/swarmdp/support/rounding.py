"""Numbers with as many digits as their errors allow."""

import math

PLAIN = 3  # significant digits of a number whose error is not known
FINEST = 7  # decimals; smaller numbers are written with an exponent


def with_error(value: float, error: float | None) -> str:
    """A value and its standard error: `0.488 ± 0.012`, `17280 ± 130`; the value alone without one.

    The error has one significant digit, or two if the first is a 1 or a 2; the value ends where its
    error does.

    Examples
    --------
    >>> from swarmdp.support.rounding import with_error
    >>> with_error(0.48831, 0.0117), with_error(17283.4, 127.0), with_error(0.5, None)
    ('0.488 ± 0.012', '17280 ± 130', '0.5')

    """
    if not has_error(error):
        return alone(value)
    assert error is not None
    return f"{rounded(value, error)} ± {rounded(error, error)}"


def rounded(value: float, error: float | None) -> str:
    """A value with the digits that its error allows; with three if there is no error."""
    if not has_error(error) or not math.isfinite(value):
        return alone(value)
    assert error is not None
    decimals = _decimals(error)
    if decimals > FINEST:
        digits = decimals + math.floor(math.log10(abs(value))) if value else 0
        return f"{value:.{max(0, digits)}e}"
    # Minus zero is no number to show.
    return f"{round(value, decimals) + 0.0:.{max(0, decimals)}f}"


def alone(value: float) -> str:
    """A value whose error is not known."""
    return f"{value:.{PLAIN}g}"


def has_error(error: float | None) -> bool:
    """Whether there is an error to go by."""
    return error is not None and math.isfinite(error) and error > 0


def _decimals(error: float) -> int:
    """After which decimal a number with this error ends; below zero before the point."""
    exponent = math.floor(math.log10(error))
    first = round(error / 10.0**exponent, 1)  # 0.0996 is 0.10
    return -exponent + (1 if first < 3 else 0) - (1 if first >= 10 else 0)
