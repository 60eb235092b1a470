"""Problems of other kinds than grids: written last, after the rule was settled, and run once."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import swarmdp
from studies.known.problem import Problem

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Table:
    """Dynamics given as numbers."""

    kernel: Floats  # (A, S, S)

    @property
    def mdp(self) -> swarmdp.FiniteMDP:
        """The MDP, which starts anywhere."""
        states = self.kernel.shape[1]
        return swarmdp.FiniteMDP(list(self.kernel), initial=np.full(states, 1 / states))


def problems() -> list[Problem]:
    """A cart, a stock, a machine, a random MDP, deliveries, a pursuit."""
    return [
        Problem("cart", _cart(0.0), _cart(0.4), _cart_reward()),
        Problem("stock", _stock(0, 4), _stock(2, 6), _stock_reward()),
        Problem("machine", _machine(1), _machine(2), _machine_reward()),
        Problem("random MDP", _random(0.0), _random(0.5), _random_reward()),
        Problem("deliveries", _deliveries(0.0), _deliveries(0.6), _deliveries_reward()),
        Problem("pursuit", _pursuit(0.0), _pursuit(0.5), _pursuit_reward()),
    ]


_PLACES, _SPEEDS = 9, 5  # of the cart


def _cart(wind: float) -> Table:
    """A cart that is pushed or braked; wind pushes it back. At its goal it starts again."""
    states = _PLACES * _SPEEDS
    kernel = np.zeros((3, states, states))
    for place in range(_PLACES):
        for speed in range(_SPEEDS):
            here = place * _SPEEDS + speed
            if place == _PLACES - 1:
                kernel[:, here] = 1 / states
                continue
            for action, push in enumerate((-1, 0, 1)):
                for extra, chance in ((0, 0.9 * (1 - wind)), (-1, 0.9 * wind), (1, 0.1)):
                    fast = int(np.clip(speed - 2 + push + extra, -2, 2))
                    there = place + fast
                    if not 0 <= there < _PLACES:
                        there, fast = int(np.clip(there, 0, _PLACES - 1)), 0
                    kernel[action, here, there * _SPEEDS + fast + 2] += chance
    return Table(kernel)


def _cart_reward() -> Floats:
    """The goal is worth something only if it is reached slowly; one place is to be avoided."""
    reward = np.zeros((_PLACES, _SPEEDS))
    reward[-1] = [0, 1, 1, 1, 0]
    reward[4, 2] = -0.5
    return reward.ravel()


def _stock(least: int, most: int) -> Table:
    """A stock of up to 19 pieces: order 0, 3 or 6, then some are sold."""
    size = 20
    kernel = np.zeros((3, size, size))
    sales = np.arange(least, most + 1)
    for here in range(size):
        for action, order in enumerate((0, 3, 6)):
            for sold in sales:
                there = max(0, min(size - 1, here + order) - int(sold))
                kernel[action, here, there] += 1 / len(sales)
    return Table(kernel)


def _stock_reward() -> Floats:
    reward = np.zeros(20)
    reward[0], reward[3:7], reward[13:] = -1.0, 0.5, -0.3
    return reward


_AGES = 15  # of the machine


def _machine(wear: int) -> Table:
    """A machine that ages, breaks down the sooner the older it is, and can be repaired."""
    broken = _AGES
    kernel = np.zeros((3, _AGES + 1, _AGES + 1))
    for age in range(_AGES):
        risk, older = 0.03 * age, min(_AGES - 1, age + wear)
        for action, ageing in ((0, 0.8), (2, 0.3)):  # at full and at half speed
            kernel[action, age, broken] += risk * ageing
            kernel[action, age, older] += (1 - risk * ageing) * ageing
            kernel[action, age, age] += (1 - risk * ageing) * (1 - ageing)
        kernel[1, age, 0] += 0.5  # a repair that may fail
        kernel[1, age, age] += 0.5
    kernel[:, broken, broken], kernel[:, broken, 0] = 0.7, 0.3
    return Table(kernel)


def _machine_reward() -> Floats:
    return np.repeat([0.4, 1.0, 0.3, -1.0], [5, 5, 5, 1])  # it works best when it is run in


def _random(changed: float) -> Table:
    """Forty states, four actions, three ways on from each; a share of them is drawn again."""
    rng, again = np.random.default_rng(71), np.random.default_rng(72)
    kernel = np.zeros((4, 40, 40))
    for action in range(4):
        for here in range(40):
            ways, chances = rng.choice(40, 3, replace=False), rng.dirichlet(np.ones(3))
            others, other_chances = again.choice(40, 3, replace=False), again.dirichlet(np.ones(3))
            if again.random() < changed:
                ways, chances = others, other_chances
            kernel[action, here, ways] = chances
    return Table(kernel)


def _random_reward() -> Floats:
    rng = np.random.default_rng(73)
    reward = np.zeros(40)
    reward[rng.choice(40, 5, replace=False)] = rng.uniform(-1, 1, 5)
    return reward


_STOPS = 10  # of deliveries


def _deliveries(slow: float) -> Table:
    """Fetch something at stop 0, bring it to stop 6; on the changed ring going on may fail."""
    kernel = np.zeros((3, 2 * _STOPS, 2 * _STOPS))
    for carrying in (0, 1):
        for stop in range(_STOPS):
            here = carrying * _STOPS + stop
            delivered = carrying == 1 and stop == 6
            for action, step in enumerate((0, 1, -1)):
                fails = slow if step == 1 else 0.0
                for way, chance in ((step, 0.9 * (1 - fails)), (0, 0.9 * fails), (-1, 0.1)):
                    there = (stop + way) % _STOPS
                    load = 0 if delivered else max(carrying, int(there == 0))
                    kernel[action, here, load * _STOPS + there] += chance
    return Table(kernel)


def _deliveries_reward() -> Floats:
    reward = np.zeros((2, _STOPS))
    reward[1, 6], reward[:, 3] = 1.0, -0.2
    return reward.ravel()


_SIDE = 6  # of the torus on which one pursues


def _pursuit(drift: float) -> Table:
    """Where the other is, from here: it wanders, or drifts; once caught, it is anywhere."""
    moves = ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0))
    kernel = np.zeros((5, _SIDE**2, _SIDE**2))
    for row in range(_SIDE):
        for column in range(_SIDE):
            here = row * _SIDE + column
            if here == 0:
                kernel[:, here] = 1 / _SIDE**2
                continue
            for action, (down, right) in enumerate(moves):
                chances = np.full(5, 0.08)
                chances[0] += 0.6 * (1 - drift)
                chances[1] += 0.6 * drift
                for (other_down, other_right), chance in zip(moves, chances, strict=True):
                    there = (row + other_down - down) % _SIDE, (column + other_right - right)
                    kernel[action, here, there[0] * _SIDE + there[1] % _SIDE] += chance
    return Table(kernel)


def _pursuit_reward() -> Floats:
    reward = np.zeros((_SIDE, _SIDE))
    reward[0, 0], reward[0, 1], reward[3, 3] = 1.0, -0.4, 0.2
    return reward.ravel()
