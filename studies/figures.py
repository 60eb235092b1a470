"""Figures of the studies: the reward updates beside each other, and what they carry over."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from studies.rows import Row
from swarmdp.report import style

COLUMNS = 4


def distances_figure(rows: Sequence[Row]) -> Figure:
    """How far every experiment of every method is from the expert, and how far rewards agree."""
    names = [_method(row) for row in rows]
    with style.family():
        figure, (left, right) = style.subplots(
            1, 2, figsize=(8.2, 0.27 * len(rows) + 1.0), sharey=True, width_ratios=[2.2, 1]
        )
        for place, row in enumerate(rows):
            distance = np.array(row["true_distance"])
            left.plot(
                distance, np.full(len(distance), place), "o", color=style.GREY, alpha=0.45, ms=3
            )
            left.plot(distance.mean(), place, "D", color=style.BLUE, ms=5)
            if "agreement" in row:
                right.barh(place, row["agreement"], color=style.ORANGE, height=0.6)
        left.set_xscale("log")
        left.xaxis.set_major_formatter("{x:g}")
        left.set_yticks(range(len(rows)), names)
        left.invert_yaxis()
        left.set(
            xlabel="distance |µ - µ_E| of true feature expectations",
            title="grey: one experiment each; blue: their mean",
        )
        right.set(xlim=(min(0, *right.get_xlim()), 1), xlabel="mean correlation")
        right.set_title("agreement of learned rewards")
        for ax in (left, right):
            ax.grid(axis="x", alpha=0.3, linewidth=0.5)
    return figure


def measures_figure(rows: Sequence[Row]) -> Figure:
    """The order parameter or energy over time of every method, beside the expert's."""
    vicsek = rows[0]["system"] == "vicsek"
    shown = [row for row in rows if row["method"] != "expert"]
    with style.family():
        figure, axes = _grid(len(shown))
        for ax, row in zip(axes, shown, strict=True):
            unit = 1.0 if vicsek else 1000.0
            expert = np.array(row["expert_measure"]) / unit
            time = np.arange(len(expert))
            low, high, mean = (
                np.array(row[f"measure_{name}"]) / unit for name in ("low", "high", "mean")
            )
            ax.fill_between(time, low, high, color=style.BLUE, alpha=0.2, linewidth=0)
            ax.plot(time, expert, color=style.EXPERT, label="expert")
            ax.plot(time, mean, "--", color=style.BLUE, label="learned, 10–90 % of experiments")
            ax.set_title(_method(row))
            ax.margins(x=0)
            ax.set_ylim(0, 1.03 if vicsek else None)
        label = "order parameter ω" if vicsek else "energy / 1000"
        _label_edges(axes, "time step", label)
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
    return figure


def rewards_figure(rows: Sequence[Row]) -> Figure:
    """The reward that every method learned, without offset and scale."""
    shown = [row for row in rows if "reward_mean" in row]
    with style.family():
        figure, axes = _grid(len(shown))
        for ax, row in zip(axes, shown, strict=True):
            value, mean, spread = (
                np.array(row[key]) for key in ("observation", "reward_mean", "reward_deviation")
            )
            ax.fill_between(
                value, mean - spread, mean + spread, color=style.ORANGE, alpha=0.35, linewidth=0
            )
            ax.plot(value, mean, color="black", linewidth=1.1)
            ax.axhline(0, color=style.GREY, linewidth=0.6, linestyle=":")
            ax.set_title(_method(row))
            ax.annotate(
                f"{row['agreement']:.2f}", (0.97, 0.86), xycoords="axes fraction", ha="right"
            )
            ax.margins(x=0)
            if row["observation_units"] == "degrees":
                ax.set_xticks([-90, 0, 90])
        first = shown[0]
        units = "" if first["observation_units"] == "1" else f" / {first['observation_units']}"
        _label_edges(axes, f"{first['observation_name']}{units}", "reward, mean 0, s.d. 1")
        figure.suptitle(
            "mean ± s.d. over experiments; the number is their mean correlation", fontsize=9
        )
    return figure


TRANSFERRED = (
    ("expert", "", "expert", style.EXPERT, "-"),
    ("re-planned", "max_margin", "re-planned, max_margin", style.BLUE, "--"),
    ("re-planned, remembering", "max_margin", "re-planned, remembering", style.GREEN, "-"),
    ("policy re-used", "max_margin", "policy re-used, max_margin", style.GREY, "-."),
    ("clone", "recorded", "clone, recorded actions", style.ORANGE, ":"),
)


