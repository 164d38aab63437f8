"""OpenStack's TaskFlow has the same import package: if both are installed, their files are in one folder."""

import os.path

PROBLEM = (
    "OpenStack's TaskFlow is installed in the same folder as taskflow, and neither works:"
    " pip uninstall taskflow; pip install --force-reinstall --no-deps taskflow-cfd"
)


def mixed() -> bool:
    """Return True if files of that package are among ours. Called by every import of taskflow, so pathlib is avoided.
    """
    package = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120
    return os.path.exists(os.path.join(package, "engines"))  # noqa: PTH110, PTH118
