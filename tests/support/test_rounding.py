"""Numbers have as many digits as their errors allow."""

import math

import pytest

from swarmdp.support.rounding import rounded, with_error


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (0.48831, 0.0117, "0.488 ± 0.012"),
        (0.48831, 0.031, "0.49 ± 0.03"),
        (0.48831, 0.0299, "0.49 ± 0.03"),  # two digits would say 0.030
        (0.48831, 0.00096, "0.4883 ± 0.0010"),
        (17283.4, 127.0, "17280 ± 130"),
        (17283.4, 412.0, "17300 ± 400"),
        (17283.4, 3.2, "17283 ± 3"),
        (-0.0004, 0.02, "0.000 ± 0.020"),
        (1.234e-9, 2e-11, "1.234e-09 ± 2.0e-11"),
        (0.0, 1e-12, "0e+00 ± 1.0e-12"),
        (0.97654, None, "0.977"),
        (0.97654, math.nan, "0.977"),
        (0.97654, 0.0, "0.977"),
        (math.nan, 0.1, "nan ± 0.10"),
    ],
)
def test_the_value_ends_where_its_error_does(value: float, error: float | None, shown: str) -> None:
    assert with_error(value, error) == shown
    assert rounded(value, error) == shown.partition(" ±")[0]