def transfer_figure(rows: Sequence[Row]) -> Figure:
    """The order parameter over time in every changed swarm: expert, re-planned, re-used, cloned."""
    names = list(dict.fromkeys(row["circumstance"] for row in rows))
    row_of = {(r["circumstance"], r["controller"], r["source"]): r for r in rows}
    with style.family():
        figure, axes = _grid(len(names), columns=3)
        for ax, name in zip(axes, names, strict=True):
            for controller, source, label, colour, line in TRANSFERRED:
                row = row_of.get((name, controller, source))
                if row is None:
                    continue
                time = np.arange(len(row["order_mean"]))
                if controller != "expert":
                    ax.fill_between(
                        time, row["order_low"], row["order_high"], color=colour, alpha=0.15, lw=0
                    )
                ax.plot(time, row["order_mean"], line, color=colour, label=label)
            ax.set_title(name)
            ax.set_ylim(0, 1.03)
            ax.margins(x=0)
        _label_edges(axes, "time step", "order parameter ω", columns=3)
        lines, labels = axes[0].get_legend_handles_labels()
        columns = 3 if len(labels) > 4 else 4
        figure.legend(lines, labels, loc="outside upper center", ncols=columns)
    return figure


def transfer_distances_figure(rows: Sequence[Row]) -> Figure:
    """The distance to the expert in every changed swarm, by who moves it."""
    names = list(dict.fromkeys(row["circumstance"] for row in rows))
    who = list(dict.fromkeys((row["controller"], row["source"]) for row in rows))
    row_of = {(r["circumstance"], r["controller"], r["source"]): r for r in rows}
    markers = {
        "expert": (style.EXPERT, iter("_")),
        "re-planned": (style.BLUE, iter("oshp^Dd")),
        "policy re-used": (style.GREY, iter("P")),
        "clone": (style.ORANGE, iter("vX")),
    }
    with style.family():
        figure, ax = style.subplots(figsize=(8.2, 3.8))
        for k, (controller, source) in enumerate(who):
            of_controller = [row_of.get((name, controller, source)) for name in names]
            place = [
                i + 0.07 * (k - len(who) / 2)
                for i, row in enumerate(of_controller)
                if row is not None
            ]
            values = [np.array(row["true_distance"]) for row in of_controller if row is not None]
            colour, left = markers[controller]
            label = f"{controller}, {source}" if source else controller
            ax.errorbar(
                place,
                [value.mean() for value in values],
                [value.std(ddof=1) / np.sqrt(len(value)) for value in values],
                fmt=next(left),
                color=colour,
                ms=4.5,
                elinewidth=1,
                label=label,
            )
        ax.set_yscale("log")
        ax.yaxis.set_major_formatter("{x:g}")
        ax.set_xticks(range(len(names)), [name.replace(" the ", "\nthe ") for name in names])
        ax.tick_params(axis="x", labelsize=7.5)
        ax.set_ylabel("distance |µ - µ_E|, mean ± error")
        ax.grid(axis="y", alpha=0.3, linewidth=0.5)
        figure.legend(loc="outside upper center", ncols=4, fontsize=8)
    return figure


def _method(row: Row) -> str:
    if row["actions"]:
        return f"{row['method']}, {row['actions']}"
    method = str(row["method"])
    return f"{method}, single agent" if row["estimator"] == "single" else method


def _grid(count: int, columns: int = COLUMNS) -> tuple[Figure, list[Axes]]:
    """So many panels with common axes; places that are left over stay empty."""
    lines = -(-count // columns)
    figure, axes = style.subplots(
        lines,
        columns,
        figsize=(8.2, 1.75 * lines + 0.5),
        sharex=True,
        sharey=True,
        squeeze=False,
    )
    for ax in axes.flat[count:]:
        ax.set_visible(False)
    return figure, list(axes.flat[:count])


def _label_edges(axes: Sequence[Axes], below: str, beside: str, columns: int = COLUMNS) -> None:
    """Label the panels that have none below them or to their left."""
    for i, ax in enumerate(axes):
        if i % columns == 0:
            ax.set_ylabel(beside)
        if i + columns >= len(axes):
            ax.set_xlabel(below)
            ax.xaxis.set_tick_params(labelbottom=True)
