"""How figures come into the pages of the gallery that pyplot does not know, as those of `ds.flow.streamlines()`."""

from typing import Any

from matplotlib.figure import Figure
from sphinx_gallery.scrapers import figure_rst

DPI = 110


def without_pyplot(block: Any, about: dict[str, Any], gallery: dict[str, Any]) -> str:
    """Save the figures among the values of a script that no cell before has shown."""
    figures = [value for value in about["example_globals"].values() if isinstance(value, Figure)]
    paths = []
    for figure in figures:
        if not hasattr(figure, "number") and not hasattr(figure, "in_gallery"):
            paths.append(next(about["image_path_iterator"]))
            figure.savefig(paths[-1], dpi=DPI)
            figure.in_gallery = True
    return figure_rst(paths, gallery["src_dir"])
