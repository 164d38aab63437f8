"""Studies are commands of modules, given as the benchmarks are."""

from tests.bench.conftest import brief, here, refused, start

__all__ = ["brief", "here", "refused", "start"]
