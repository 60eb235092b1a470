"""How Sphinx builds the site: `make docs`."""

import sys
from pathlib import Path

import swarmdp

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "swarmdp"
author = "The swarmdp developers"
copyright = "2026, the swarmdp developers"  # noqa: A001 - Sphinx's name
release = version = swarmdp.__version__

extensions = [
    "command_line",
    "mathml",
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_design",
]
exclude_patterns = [
    "_build",
    "_ext",
    "conf.py",
    "tutorials/*.ipynb",
]  # notebooks are made from scripts
default_role = "code"  # single backticks, as in docstrings

# Pages are MyST; tutorials and the gallery are percent scripts that run while the site is built.
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
nb_custom_formats = {".py": ["jupytext.reads", {"fmt": "py:percent"}]}
nb_execution_in_temp = True  # what notebooks write is not kept
nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_timeout = 900
nb_merge_streams = True
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".py": "myst-nb"}

autosummary_generate = True
autodoc_typehints = "none"  # the docstrings name types, shapes and units
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
templates_path = ["_templates"]

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "swarmdp"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_sidebars: dict[str, list[str]] = {"index": [], "gallery": []}  # pages without others below
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 8,
    "show_toc_level": 2,
    "use_edit_page_button": False,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
