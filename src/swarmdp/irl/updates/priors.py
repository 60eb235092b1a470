"""Priors of a reward's weights, each as a map from independent standard normal numbers.

A weight w = scale * g(z) with z standard normal has the prior's distribution when g is its quantile
function after the normal distribution function. One sampler of z then serves every prior, and
bounds need no care.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from swarmdp.support.arrays import Floats
from swarmdp.support.errors import InvalidInput

PriorName = Literal["gaussian", "uniform", "laplace", "beta"]


@dataclass(frozen=True)
class Prior:
    """Independent weights, symmetric about zero."""

    value: Callable[[Floats], Floats]  # g(z)
    slope: Callable[[Floats], Floats]  # its derivative


def _density(z: Floats) -> Floats:
    bell: Floats = np.exp(-0.5 * z * z) / np.sqrt(2 * np.pi)
    return bell


def _centred(z: Floats) -> Floats:
    """The normal distribution function less one half, without cancellation."""
    from scipy.special import erf

    half: Floats = 0.5 * erf(z / np.sqrt(2))
    return half


def _laplace(z: Floats) -> Floats:
    from scipy.special import log_ndtr

    value: Floats = np.sign(z) * -(np.log(2) + log_ndtr(-np.abs(z)))
    return value


def _laplace_slope(z: Floats) -> Floats:
    from scipy.special import log_ndtr

    slope: Floats = np.exp(-0.5 * z * z - 0.5 * np.log(2 * np.pi) - log_ndtr(-np.abs(z)))
    return slope


PRIORS: dict[str, Prior] = {
    # standard deviation: scale
    "gaussian": Prior(lambda z: z, np.ones_like),
    # from -scale to scale
    "uniform": Prior(lambda z: 2 * _centred(z), lambda z: 2 * _density(z)),
    # density exp(-|w|/scale) / (2 scale): most weights near zero, a few large
    "laplace": Prior(_laplace, _laplace_slope),
    # Beta(1/2, 1/2) stretched from -scale to scale: weights near either end
    "beta": Prior(
        lambda z: np.sin(np.pi * _centred(z)),
        lambda z: np.pi * _density(z) * np.cos(np.pi * _centred(z)),
    ),
}


def prior_named(name: str) -> Prior:
    """The prior of this name."""
    if name not in PRIORS:
        raise InvalidInput(f"prior must be one of {', '.join(PRIORS)}, got {name!r}")
    return PRIORS[name]
