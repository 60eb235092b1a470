"""How far from its demo a swarm gets as its agents become simpler, as a figure."""

from matplotlib.figure import Figure

from swarmdp.fitting.smallest import TOGETHER, SmallestAgent
from swarmdp.report import style


def plot_smallest_agent(smallest: SmallestAgent) -> Figure:
    """Draw one panel for each thing that was made smaller (see `SmallestAgent.plot`).

    Full marks passed their verdict, open ones did not.
    """
    whats = [what for what in dict.fromkeys(a.what for a in smallest.attempts) if what != TOGETHER]
    with style.family():
        figure, panels = style.subplots(
            1, len(whats), figsize=(2.6 * len(whats), 2.8), squeeze=False, sharey=True
        )
        for what, axes in zip(whats, panels[0], strict=True):
            tried = sorted((a for a in smallest.attempts if a.what == what), key=lambda a: a.size)
            sizes, gaps = [a.size for a in tried], [a.gap for a in tried]
            (line,) = axes.plot(sizes, gaps, color="0.6", zorder=1)
            for passes, face in ((True, "tab:blue"), (False, "white")):
                some = [(a.size, a.gap) for a in tried if a.passes is passes]
                if some:
                    label = "passes its verdict" if passes else "does not"
                    axes.scatter(
                        *zip(*some, strict=True), c=face, edgecolors="tab:blue", label=label
                    )
            line.set_linewidth(1.0)
            axes.set_xlabel(what)
            if len(set(sizes)) > 2:
                axes.set_xscale("log")
        panels[0][0].set_ylabel("energy distance to the demo")
        panels[0][0].legend()
    assert isinstance(figure, Figure)
    return figure
