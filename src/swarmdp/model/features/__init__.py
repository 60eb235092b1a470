"""The feature map phi: O -> R^d of the paper: what learning sees of an agent's observation.

Most maps put observations into classes (`Classes`). phi is then the indicator of the class, as in
the paper's experiments, or a vector that the map has for each class (`matrix`). `Basis` is a map
without classes: phi is any function of the observation.

An observation is one number or several (`shape`), each described by an `Axis`. The weights of a
reward are one grid over such axes, or several one after another (`blocks`), for tables and figures.

Files: `maps` (axes, and what every map tells of itself), `classes` (one number), `product` (several
of them), `basis` (functions without classes), `plain` (maps as files keep them).
"""

from swarmdp.model.features.basis import Basis
from swarmdp.model.features.classes import Angles, Bins, Levels, Vectors
from swarmdp.model.features.maps import (
    Axis,
    Block,
    Classes,
    FeatureMap,
    Interpolating,
    Smooth,
    n_features,
)
from swarmdp.model.features.product import Product

__all__ = [
    "Angles",
    "Axis",
    "Basis",
    "Bins",
    "Block",
    "Classes",
    "FeatureMap",
    "Interpolating",
    "Levels",
    "Product",
    "Smooth",
    "Vectors",
    "n_features",
]
