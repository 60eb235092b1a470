"""How Sphinx builds the site: `make docs`."""

import dataclasses
import os
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import swarmdp
import swarmdp.report

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

# Notebooks run with their own settings, not with those of the user who builds the site. Kernels on
# this machine need no encryption, and should not warn about it.
profile = HERE / "_build" / "ipython" / "profile_default"
profile.mkdir(parents=True, exist_ok=True)
(profile / "ipython_kernel_config.py").write_text("c.IPKernelApp.log_level = 'ERROR'\n", "utf-8")
os.environ["IPYTHONDIR"] = str(profile.parent)

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
nb_output_stderr = "remove"  # lines about compiling
source_suffix = {".rst": "restructuredtext", ".md": "myst-nb", ".py": "myst-nb"}

namespaces = {f"swarmdp.{name}": getattr(swarmdp, name) for name in dir(swarmdp)}
namespaces = {name: held for name, held in namespaces.items() if isinstance(held, ModuleType)}
# `swarmdp.errors` and some others are attributes only, and Sphinx imports them as modules.
sys.modules.update(namespaces)

autosummary_generate = True
autosummary_context = {  # fields are explained among the parameters
    "fields": {
        name: [field.name for field in dataclasses.fields(kind)]
        for module in (swarmdp, *namespaces.values())
        for name in dir(module)
        if dataclasses.is_dataclass(kind := getattr(module, name))
    }
}
autodoc_typehints = "none"  # the docstrings name types, shapes and units
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
templates_path = ["_templates"]

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "swarmdp"
html_static_path = ["_static"]
(extra := HERE / "_build" / "extra").mkdir(parents=True, exist_ok=True)
html_extra_path = ["_build/extra"]  # see `write_studio_page`
html_css_files = ["site.css"]
html_show_sourcelink = False
html_sidebars: dict[str, list[str]] = {
    page: [] for page in ("index", "gallery", "start/index")
}  # pages without others below
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


def readable(
    app: object, what: str, name: str, item: object, options: object, signature: str, returns: str
) -> tuple[str, str] | None:
    """Signatures that can be read: none of protocols, and no number with sixteen digits."""
    if getattr(item, "_is_protocol", False):
        return "", returns
    if signature is None:
        return None
    short = re.sub(r"-?\d+\.\d{5,}", lambda number: f"{float(number[0]):.4g}", signature)
    return re.sub(r"\((-?[\d.]+, ){5,}-?[\d.]+\)", "(...)", short), returns


def write_studio_page(app: object) -> None:
    """The page of the studio that `studio.md` shows in a frame; removed by `make clean`."""
    from swarmdp.studio.catalogue import BUILT_IN
    from swarmdp.studio.export import export

    page = extra / "studio-page.html"
    if not page.exists():
        export(page, BUILT_IN, next(iter(BUILT_IN)), None)


def setup(app: Any) -> None:
    """Called by Sphinx."""
    app.connect("builder-inited", write_studio_page)
    app.connect("autodoc-process-signature", readable)
