import numpy as np
import pytest
from scipy import stats

from swarmdp.kernels.numerics import streams as kernels
from swarmdp.kernels.runtime.compile import kernel
from swarmdp.model.streams import Purpose, Stream, Streams
from swarmdp.support.errors import InvalidInput
from tests import oracles

# Known answers published with Random123 for philox4x32, 10 rounds: counter, key, block.
KNOWN = [
    ((0, 0, 0, 0), (0, 0), "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]


def stream(
    *, seed: int = 5, runs: int = 1, agents: int = 1, step: int = 0, first_run: int = 0
) -> Stream:
    numbers = np.arange(first_run, first_run + runs)
    return Streams.of(seed, numbers, agents).at(step, Purpose.TRANSITION)


@pytest.mark.parametrize(("counter", "key", "block"), KNOWN)
def test_philox_gives_its_published_vectors(
    counter: tuple[int, ...], key: tuple[int, ...], block: str
) -> None:
    out = np.empty((1, 4), np.uint64)
    kernels.words(np.array([counter], np.uint64), np.array(key, np.uint64), out)
    assert " ".join(f"{word:08x}" for word in out[0]) == block
    assert " ".join(f"{word:08x}" for word in oracles.philox(counter, key)) == block


def test_every_number_is_the_function_of_its_coordinates() -> None:
    seed, step = 2**63 + 12345, 2**31 + 7
    runs = np.array([0, 3, 2**32 - 1])
    streams = Streams.of(seed, runs, 5)
    rng = streams.at(step, Purpose.TRANSITION)
    uniform, normal = rng.uniform(), rng.normal()
    for r, run in enumerate(runs):
        for agent in range(5):
            draw = int(Purpose.TRANSITION) << 16
            words = oracles.random_words(seed, int(run), step, draw, agent)
            assert uniform[r, agent] == oracles.uniform(words)
            words = oracles.random_words(seed, int(run), step, draw + 1, agent)
            assert normal[r, agent] == pytest.approx(oracles.normal(words), rel=1e-13, abs=1e-15)


def test_four_agents_share_the_words_of_a_block() -> None:
    runs, order = np.array([0, 2**32 - 1]), np.array([[4, 1, 0, 3, 2, 5], [5, 4, 3, 2, 1, 0]])
    rng = Streams.of(7, runs, 6).rearranged(order).at(3, Purpose.EXPLORATION)
    rng.uniform()
    actual = rng.coarse()
    draw = (int(Purpose.EXPLORATION) << 16) + 1
    for r, run in enumerate(runs):
        for place, agent in enumerate(order[r]):
            words = oracles.random_words(7, int(run), 3, draw, int(agent) // 4)
            assert actual[r, place] == words[agent % 4] / 2**32


@kernel
def transform(words, out):  # type: ignore[no-untyped-def]
    for i in range(out.size):
        w = words[i]
        out[i] = kernels.standard_normal(w[0], w[1], w[2], w[3])


def test_normal_transform_in_the_far_tails() -> None:
    words = np.array(
        [(high, low, w, 0) for high in (0, 1, 2, 1000) for low in (0, 1, 9**9) for w in (0, 2**31)],
        np.uint64,
    )
    out = np.empty(len(words))
    transform(words, out)
    expected = [oracles.normal([int(w) for w in block]) for block in words]
    np.testing.assert_allclose(out, expected, rtol=1e-13)
    assert out.max() == pytest.approx(9.4926, abs=1e-3)
    assert out.min() == pytest.approx(-9.4926, abs=1e-3)


@pytest.fixture(scope="module")
def many_normals() -> np.ndarray:
    return stream(runs=100, agents=200_000).normal().ravel()


def test_moments_of_normals(many_normals: np.ndarray) -> None:
    n = many_normals.size
    # Standard errors of the sample moments of a standard normal: E z^2k = (2k - 1)!!
    for power, expected, variance in ((1, 0, 1), (2, 1, 2), (3, 0, 15), (4, 3, 96), (6, 15, 10170)):
        error = np.sqrt(variance / n)
        assert abs((many_normals**power).mean() - expected) < 4.5 * error, f"moment {power}"


@pytest.mark.parametrize("sigmas", [1.0, 2.0, 3.0, 4.0, 4.5, 5.0])
def test_tails_of_normals(many_normals: np.ndarray, sigmas: float) -> None:
    for side in (many_normals, -many_normals):
        expected = many_normals.size * stats.norm.sf(sigmas)
        assert abs((side > sigmas).sum() - expected) < 4.5 * np.sqrt(expected)


def test_normals_follow_their_distribution(many_normals: np.ndarray) -> None:
    assert stats.kstest(many_normals[:2_000_000], "norm").pvalue > 1e-3


def test_uniform_numbers_fill_their_range() -> None:
    values = stream(runs=50, agents=100_000).uniform(2.0, 5.0).ravel()
    assert values.min() >= 2.0
    assert values.max() < 5.0
    counts = np.histogram(values, bins=1000, range=(2.0, 5.0))[0]
    assert stats.chisquare(counts).pvalue > 1e-3


def test_integers_are_uniform() -> None:
    values = stream(runs=10, agents=100_000).integers(-3, 10)
    counts = np.bincount(values.ravel() + 3, minlength=13)
    assert len(counts) == 13
    assert stats.chisquare(counts).pvalue > 1e-3
    with pytest.raises(InvalidInput, match="low < high"):
        stream().integers(3, 3)


def test_neighbouring_coordinates_are_independent() -> None:
    agents, runs = 2_000, 200
    here = stream(runs=runs, agents=agents)
    base = here.normal()
    others = {
        "next draw": here.normal(),
        "next run": stream(runs=runs, agents=agents, first_run=1).normal(),
        "next step": stream(runs=runs, agents=agents, step=1).normal(),
        "next seed": stream(runs=runs, agents=agents, seed=6).normal(),
        "next agent": np.roll(base, 1, axis=1),
        "other purpose": Streams.of(5, np.arange(runs), agents).at(0, Purpose.INITIAL).normal(),
    }
    limit = 4.5 / np.sqrt(base.size)
    for what, other in others.items():
        assert abs(np.corrcoef(base.ravel(), other.ravel())[0, 1]) < limit, what
        squares = np.corrcoef(base.ravel() ** 2, other.ravel() ** 2)[0, 1]
        assert abs(squares) < limit, f"squares, {what}"
        assert not np.isin(base[0, :50], other[0, :50]).any() or what == "next agent"


def test_size_gives_every_agent_fresh_numbers() -> None:
    values = stream(runs=3, agents=4).uniform(size=(2, 3))
    assert values.shape == (3, 4, 2, 3)
    assert len(np.unique(values)) == values.size


def test_permutations_are_uniform() -> None:
    runs = 24_000
    shuffled = Streams.of(1, np.arange(runs), 4).at(0, Purpose.INITIAL).permutation()
    assert (np.sort(shuffled, axis=1) == np.arange(4)).all()
    code = shuffled @ (4 ** np.arange(4))
    _, counts = np.unique(code, return_counts=True)
    assert len(counts) == 24
    assert stats.chisquare(counts).pvalue > 1e-3


def test_rearranged_streams_follow_the_agents() -> None:
    streams = Streams.of(3, np.arange(2), 6)
    order = np.array([[5, 0, 1, 4, 3, 2], [1, 0, 2, 3, 5, 4]])
    for draw in ("normal", "permutation"):
        plain = getattr(streams.at(4, Purpose.INITIAL), draw)()
        moved = getattr(streams.rearranged(order).at(4, Purpose.INITIAL), draw)()
        np.testing.assert_array_equal(moved, np.take_along_axis(plain, order, axis=1))


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, "1", None])
def test_bad_seeds_are_refused(seed: object) -> None:
    with pytest.raises(InvalidInput, match="seed must be"):
        Streams.of(seed, [0], 1)  # type: ignore[arg-type]


def test_bad_runs_are_refused() -> None:
    with pytest.raises(InvalidInput, match="run numbers"):
        Streams.of(0, [2**32], 1)
