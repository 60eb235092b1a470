"""Elementary functions without branches or library calls, so that loops over agents vectorise.

Polynomials are Chebyshev fits of the remainder after the leading Taylor terms, computed in
50-digit arithmetic; each function is accurate to a few units in the last place (see the tests).
They take and return single float64 numbers and are compiled into the loops that call them. A choice
between two values becomes one instruction for a whole vector, where a branch would end it; and the
C library's functions differ between machines, where these give the same bits everywhere. Twins in
the tests: NumPy's functions.
"""

import math

import numpy as np

from swarmdp.kernels.runtime.compile import inlined

TWO_PI = 2 * math.pi
HALF_PI = math.pi / 2
# pi/2 in two parts; the first has 33 bits, so that its product with a small integer is exact.
HALF_PI_HIGH = math.floor(HALF_PI * 2**32) / 2**32
HALF_PI_LOW = (HALF_PI - HALF_PI_HIGH) + 6.123233995736766e-17
TAN_PI_8 = math.sqrt(2) - 1
LOG_2 = math.log(2)
# log 2 in two parts; the first has 32 bits, so that its product with a small integer is exact.
LOG_2_HIGH = math.floor(LOG_2 * 2**32) / 2**32
LOG_2_LOW = (LOG_2 - LOG_2_HIGH) + 2.3190468138462996e-17
LEAST_EXPONENT = -708.0  # of a normal number


@inlined
def sin_quarter(r):
    """Sine for |r| <= pi/4."""
    z = r * r
    # Horner's scheme in the square. The leading term is added last, so that the rounding of the
    # polynomial, which only corrects it, hardly counts.
    p = 1.5918129294866608e-10
    p = p * z - 2.5051131845003624e-08
    p = p * z + 2.755731610255244e-06
    p = p * z - 0.00019841269836758574
    p = p * z + 0.008333333333330948
    p = p * z - 0.16666666666666666
    return r + r * z * p


@inlined
def cos_quarter(r):
    """Cosine for |r| <= pi/4."""
    z = r * r
    # As for the sine; here two leading terms are kept apart.
    p = -1.1382632425521717e-11
    p = p * z + 2.08761462684032e-09
    p = p * z - 2.7557317271729793e-07
    p = p * z + 2.480158729876569e-05
    p = p * z - 0.0013888888888887398
    p = p * z + 0.041666666666666664
    return (1.0 - 0.5 * z) + z * z * p


@inlined
def sincos_quadrant(r, k):
    """Sine and cosine of r + k pi/2 for |r| <= pi/4 and integer-valued k."""
    # 32-bit integers: the conversion from floats exists for vectors, that to 64 bits does not.
    quadrant = np.int32(k) & np.int32(3)
    s = sin_quarter(r)
    c = cos_quarter(r)
    # Odd multiples of pi/2 exchange sine and cosine; the quadrant says their signs.
    swap = (quadrant & np.int32(1)) != 0
    sine = c if swap else s
    cosine = s if swap else c
    sine = -sine if quadrant >= np.int32(2) else sine
    cosine = -cosine if (quadrant == np.int32(1)) | (quadrant == np.int32(2)) else cosine
    return sine, cosine


@inlined
def sincos(angle):
    """Sine and cosine for |angle| up to about 1e5 radians."""
    # The multiple of pi/2 is taken off in two steps, so that its rounding does not count.
    k = math.floor(angle * (1 / HALF_PI) + 0.5)
    r = (angle - k * HALF_PI_HIGH) - k * HALF_PI_LOW
    return sincos_quadrant(r, k)


@inlined
def cos_turns(turns):
    """Cosine of 2 pi turns for 0 <= turns < 1."""
    # Exact, other than for angles in radians: times four, an integer, their difference.
    quarters = 4.0 * turns
    k = math.floor(quarters + 0.5)
    _, cosine = sincos_quadrant((quarters - k) * HALF_PI, k)
    return cosine


