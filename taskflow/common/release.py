"""Version of this build, from the distribution taskflow-cfd."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("taskflow-cfd")
except PackageNotFoundError:  # imported straight from its folder
    __version__ = "0.1.dev0"
