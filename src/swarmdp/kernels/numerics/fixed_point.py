"""Sums that do not depend on their order: numbers in [-1, 1] as 64-bit integers.

Adding integers is exact, so that the order of the agents, the number of threads and the width of
vectors cannot change a bit of a sum; adding floats is not. Rounding towards zero happens once, when
a number becomes an integer. Twin in the tests: sums of floats, which agree to 1e-12.
"""

import numpy as np

from swarmdp.kernels.runtime.compile import inlined, kernel

UNITS = float(1 << 40)  # in a fixed-point one where sums have few terms: those of 2^22 agents fit
SHIFT = 1.5 * 2**52  # a number of its size has the unit one in its last place
SHIFT_BITS = np.float64(SHIFT).view(np.int64)


@kernel
def units_for(agents: int) -> float:
    """Units in a fixed-point one: the most for which a sum over all agents fits 63 bits."""
    # The least number of bits with 2^bits >= agents: a sum of ones is then at most 2^62.
    bits = 0
    while (1 << bits) < agents:
        bits += 1
    return float(1 << (62 - bits))


@inlined
def whole_number(number):
    """A number below 2^51 without its fraction, as an integer; other than a cast, it vectorises."""
    # After the addition the integer stands in the last bits of the number. Casts of vectors to
    # 64-bit integers need AVX-512, which few processors have.
    shifted = np.float64(np.trunc(number) + SHIFT)
    return shifted.view(np.int64) - SHIFT_BITS
