"""Which build this is, and whether another package stands in its place.

The distribution is called taskflow-cfd: the name of the import package is that of OpenStack's TaskFlow on package
indexes, whose files land in the same folder where both are installed.
"""

from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

DISTRIBUTION = "taskflow-cfd"
REMEDY = f"pip uninstall taskflow; pip install --force-reinstall --no-deps {DISTRIBUTION}"
MIXED = f"OpenStack's TaskFlow is installed in the same folder as taskflow, and neither works: {REMEDY}"

try:
    __version__ = version(DISTRIBUTION)
except PackageNotFoundError:  # imported straight from its folder
    __version__ = "0.1.dev0"


def mixed() -> bool:
    """Whether files of OpenStack's TaskFlow lie among ours."""
    return (Path(__file__).parent / "engines").exists()
