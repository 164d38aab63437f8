"""Block ILU(0) of NVIDIA's cuSPARSE on the cells of one chart, beside which sweeps are timed.

Its functions for blocks (`bsrilu02`, `bsrsv2`) go by levels, which on such cells are the hyperplanes; it finds them in
an analysis that is not timed.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from taskflow.bench.timing import timed
from taskflow.common.caching import cached_property
from taskflow.common.errors import BadInput
from taskflow.runtime.regions import Triple

SIDE = 4  # rows of a block
LIBRARY = "libcusparse.so.12"  # of CUDA 12 and 13; CuPy has loaded it
ROWS, PLAIN, LEVELS = 0, 0, 1  # blocks are stored by rows; not transposed; the policy that goes by levels
Triangle = tuple[int, int]
LOWER, UPPER = (0, 1), (1, 0)  # which triangle, and whether its diagonal is that of the matrix (0) or 1


def block_rows(cells: Triple) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Where the rows of a matrix begin, and the columns of its blocks in order: a row for each cell, x fastest, with a
    block for the cell and for each of its up to six neighbours.
    """
    strides = list(accumulate(cells[:2], int.__mul__, initial=1))
    index = np.arange(int(np.prod(cells)), dtype=np.int32)
    place = [index // stride % n for stride, n in zip(strides, cells, strict=True)]
    offsets = [(-stride, place[axis] > 0) for axis, stride in reversed(list(enumerate(strides)))]
    offsets += [(0, index >= 0)]
    offsets += [(stride, place[axis] < cells[axis] - 1) for axis, stride in enumerate(strides)]
    inside = np.stack([inside for _, inside in offsets], axis=1)
    columns = np.stack([index + offset for offset, _ in offsets], axis=1)[inside]
    starts = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
    return starts.astype(np.int32), columns.astype(np.int32)


@dataclass(frozen=True)
class BlockFactors:
    """A matrix with a dominant diagonal on a GPU, its factors in its place, and solutions with them."""

    cells: Triple
    precision: Literal["single", "double"]

    @cached_property
    def matrix(self) -> tuple[Any, Any, Any]:
        """Blocks [n][4][4], the starts of rows and the columns: arrays of CuPy."""
        import cupy

        starts, columns = block_rows(self.cells)
        pivots = columns == np.repeat(np.arange(starts.size - 1), np.diff(starts))
        dtype = np.float32 if self.precision == "single" else np.float64
        blocks = cupy.random.default_rng(1).random((columns.size, SIDE, SIDE), dtype) / 10
        blocks[cupy.asarray(pivots)] += 4 * cupy.eye(SIDE, dtype=dtype)
        return blocks, cupy.asarray(starts), cupy.asarray(columns)

    def prepare(self) -> None:
        """Analyse the matrix, for factors and for solutions with them. From then on all is on CuPy's current stream,
        where its arrays are made: who ran a block in this thread has left another than the default.
        """
        import cupy
        from cupy.cuda.device import get_cusparse_handle

        stream = ctypes.c_void_p(cupy.cuda.get_current_stream().ptr)
        _checked("cusparseSetStream", ctypes.c_void_p(get_cusparse_handle()), stream)
        for name, triangle in (("bsrilu02", None), ("bsrsv2", LOWER), ("bsrsv2", UPPER)):
            need = ctypes.c_int()
            self._call(f"{name}_bufferSize", triangle, (), (ctypes.byref(need),))
            self._buffers[name, triangle] = cupy.empty(need.value, np.uint8)
            self._call(f"{name}_analysis", triangle, (), (LEVELS, self._buffers[name, triangle].data.ptr))

    def factorise(self) -> None:
        """The factors, in place of the matrix."""
        self._call("bsrilu02", None, (), (LEVELS, self._buffers["bsrilu02", None].data.ptr))

    def solve(self, right: Any, between: Any, solution: Any) -> None:
        """L between = right, then U solution = between: arrays of CuPy with four values for each cell."""
        one = ctypes.byref((ctypes.c_float if self.precision == "single" else ctypes.c_double)(1))
        for triangle, b, x in ((LOWER, right, between), (UPPER, between, solution)):
            work = LEVELS, self._buffers["bsrsv2", triangle].data.ptr
            self._call("bsrsv2_solve", triangle, (one,), (b.data.ptr, x.data.ptr, *work))

    @cached_property
    def _buffers(self) -> dict[tuple[str, Triangle | None], Any]:
        return {}

    @cached_property
    def _infos(self) -> dict[Triangle | None, ctypes.c_void_p]:
        infos = {None: ctypes.c_void_p(), LOWER: ctypes.c_void_p(), UPPER: ctypes.c_void_p()}
        for triangle, info in infos.items():
            _checked(f"cusparseCreateB{'srilu02' if triangle is None else 'srsv2'}Info", ctypes.byref(info))
        return infos

    @cached_property
    def _descriptions(self) -> dict[Triangle | None, ctypes.c_void_p]:
        descriptions: dict[Triangle | None, ctypes.c_void_p] = {}
        for triangle in (None, LOWER, UPPER):
            of = descriptions[triangle] = ctypes.c_void_p()
            _checked("cusparseCreateMatDescr", ctypes.byref(of))
            if triangle is not None:
                _checked("cusparseSetMatFillMode", of, triangle[0])
                _checked("cusparseSetMatDiagType", of, triangle[1])
        return descriptions

    def _call(self, name: str, triangle: Triangle | None, before: Sequence[Any], after: Sequence[Any]) -> None:
        from cupy.cuda.device import get_cusparse_handle

        blocks, starts, columns = self.matrix
        turned = () if triangle is None else (PLAIN,)
        sizes = ctypes.c_int(starts.size - 1), ctypes.c_int(columns.size)
        arrays = (ctypes.c_void_p(array.data.ptr) for array in (blocks, starts, columns))
        _checked(
            f"cusparse{'S' if self.precision == 'single' else 'D'}{name}", ctypes.c_void_p(get_cusparse_handle()), ROWS,
            *turned, *sizes, *before, self._descriptions[triangle], *arrays, SIDE, self._infos[triangle],
            *(ctypes.c_void_p(word) if isinstance(word, int) and word > LEVELS else word for word in after),
        )  # fmt: skip


@cache
def _function(name: str) -> Callable[..., int]:
    try:
        function: Callable[..., int] = getattr(ctypes.CDLL(LIBRARY), name)
    except (OSError, AttributeError) as error:
        raise BadInput(f"--cusparse: {error}; omit it, or install a cuSPARSE that has {name}") from None
    return function


def _checked(name: str, *arguments: Any) -> None:
    if status := _function(name)(*arguments):
        raise BadInput(f"--cusparse: {name} fails with status {status}; omit it")


def time_cusparse(cells: Triple, precision: Literal["single", "double"]) -> list[tuple[str, float, int]]:
    """Medians of factorisation and of both solves, in seconds, with their numbers of samples.

    Factors are made of factors again and again, whose numbers the time does not depend on. Raises BadInput where there
    is no such function.
    """
    import cupy

    factors, wait = BlockFactors(cells, precision), cupy.cuda.runtime.deviceSynchronize
    blocks, starts, _ = factors.matrix
    vectors = cupy.ones((3, SIDE * (starts.size - 1)), blocks.dtype)
    factors.prepare()
    timings = [("factorisation", *timed(factors.factorise, wait))]
    return [*timings, ("solve", *timed(lambda: factors.solve(*vectors), wait))]