@inlined
def atan2(y, x):
    """Angle of the vector (x, y) in [-pi, pi]; zero for the zero vector."""
    # The first octant, then back by symmetries.
    ax = abs(x)
    ay = abs(y)
    large = max(ax, ay)
    small = min(ax, ay)
    # atan(small/large) in [0, pi/4], brought to [-pi/8, pi/8] by a rotation of pi/4.
    turned = small > TAN_PI_8 * large
    numerator = small - large if turned else small
    denominator = small + large if turned else large
    t = numerator / (denominator if denominator > 0.0 else 1.0)
    z = t * t
    p = -0.01917688711906226
    p = p * z + 0.03923165829558719
    p = p * z - 0.0508544973794026
    p = p * z + 0.0585814891280221
    p = p * z - 0.06664511447381948
    p = p * z + 0.07692183190826087
    p = p * z - 0.09090904578123903
    p = p * z + 0.11111111015256361
    p = p * z - 0.14285714284666542
    p = p * z + 0.1999999999999552
    p = p * z - 0.3333333333333333
    angle = t + t * z * p
    # Undone in reverse order: the rotation, the exchange of x and y, and the two signs.
    angle = angle + 0.25 * math.pi if turned else angle
    angle = HALF_PI - angle if ay > ax else angle
    angle = math.pi - angle if x < 0.0 else angle
    return -angle if y < 0.0 else angle


@inlined
def angle_class(angle, scale, middle, bins):
    """The interval of an angle: `bins` equal ones, scale = bins / 2 pi, middle = bins // 2."""
    k = math.floor(angle * scale + 0.5) + middle
    k = k - bins * math.floor(k / bins)
    # Rounding may leave the last interval: an index must not.
    return max(np.int32(0), min(np.int32(k), np.int32(bins) - np.int32(1)))


@inlined
def natural_log(x):
    """Natural logarithm of a positive, normal number."""
    # Exponent and mantissa as they stand in the number's bits.
    bits = np.float64(x).view(np.uint64)
    exponent = np.int32(bits >> np.uint64(52)) - np.int32(1023)
    mantissa = np.uint64(
        (bits & np.uint64(0x000FFFFFFFFFFFFF)) | np.uint64(0x3FF0000000000000)
    ).view(np.float64)
    # A mantissa in [sqrt(1/2), sqrt(2)]: the series converges fastest around one.
    upper = mantissa > 1.4142135623730951
    mantissa = 0.5 * mantissa if upper else mantissa
    power = np.float64(exponent) + (1.0 if upper else 0.0)
    # log m = 2 artanh f, an odd series in f; |f| is at most 0.172.
    f = (mantissa - 1.0) / (mantissa + 1.0)
    z = f * f
    p = 0.14616449685043406
    p = p * z + 0.15331721600556042
    p = p * z + 0.18182889125261723
    p = p * z + 0.2222221113479508
    p = p * z + 0.28571428625975487
    p = p * z + 0.39999999999899505
    p = p * z + 0.666666666666667
    return power * LOG_2 + (2.0 * f + f * z * p)


@inlined
def exp(x):
    """Exponential of a number up to 709; zero below -708."""
    # Smaller numbers would need subnormal powers of two; they are zero.
    within = x if x > LEAST_EXPONENT else LEAST_EXPONENT
    # Whole powers of two are taken off in two steps, as multiples of pi/2 are in `sincos`.
    k = math.floor(within * (1 / LOG_2) + 0.5)
    r = (within - k * LOG_2_HIGH) - k * LOG_2_LOW
    # Taylor's series: the first term left out is below 4e-18 for |r| <= log(2) / 2.
    p = 1 / 6227020800
    p = p * r + 1 / 479001600
    p = p * r + 1 / 39916800
    p = p * r + 1 / 3628800
    p = p * r + 1 / 362880
    p = p * r + 1 / 40320
    p = p * r + 1 / 5040
    p = p * r + 1 / 720
    p = p * r + 1 / 120
    p = p * r + 1 / 24
    p = p * r + 1 / 6
    p = p * r + 0.5
    p = 1.0 + (r + r * r * p)
    # Two to the power k, made of its bits.
    power = np.uint64(np.uint64(np.int64(k) + np.int64(1023)) << np.uint64(52)).view(np.float64)
    return p * power if x > LEAST_EXPONENT else 0.0
