"""The estimator of the uncertainty coefficient on pairs whose true coefficient is known.

The second heading of such a pair is the first, which is uniform, turned by a normally distributed
angle. Its standard deviation, the spread, runs from 0 (identical headings) to infinity
(independent ones).
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from studies import command
from studies.rows import Job, Row, collect, conditions, markdown, six_digits
from swarmdp.model.streams import derived_seed
from swarmdp.paper.density import INTERVALS
from swarmdp.paper.pairs import in_parts
from swarmdp.paper.uncertainty import PAIR_SHUFFLES, estimate
from swarmdp.report import style
from swarmdp.support import files
from swarmdp.support.errors import InvalidInput
from swarmdp.support.threads import over_chunks, thread_count

SPREADS = (*np.radians([5, 10, 14, 25, 40, 60, 80, 110]).tolist(), math.inf)
SAMPLES = (10_000, 200)  # pairs; at least as many as are used in a class
SEED = 1
WAVES = 50_000  # terms of the true density's Fourier series; enough for spreads above 1e-4

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Calibration:
    """Estimates (spreads, repeats) beside the truth (spreads,), from equally many pairs."""

    samples: int
    spreads: tuple[float, ...]  # in radians
    truth: Floats
    coefficient: Floats
    corrected: Floats
    error: Floats
    bias: Floats


def calibrate(
    samples: int,
    *,
    seed: int,
    repeats: int = 100,
    spreads: Sequence[float] = SPREADS,
    threads: int | None = None,
) -> Calibration:
    """Estimate the coefficients of pairs with these spreads, `repeats` times each."""
    for name, value, least in (("samples", samples, PAIR_SHUFFLES + 1), ("repeats", repeats, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise InvalidInput(f"{name} must be an integer of at least {least}, got {value!r}")
    table = np.empty((len(spreads), repeats, 4))

    def work(begin: int, end: int, check: Callable[[], None]) -> None:
        for place in range(begin, end):
            check()
            which, repeat = divmod(place, repeats)
            rng = np.random.default_rng(derived_seed(seed, which, repeat))
            estimated = estimate(*coupled_pairs(spreads[which], samples, rng))
            numbers = (estimated.coefficient, estimated.corrected, estimated.error, estimated.bias)
            table[which, repeat] = numbers

    over_chunks(len(spreads) * repeats, 8, thread_count(threads), work)
    coefficient, corrected, error, bias = np.moveaxis(table, -1, 0)
    return Calibration(
        samples=samples,
        spreads=tuple(spreads),
        truth=np.array([true_coefficient(spread) for spread in spreads]),
        coefficient=coefficient,
        corrected=corrected,
        error=error,
        bias=bias,
    )


def coupled_pairs(
    spread: float, samples: int, rng: np.random.Generator
) -> tuple[NDArray[np.int16], NDArray[np.int16]]:
    """Headings in parts of the circle: uniform ones, and the same turned by a normal angle."""
    first, other = rng.uniform(-math.pi, math.pi, (2, samples))
    turned = first + spread * rng.standard_normal(samples) if math.isfinite(spread) else other
    return in_parts(first), in_parts(turned)


def true_coefficient(spread: float) -> float:
    """The uncertainty coefficient of coupled pairs, told apart in INTERVALS of the circle.

    The chance that the headings are m intervals apart is the density of their difference, averaged
    over both intervals; averaging over an interval is a sinc in the Fourier series.
    """
    if spread == 0:
        return 1.0
    if not math.isfinite(spread):
        return 0.0
    wave = np.arange(1, WAVES)
    series = np.exp(-0.5 * (spread * wave) ** 2) * np.sinc(wave / INTERVALS) ** 2
    apart = np.arange(INTERVALS)[:, None] * (2 * math.pi / INTERVALS)
    chance = (1 + 2 * (series * np.cos(apart * wave)).sum(axis=1)) / INTERVALS
    positive = chance[chance > 1e-300]
    return float(1 + (positive * np.log(positive)).sum() / math.log(INTERVALS))


def rows(calibration: Calibration) -> list[Row]:
    """How far the estimates are from the truth, a row for each spread."""
    gap, smoothed = (
        estimates - calibration.truth[:, None]
        for estimates in (calibration.corrected, calibration.coefficient)
    )
    columns: dict[str, Floats] = {
        "truth": calibration.truth,
        "smoothed": smoothed.mean(axis=1),
        "corrected": gap.mean(axis=1),
        "deviation": gap.std(axis=1, ddof=1),
        "stated_error": calibration.error.mean(axis=1),
        "shuffled": calibration.bias.mean(axis=1),
        "within": (np.abs(gap) <= 2 * calibration.error).mean(axis=1),
    }
    spreads = [round(math.degrees(s), 6) if math.isfinite(s) else None for s in calibration.spreads]
    cells = zip(*(six_digits(column) for column in columns.values()), strict=True)
    return [
        {"spread": spread, **dict(zip(columns, row, strict=True))}
        for spread, row in zip(spreads, cells, strict=True)
    ]


def study(output: Path, quick: bool = False) -> list[Row]:
    """Calibrate with many pairs and with the fewest that are used; write and return the rows.

    Parameters
    ----------
    output
        The folder for `calibration.json` (the rows) and `calibration.md` (the table of many pairs).
    quick
        Few repeats.

    """

    def measured(samples: int) -> Row:
        return {"estimates": rows(calibrate(samples, seed=SEED, repeats=3 if quick else 100))}

    jobs = [Job({"samples": samples}, partial(measured, samples)) for samples in SAMPLES]
    done = collect(output / "calibration.json", jobs, conditions(quick=quick, seed=SEED), _line)
    files.write_text(output / "calibration.md", table(done))
    return done


def _line(row: Row) -> str:
    return f"{row['samples']} pairs"


def table(done: Sequence[Row]) -> str:
    """The rows of many pairs as a table in Markdown."""
    head = ["spread", "truth", "smoothed - truth", "corrected - truth", "its s.d.", "stated error"]
    lines = []
    for row in done[0]["estimates"]:
        spread = "independent" if row["spread"] is None else f"{row['spread']:g}°"
        digits = 4 if row["truth"] else 5
        off = [f"{row[name]:+.{digits}f}" for name in ("smoothed", "corrected")]
        size = [f"{row[name]:.{digits}f}" for name in ("deviation", "stated_error", "shuffled")]
        lines.append([spread, f"{row['truth']:.4f}", *off, *size, f"{row['within']:.0%}"])
    return markdown([*head, "shuffled pairs", "within 2 errors"], lines)


def calibration_figure(calibration: Calibration) -> Figure:
    """How far estimates are from the truth on pairs whose coefficient is known."""
    place = np.arange(len(calibration.spreads))
    with style.family():
        figure, ax = style.subplots(figsize=(6.2, 3.4))
        for shift, values, label, colour, marker in (
            (
                -0.22,
                calibration.coefficient - calibration.truth[:, None],
                "smoothed",
                style.GREY,
                "s",
            ),
            (0.0, calibration.corrected - calibration.truth[:, None], "corrected", style.BLUE, "o"),
            (0.22, calibration.bias, "shuffled pairs (truth: 0)", style.ORANGE, "^"),
        ):
            ax.errorbar(
                place + shift,
                values.mean(axis=1),
                values.std(axis=1, ddof=1) if values.shape[1] > 1 else None,
                color=colour,
                marker=marker,
                markersize=4,
                linestyle="none",
                elinewidth=1,
                capsize=2,
                label=label,
            )
        ax.axhline(0, color="black", linewidth=0.8, zorder=0)
        spreads = [f"{np.degrees(s):.3g}°" if np.isfinite(s) else "∞" for s in calibration.spreads]
        names = [f"{s}\n{truth:.3f}" for s, truth in zip(spreads, calibration.truth, strict=True)]
        ax.set_xticks(place, names)
        ax.set(
            xlabel="spread of one heading around the other, and the true uncertainty coefficient",
            ylabel="estimate − truth",
        )
        repeats = calibration.coefficient.shape[1]
        ax.set_title(f"{calibration.samples} pairs; mean and s.d. of {repeats} estimates")
        ax.legend(loc="lower right")
    return figure


if __name__ == "__main__":
    command.main(study, "calibration", __doc__.split("\n")[0])
