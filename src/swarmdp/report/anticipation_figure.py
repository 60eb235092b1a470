"""The interaction energy of pairs against their time to collision."""

from typing import TYPE_CHECKING

import numpy as np

from swarmdp.recordings.anticipation import Anticipation
from swarmdp.report import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLE = "Do individuals look ahead?"
CAPTION = (
    "How much rarer a time to collision is among recorded pairs than among pairs whose times were "
    "drawn at random: the interaction energy E = -ln g, with its standard error. The line is the "
    "power law that was fitted below the time at its end. Energies at or below zero are not drawn."
)


def anticipation_figure(found: Anticipation) -> "Figure":
    """Energy against time to collision, both on logarithmic axes."""
    above = found.energy > 0
    time, energy = found.time[above], found.energy[above]
    error = found.energy_error[above]
    with style.family():
        figure, ax = style.subplots(figsize=(4.8, 2.8))
        low = np.minimum(error, 0.9 * energy)
        ax.errorbar(time, energy, [low, error], fmt="o", markersize=4, label="recorded")
        if np.isfinite(found.exponent) and len(time):
            line = np.geomspace(float(time.min()), found.near, 20)
            weights = 1 / np.maximum(error / energy, 0.05) ** 2
            level = np.average(np.log(energy) + found.exponent * np.log(time), weights=weights)
            ax.plot(
                line,
                np.exp(level) * line**-found.exponent,
                color=style.ORANGE,
                label=f"tau^-{found.exponent:.2g}",
            )
        ax.set(
            xscale="log",
            yscale="log",
            xlabel="time to collision (s)",
            ylabel="interaction energy",
        )
        ax.legend()
    return figure
