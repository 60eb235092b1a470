"""What statistics are called."""

import numpy as np
import pytest

import swarmdp
from swarmdp.judging.statistics import MOST_CLASSES, _span
from swarmdp.model.features import Classes

SEEN = swarmdp.Product(misalignment=swarmdp.Angles(4), neighbours=swarmdp.Levels(3))
MANY = swarmdp.Product(first=swarmdp.Levels(2), second=swarmdp.Levels(MOST_CLASSES))


@pytest.mark.parametrize(
    ("features", "group", "words"),
    [
        (swarmdp.Levels(9, "energy"), [3, 4, 5], "energy 3 to 5"),
        (swarmdp.Angles(4), [2], "angle 0 degrees"),
        (SEEN, [7, 8], "misalignment 0 degrees, neighbours 1 to 2"),
        (SEEN, [8], "misalignment 0 degrees, neighbours 2"),
        (SEEN, [2, 3, 4, 5, 6, 7], "misalignment -180 to 0 degrees"),
        # Two classes are kept as one.
        (MANY, [1], "first 0, second 2 to 3"),
        (MANY, [MOST_CLASSES - 1], f"first 1, second {MOST_CLASSES - 2} to {MOST_CLASSES - 1}"),
    ],
)
def test_groups_of_classes_have_words(features: Classes, group: list[int], words: str) -> None:
    assert _span(features, np.array(group)) == words
