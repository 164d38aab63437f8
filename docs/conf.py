"""How Sphinx builds this site. It needs no network, neither to build nor to be read."""

import taskflow

project = "taskflow"
author = copyright = "The taskflow developers"  # noqa: A001
version = release = taskflow.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx-mathjax-offline"]
myst_enable_extensions = ["dollarmath", "html_image"]
myst_heading_anchors = 4
exclude_patterns = ["images"]
nitpicky = True
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # signatures are read as they are written; the prose says what is meant
default_role = "code"

html_theme = "furo"
html_title = f"taskflow {version}"
html_copy_source = False
