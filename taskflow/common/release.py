"""Version of this build, from the distribution taskflow-cfd."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("taskflow-cfd")
except PackageNotFoundError:  # imported from its folder without installation
    __version__ = "0.1.dev0"
