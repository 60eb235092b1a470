"""Feature maps as plain data, for files."""

from collections.abc import Callable, Mapping
from typing import Any

from swarmdp.model.features.classes import Angles, Bins, Levels
from swarmdp.model.features.maps import Classes, FeatureMap
from swarmdp.model.features.product import Product


def describe_features(features: FeatureMap) -> dict[str, Any]:
    """A feature map as plain data: to tell it from others, and to make it again if it has classes.

    Vectors and a basis are described, but cannot be made again.
    """
    plain: dict[str, Any] = {"kind": type(features).__name__}
    if isinstance(features, Product):
        parts = {name: describe_features(part) for name, part in features.components.items()}
        some = {} if features.rewarded is None else {"rewarded": list(features.rewarded)}
        return {**plain, "additive": features.additive, **some, "components": parts}
    if isinstance(features, Angles | Levels):
        shape: dict[str, Any] = {"size": int(features.size)}
    elif isinstance(features, Bins):
        shape = {"edges": list(features.edges)}
    else:
        axes = [{"name": axis.name, "units": axis.units} for axis in features.axes]
        names = [str(value) for block in features.blocks for value in block[0].values]
        return {**plain, "axes": axes, "features": names}
    return {**plain, **shape, "name": features.name, "units": features.units}


def features_from(plain: Mapping[str, Any]) -> Classes | None:
    """The map that `describe_features` described; None for one that cannot be made again."""
    kind = plain["kind"]
    if kind == "Product":
        parts = {name: features_from(part) for name, part in plain["components"].items()}
        made = {name: part for name, part in parts.items() if part is not None}
        if len(made) < len(parts):
            return None
        product = Product(additive=plain["additive"], **made)
        return product.rewarding(plain["rewarded"]) if "rewarded" in plain else product
    makers: dict[str, Callable[..., Classes]] = {"Angles": Angles, "Levels": Levels, "Bins": Bins}
    if kind not in makers:
        return None
    first = plain["edges"] if kind == "Bins" else plain["size"]
    return makers[kind](first, plain["name"], plain["units"])
