"""Figures, animations and pages of swarms, fits and recordings.

In the order of dependence:

- `style` and `colours`: the common look of all figures;
- `scenes`: swarms side by side; `drawing` draws them with Matplotlib, `animation` writes them as
  GIF, MP4 or page, `player` packs them for a page, `inline` shows them in notebooks;
- `swarms`, `gridworlds`, `fits`: figures of swarms, of gridworlds and of fits;
- `page`: a report as one HTML file; `fit_page`, `analysis_page` and `tracks_page` say what is on
  the pages of `swarmdp fit`, `fit --tracks` and `tracks`. `templates` has their HTML, `assets`
  their style and scripts.

Decisions:

- A page is one file that makes no request: pictures are data in it (the SVG up to 150 kB, beyond
  that the smaller of SVG and PNG), its security policy allows only the script of a known digest,
  and a recorded swarm is 16-bit positions, 8-bit headings or single bits of spins.
- Dataclasses say what is on a page, Jinja2 templates how it looks. Text is escaped automatically;
  only style sheets, scripts and rendered templates go in as they are. There is one environment,
  `support/markup.py`, since rewards and policies show themselves in notebooks as well.
- A system says what it looks like (`picture`: arrows, dots or a grid) and what is measured of it
  (`measures`). Scenes are made from these alone; figures, animations and the player draw scenes and
  know no system.
- Figures have no window manager: they are made without pyplot, so a user's backend stays as it is
  and a notebook shows a figure once.
- Colours of moving agents have the same lightness for all headings, so that no agent fades on
  white or on black: the arrow shows the heading, the colour helps to find flocks. Ising swarms are
  shown at 5 steps a second: a mirror image, which blinks in every step, then flashes less than
  three times a second, the limit for photosensitive viewers.
- Error bars of a reward are drawn around the mean of fits to resampled demos, not around the bar: a
  bar that ends far from its dot comes from the chance of this demo.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
