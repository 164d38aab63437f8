"""How Sphinx builds this site. It needs no network, neither to build nor to be read."""

import sys
from pathlib import Path

from sphinx_gallery.sorting import ExplicitOrder

import taskflow

sys.path.insert(0, str(Path(__file__).parent))  # the site's own modules

project = "taskflow"
author = copyright = "The taskflow developers"  # noqa: A001
version = release = taskflow.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
extensions += ["sphinx.ext.mathjax", "sphinx-mathjax-offline", "sphinx_copybutton", "sphinx_design"]
extensions += ["sphinx_gallery.gen_gallery"]
myst_enable_extensions = ["colon_fence", "dollarmath", "html_image"]
myst_heading_anchors = 4
exclude_patterns = ["_static", "images", "gallery/*.rst", "gallery/runs", "notes"]
nitpicky = True
nitpick_ignore_regex = [("py:class", ".*")]  # types of parameters are words: "path-like", "array [z, y, x]"
napoleon_google_docstring = False
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # signatures are read as they are written; the prose says what is meant
default_role = "code"

GALLERY = (
    "cavity", "taylor_green", "cylinder", "convection", "channel", "openings", "city", "two_phases", "wing", "coupling",
    "control", "sweep",
)  # fmt: skip
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "examples/gallery",  # what is built; the scripts are run once, and again when they change
    "within_subsection_order": ExplicitOrder([f"plot_{name}.py" for name in GALLERY]),
    "matplotlib_animations": True,
    "image_scrapers": ("matplotlib", "gallery_figures.without_pyplot"),
    "capture_repr": ("_repr_html_",),
    "abort_on_example_error": True,
    "min_reported_time": 1e9,
    "show_signature": False,
    "write_computation_times": False,  # a page that asks the network for scripts
    "download_all_examples": False,
}

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_title = f"taskflow {version.partition('+')[0]}"
html_copy_source = False
