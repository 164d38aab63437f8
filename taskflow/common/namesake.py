"""OpenStack's TaskFlow has the same import package: where both are installed, their files lie in one folder."""

import os.path

PROBLEM = (
    "OpenStack's TaskFlow is installed in the same folder as taskflow, and neither works:"
    " pip uninstall taskflow; pip install --force-reinstall --no-deps taskflow-cfd"
)


def mixed() -> bool:
    """Return whether files of that package lie among ours. Every import of taskflow asks, so pathlib stays out."""
    package = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120
    return os.path.exists(os.path.join(package, "engines"))  # noqa: PTH110, PTH118
