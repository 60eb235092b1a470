"""Pictures of the study of small swarms: what local rewards can and cannot do."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from studies.rows import Row
from swarmdp.report import style

FLOOR = 1e-9  # where a share of nothing at all is drawn
LABELS = {
    "radius": "observation radius",
    "agents": "number of agents",
    "noise": "noise / noise of pure chance",
    "discount": "discount γ",
}
HEIGHT = {"o": 1.0, "s": 3.0, "^": 3.0, "D": 9.0}  # so that markers of nothing do not overlap
PURE_CHANCE = {"ising": 0.5, "vicsek": 1.0}
SERIES = (  # kind, what is seen, radius (None: any), label, colour, marker
    ("ising", "energy", 1, "Ising ring, energy, radius 1", style.BLUE, "o"),
    ("ising", "energy", 2, "Ising ring, energy, radius 2", style.EXPERT, "s"),
    ("vicsek", "energy", 1, "Vicsek ring, radius 1", style.ORANGE, "D"),
)
BY_RADIUS = (
    ("ising", "energy", None, "Ising ring, energy", style.BLUE, "o"),
    ("ising", "spins", None, "Ising ring, spins", style.GREY, "^"),
    ("vicsek", "energy", None, "Vicsek ring", style.ORANGE, "D"),
)


def study_figures(rows: Sequence[Row]) -> Iterator[tuple[str, Figure]]:
    """All figures of the study for which there are rows, each with its name."""
    if any(row["part"] == "shares" for row in rows):
        yield "shares", shares_figure([row for row in rows if row["part"] == "shares"])
    learners = [row for row in rows if row["part"] == "learners"]
    if learners:
        yield "equilibria", equilibria_figure(learners)


def shares_figure(rows: Sequence[Row]) -> Figure:
    """Shares of rewards, their ratio, and agreement, by radius, agents, noise and discount."""
    with style.family():
        figure, axes = style.subplots(3, 4, figsize=(10.2, 7.2), sharex="col", sharey="row")
        for column, varied in enumerate(LABELS):
            of_axis = [row for row in rows if row["varied"] == varied]
            for series in BY_RADIUS if varied == "radius" else SERIES:
                _draw_series(axes[:, column], of_axis, varied, series)
            _finish_column(axes[:, column], varied)
        axes[0, 0].set_ylabel("share of rewards")
        axes[0, 0].set(yscale="log", ylim=(FLOOR / 3, 5))
        axes[0, 0].set_yticks([3 * FLOOR, 1e-7, 1e-5, 1e-3, 1e-1])
        axes[0, 0].set_yticklabels(["none", "$10^{-7}$", "$10^{-5}$", "$10^{-3}$", "$10^{-1}$"])
        axes[0, 0].minorticks_off()
        axes[1, 0].set(ylabel="R_G / R_L", ylim=(-0.05, 1.05))
        axes[2, 0].set(ylabel="states where the action\nis globally best", ylim=(0.48, 1.02))
        figure.legend(
            handles=_legend(), loc="outside upper center", ncols=3, fontsize=8, columnspacing=2
        )
    return figure


def _legend() -> list[Line2D]:
    """What colours, markers and lines mean, for all panels."""
    entries = [
        (f"{label} (first column)" if radius is None else label, colour, marker)
        for _, sees, radius, label, colour, marker in (*SERIES, *BY_RADIUS)
        if radius is not None or sees == "spins"
    ]
    swarms = [
        Line2D([], [], color=colour, marker=marker, markersize=4, linewidth=1.1, label=label)
        for label, colour, marker in entries
    ]
    common: dict[str, Any] = {"color": "black", "marker": "o", "markersize": 4, "linewidth": 1.1}
    local = Line2D([], [], label="filled: locally optimal, R_L", **common)
    everywhere = Line2D(
        [],
        [],
        label="open: globally optimal, R_G",
        linestyle=":",
        markerfacecolor="white",
        **common,
    )
    return [*swarms, local, everywhere]


def _draw_series(axes: Any, rows: Sequence[Row], varied: str, series: tuple[Any, ...]) -> None:
    kind, sees, radius, _, colour, marker = series
    of_kind = [r for r in rows if r["kind"] == kind and (kind == "vicsek" or r["sees"] == sees)]
    if radius is not None:
        of_kind = [row for row in of_kind if row["radius"] == radius]
    if not of_kind:
        return
    x = np.array([_place(row, varied) for row in of_kind])
    style_of: dict[str, Any] = {
        "color": colour,
        "marker": marker,
        "markersize": 4,
        "linewidth": 1.1,
    }
    for name, line, face in (("local", "-", colour), ("global", ":", "white")):
        shares = [row[name] for row in of_kind]
        value, low, high = (
            np.array([0.0 if s[n] is None else math.exp(s[n]) for s in shares])
            for n in ("log", "log_low", "log_high")
        )
        none = value < FLOOR
        shown = np.where(none, np.nan, value)  # no line leads to what is not there
        spread = [np.where(none, 0.0, value - low), np.where(none, 0.0, high - value)]
        axes[0].errorbar(x, shown, spread, linestyle=line, markerfacecolor=face, **style_of)
        bottom = np.full(none.sum(), FLOOR * HEIGHT[marker])
        top = 4 if name == "local" else 3  # filled markers show where R_L is nothing, too
        axes[0].plot(x[none], bottom, linestyle="", markerfacecolor=face, zorder=top, **style_of)
    ratio, low, high = (
        np.array([row["ratio"][n] if row["ratio"] else np.nan for row in of_kind])
        for n in ("value", "low", "high")
    )
    # A ratio is at most one, and so is its interval, but not its estimate.
    reach = [np.maximum(ratio - low, 0.0), np.maximum(high - ratio, 0.0)]
    axes[1].errorbar(x, ratio, reach, linestyle="-", **style_of)
    agreement = np.array([row["agreement"] or np.nan for row in of_kind], dtype=float)
    error = np.array([row["agreement_error"] or 0.0 for row in of_kind], dtype=float)
    axes[2].errorbar(x, agreement, 2 * error, linestyle="-", **style_of)


def _place(row: Row, varied: str) -> float:
    if varied == "radius":
        return -1.0 if row["radius"] is None else float(row["radius"])
    if varied == "noise":
        return float(row["noise"] / PURE_CHANCE[row["kind"]])
    return float(row[varied])


def _finish_column(axes: Any, varied: str) -> None:
    axes[2].set_xlabel(LABELS[varied])
    if varied == "radius":
        axes[2].set_xticks([-1, 0, 1, 2, 3], ["nothing", "0", "1", "2", "3"])
    if varied == "agents":
        axes[2].set_xticks(range(2, 10))
    for ax in axes:
        ax.grid(axis="y", color="0.92", linewidth=0.6)
        ax.set_axisbelow(True)


def equilibria_figure(rows: Sequence[Row]) -> Figure:
    """How often equilibria exist and are found, and what anarchy and locality cost."""
    names = [_name(row) for row in rows]
    place = np.arange(len(rows))[::-1]
    with style.family():
        figure, (equilibria, price) = style.subplots(
            1, 2, figsize=(10.2, 0.5 * len(rows) + 1.6), sharey=True, width_ratios=[1.2, 1]
        )
        _draw_equilibria(equilibria, rows, place)
        equilibria.set_yticks(place, names)
        _draw_prices(price, rows, place)
    return figure


def _name(row: Row) -> str:
    if row["kind"] == "random":
        return f"random swarm {row['seed']}"
    if row["kind"] == "ising":
        return f"Ising ring, radius {row['radius']}"
    return f"Vicsek ring, radius {row['radius']}"


def _draw_equilibria(ax: Axes, rows: Sequence[Row], place: Any) -> None:
    total = np.array([row["rewards"] for row in rows])
    exists = np.array([row["with_equilibrium"] for row in rows]) / total
    ax.barh(place, exists, 0.75, color="0.88", label="an equilibrium exists")
    marks = (
        ("best_responses", "exact best responses", "s", style.EXPERT, 0.2),
        ("default", "Algorithm 2, default", "o", style.BLUE, 0.0),
        ("paper", "Algorithm 2, paper", "D", style.ORANGE, -0.2),
    )
    for name, label, marker, colour, shift in marks:
        share = np.array([row[name]["found"] for row in rows]) / total
        # Wilson's interval, 95 %.
        middle = (share + 1.92 / total) / (1 + 3.84 / total)
        reach = np.sqrt(share * (1 - share) / total + 0.96 / total**2) * 1.96 / (1 + 3.84 / total)
        ax.errorbar(middle, place + shift, xerr=reach, linestyle="", color=colour, elinewidth=0.8)
        ax.plot(share, place + shift, marker, color=colour, markersize=5, label=label)
    ax.set(xlabel="share of random rewards for which an equilibrium is found", xlim=(0, 1.02))
    ax.legend(fontsize=7, loc="lower center", bbox_to_anchor=(0.45, 1.0), ncols=4, columnspacing=1)


def _draw_prices(ax: Axes, rows: Sequence[Row], place: Any) -> None:
    prices = (
        ("stability", "stability: best policy / best equilibrium", style.GREY, "^", 0.25),
        ("anarchy", "anarchy: best policy / worst equilibrium", style.ORANGE, "D", 0.0),
        ("locality", "locality: central control / best policy", style.BLUE, "o", -0.25),
    )
    for name, label, colour, marker, shift in prices:
        quantiles = np.array([row[name] or [np.nan] * 5 for row in rows])
        low, middle, high = quantiles[:, 1], quantiles[:, 2], quantiles[:, 3]
        ax.errorbar(
            middle,
            place + shift,
            xerr=[middle - low, high - middle],
            linestyle="",
            marker=marker,
            markersize=4,
            color=colour,
            label=label,
        )
        ax.plot(quantiles[:, 4], place + shift, "x", color=colour, markersize=4)
    ax.axvline(1, color="black", linewidth=0.8)
    ax.set_xlabel("price: median, 10–90 % of rewards, × largest")
    ax.legend(fontsize=7, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=1)
