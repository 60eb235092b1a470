"""Pictures of a recording, and the page that `swarmdp tracks` writes."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from swarmdp.recordings.summary import Summary
from swarmdp.report import style
from swarmdp.report.page import Page, save_figures, write_page
from swarmdp.report.swarms import label_ends
from swarmdp.support.arrays import Floats, Ints

_MOST_PATHS = 60  # individuals whose paths are drawn
MOST_POINTS = 1500  # of one path, and of one curve over time
_MOST_IN_VIEWS = 60_000  # points of all paths that are drawn from each side
VIEWS = (
    "The recording from above and from the side",
    "The paths of all individuals after cleaning, one colour each: from above (x and y), from "
    "the front (x and z) and from the side (y and z).",
)


def write_recording(folder: Path, summary: Summary, title: str) -> list[Path]:
    """Write the figures and the page of a recording; return the paths, the page last."""
    recording = summary.recording
    count = min(recording.n_individuals, _MOST_PATHS)
    views = {"views": (*VIEWS, views_figure(summary))} if recording.n_axes == 3 else {}
    figures, written = save_figures(
        folder,
        views
        | {
            "paths": (
                "Paths",
                f"The paths of {count} of {recording.n_individuals} individuals, one colour each, "
                "as they are after cleaning (left), and where all of them were (right): the "
                "stronger the colour, the more often.",
                paths_figure(summary),
            ),
            "presence": (
                "Who is seen when",
                "How many individuals are seen over time, and when each of them is: white is "
                "absent, and a change of colour is where cleaning begins a new segment.",
                presence_figure(summary),
            ),
            "group": (
                "The group over time",
                "Polarisation (1: all go the same way) and milling (1: all circle around the "
                "centre of the group) over time, of those who move.",
                group_figure(summary),
            ),
            "distributions": (
                "Speeds and distances",
                "Speeds, and distances to the nearest neighbour; the line is the median.",
                distributions_figure(summary),
            ),
        },
    )
    dropped = "; ".join(f"{count} {words}" for words, count in summary.dropped.items() if count)
    introduction = [
        f"{recording!r}.",
        *(f"Note: {note}." for note in recording.notes),
        *(f"Remark: {remark}." for remark in summary.remarks),
        f"What cleaning does: {dropped or 'nothing'}.",
    ]
    cleaned = summary.cleaned
    page = Page(
        title=title,
        introduction=introduction,
        figures=figures,
        numbers={**summary.facts, "what cleaning does": dict(summary.dropped)},
        settings={
            "a step is a jump above": f"{cleaned.jump:g} times the median step "
            f"({cleaned.median_step:.3g} {recording.unit})",
            "gaps are interpolated up to": f"{cleaned.max_gap:g} s",
            "positions are smoothed over": f"{cleaned.smooth:g} s",
            "no heading below": f"{cleaned.slow:g} of the median speed",
        },
    )
    return [*written, write_page(folder / "index.html", page)]


def paths_figure(summary: Summary) -> Figure:
    """The paths of some individuals, and where all of them were, seen along the third axis."""
    recording = summary.recording
    places = summary.cleaned.positions[..., :2]
    low, high = summary.extent[:2, 0], summary.extent[:2, 1]
    with style.family():
        figure, (left, right) = style.subplots(1, 2, figsize=(8.4, 4.0))
        chosen = np.unique(
            np.linspace(0, recording.n_individuals - 1, _MOST_PATHS).round().astype(int)
        )
        colours = style.heading_colours(max(len(chosen), 1))
        every = max(1, recording.n_frames // MOST_POINTS)
        segment = summary.cleaned.segment
        for colour, individual in zip(colours, chosen, strict=False):
            pieces = _pieces(places[:, individual], segment[:, individual], every)
            width = 0.9 if len(chosen) <= 20 else 0.5
            left.add_collection(LineCollection(pieces, colors=colour, linewidths=width, alpha=0.8))
        seen = recording.positions[recording.present][:, :2]
        if len(seen) and (high > low).all():
            counts, _, _ = np.histogram2d(
                seen[:, 0], seen[:, 1], bins=_bins(low, high), range=summary.extent[:2]
            )
            right.imshow(
                np.sqrt(counts.T),
                origin="lower",
                extent=(low[0], high[0], low[1], high[1]),
                cmap="Blues",
                interpolation="nearest",
            )
        for ax in (left, right):
            _frame(ax, low, high)
            ax.set_xlabel(f"x ({recording.unit})")
        left.set_ylabel(f"y ({recording.unit})")
    return figure


def views_figure(summary: Summary) -> Figure:
    """The paths of all individuals from above, from the front and from the side."""
    recording = summary.recording
    places, unit = summary.cleaned.positions, recording.unit
    every = max(1, int(recording.present.sum()) // _MOST_IN_VIEWS)
    colours = style.heading_colours(max(recording.n_individuals, 1))
    with style.family():
        figure, panels = style.subplots(1, 3, figsize=(10.4, 3.8))
        for panel, (one, other), title in zip(
            panels,
            ((0, 1), (0, 2), (1, 2)),
            ("from above", "from the front", "from the side"),
            strict=True,
        ):
            paths = [places[::every, n][:, [one, other]] for n in range(recording.n_individuals)]
            panel.add_collection(LineCollection(paths, colors=colours, linewidths=0.6, alpha=0.7))
            panel.set_aspect("equal", adjustable="datalim")
            low, high = summary.extent[[one, other]].T
            panel.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), title=title)
            panel.set_xlabel(f"{'xyz'[one]} ({unit})")
            panel.set_ylabel(f"{'xyz'[other]} ({unit})")
    return figure


def _bins(low: Floats, high: Floats) -> list[int]:
    side = (high - low) / (high - low).max()
    return [max(2, round(50 * float(share))) for share in side]


def _frame(ax: Axes, low: Floats, high: Floats) -> None:
    ax.set_aspect("equal")
    if np.isfinite(low).all():
        margin = 0.03 * max(float((high - low).max()), 1e-12)
        ax.set(xlim=(low[0] - margin, high[0] + margin), ylim=(low[1] - margin, high[1] + margin))


def _pieces(path: Floats, segment: Ints, every: int) -> list[Floats]:
    """The segments of a path as lines."""
    seen = np.flatnonzero(segment >= 0)
    seen = (
        seen[np.unique(np.r_[0 : len(seen) : every, max(len(seen) - 1, 0)])] if len(seen) else seen
    )
    cuts = np.flatnonzero(np.diff(segment[seen])) + 1
    return [path[piece] for piece in np.split(seen, cuts) if len(piece) > 1]


def presence_figure(summary: Summary) -> Figure:
    """The number of individuals over time, and the segments of each."""
    recording = summary.recording
    every = max(1, recording.n_frames // MOST_POINTS)
    times = recording.times[::every]
    with style.family():
        figure, (above, below) = style.subplots(
            2, 1, figsize=(7.2, 3.6), sharex=True, height_ratios=[1, 2]
        )
        above.step(times, summary.present[::every], where="post", color=style.BLUE, lw=1)
        above.set(ylabel="individuals", ylim=(0, max(summary.present.max(), 1) * 1.08))
        segment = summary.cleaned.segment[::every]
        starts = np.where(segment >= 0, segment, np.iinfo(np.int64).max).min(axis=0)
        shade = np.where(segment >= 0, 0.45 + 0.45 * ((segment - starts) % 2), np.nan)
        below.imshow(
            np.where(np.isnan(shade.T), 0.0, shade.T),
            aspect="auto",
            origin="lower",
            cmap="Blues",
            vmin=0,
            vmax=1,
            interpolation="nearest",
            extent=(0, recording.duration, -0.5, recording.n_individuals - 0.5),
        )
        below.set(xlabel="time (s)", ylabel="individual")
        for ax in (above, below):
            ax.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    return figure


def group_figure(summary: Summary) -> Figure:
    """Polarisation and milling over time, means of windows where there are many frames."""
    times = summary.recording.times
    with style.family():
        figure, ax = style.subplots(figsize=(7.2, 2.6))
        for label, values, colour in (
            ("polarisation", summary.polarisation, style.BLUE),
            ("milling", summary.rotation, style.ORANGE),
        ):
            ax.plot(*_window_means(times, values), color=colour, lw=1, label=label)
        ax.set(xlabel="time (s)", ylim=(0, 1.02), xlim=(0, summary.recording.duration))
        label_ends(ax)
    return figure


def _window_means(times: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Means of windows, if there are more values than can be seen."""
    every = -(-len(values) // MOST_POINTS)
    if every == 1:
        return times, values
    starts = np.arange(0, len(values), every)
    measured = ~np.isnan(values)
    total = np.add.reduceat(np.where(measured, values, 0), starts)
    count = np.add.reduceat(measured.astype(np.int64), starts)
    return times[starts], np.where(count > 0, total / np.maximum(count, 1), np.nan)


def distributions_figure(summary: Summary) -> Figure:
    """Histograms of speeds and of distances to the nearest neighbour."""
    unit = summary.recording.unit
    with style.family():
        figure, axes = style.subplots(1, 2, figsize=(7.2, 2.6))
        for ax, values, label in (
            (axes[0], summary.speeds, f"speed ({unit}/s)"),
            (axes[1], summary.nearest, f"nearest neighbour ({unit})"),
        ):
            ax.set(xlabel=label, yticks=[])
            if not len(values):
                ax.text(0.5, 0.5, "not known", ha="center", transform=ax.transAxes)
                continue
            top = float(np.quantile(values, 0.995)) or 1.0
            ax.hist(values, bins=60, range=(0, top), color=style.BLUE, alpha=0.8)
            ax.axvline(float(np.median(values)), color=style.RED, lw=1.2)
        axes[0].set_ylabel("how often")
    return figure
