"""How Sphinx builds this site. It needs no network, neither to build nor to be read."""

import taskflow

project = "taskflow"
author = copyright = "The taskflow developers"  # noqa: A001
version = release = taskflow.__version__

extensions = ["myst_parser"]
myst_heading_anchors = 3
exclude_patterns = ["images"]
nitpicky = True

html_theme = "furo"
html_title = f"taskflow {version}"
html_copy_source = False
