import numpy as np

from swarmdp.paper.outcome import Fits, solutions
from swarmdp.paper.plan import make_plan


def test_a_table_that_flips_at_the_tie_is_not_the_expert_s() -> None:
    expert = (np.arange(25) > 12).astype(int)
    tie = expert.copy()
    tie[12] = 1
    unseen = expert.copy()
    unseen[24] = 0
    table = np.stack([expert, tie, 1 - expert, 1 - tie, expert, unseen])
    visited = np.ones((6, 25), np.uint8)
    visited[5, 24] = 0
    actual = Fits(np.zeros((6, 25)), table, np.zeros(6), visited)
    assert solutions(make_plan("paper"), actual) == {
        "majority vote": 3,
        "majority vote but for some energies": 1,
        "mirror image of the majority vote": 1,
        "mirror image of the majority vote but for some energies": 1,
    }
