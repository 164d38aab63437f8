"""The texts compiled for a task, with the same body: for launches over one box, and for lists of pieces.

A list is one launch over many boxes. Its text has the task as a function, and a kernel that calls it. On a GPU every
thread block finds its piece in one table, and the arguments of the piece in another. On a CPU one call loops over the
argument blocks of separate calls.
"""

from __future__ import annotations

import re
from functools import cache

import numpy as np

from taskflow.runtime.machine.kernel.agreement import parameters
from taskflow.runtime.machine.kernel.host_call import thunk
from taskflow.runtime.machine.kernel.includes import INCLUDE
from taskflow.runtime.machine.kernel.piece_table import piece_dtype
from taskflow.runtime.machine.kernel.text import complete, settings
from taskflow.runtime.tasks import Sweep, Task

LISTED, BLOCK = "#define LISTED\n", re.compile("blockIdx|gridDim")
CROWDED = re.compile(r"^\s*#\s*define\s+RESIDENT\b", re.MULTILINE)  # texts with few registers per thread


def text_for(task: Task, real: np.dtype, kind: str, listed: bool) -> str:
    """Return the text for a kind of device: for one box, or for lists."""
    if kind == "cpu":
        return host_pieces(task, real) if listed else text_with_thunk(task, real)
    return cuda_pieces(task, real) if listed else cuda_text(task, real)


def symbol(task: Task, listed: bool) -> str:
    """Return the name of the function for one box, or for lists."""
    return f"{task.symbol}_pieces" if listed else task.symbol


@cache
def text_with_thunk(task: Task, real: np.dtype) -> str:
    """Return the text for the host compiler, with a thunk that calls the task."""
    kinds, touched = [kind for kind, _ in parameters(task)], sum(field.values for field in task.fields.values())
    text = complete(task, real, 'extern "C"', "static") + thunk(task.symbol, ["Range", *kinds])
    return f"#define TOUCHED {touched}\n{text}"


@cache
def cuda_text(task: Task, real: np.dtype) -> str:
    return complete(task, real, 'extern "C" __global__')


@cache
def listable(task: Task, real: np.dtype) -> bool:
    """Return whether launches of a task can be over lists: it has a text, is not whole, and leaves the visit of cells
    to the headers, without marching tiles. Sweeps are listable, as their sequential parts are never cut.
    """
    alone = task.whole and not any(kind.swept for kind in task.fields.values())
    if task.kernel is None or task.library is not None or alone:
        return False
    return "OVERLAP" not in settings(task, real) and len(BLOCK.findall(complete(task, real, "FN"))) == _visits()


@cache
def _visits() -> int:
    """Return the number of uses of thread block indices in the header that visits cells."""
    return len(BLOCK.findall((INCLUDE / "visit_cuda.h").read_text(encoding="utf-8")))


@cache
def host_pieces(task: Task, real: np.dtype) -> str:
    """Return the text of lists for the host compiler."""
    folds = "true" if task.reductions else "false"
    return (
        f"{LISTED}{text_with_thunk(task, real)}"
        f'extern "C" void call_{symbol(task, True)}(void*** blocks, const Index* begins, int count, int threads) {{\n'
        f"  visit_pieces(begins, count, threads, {folds}, [=](int n) {{ call_{task.symbol}(blocks[n]); }});\n}}\n"
    )


@cache
def cuda_pieces(task: Task, real: np.dtype) -> str:
    """Return the text of lists for NVRTC."""
    kinds, alike = [kind for kind, _ in parameters(task)], common(task, real)
    members = "".join(f"  Tabled<{kind}> of_{n};\n" for n, kind in enumerate(kinds) if n not in alike)
    taken = "".join(f", {'' if n in alike else 'piece.'}of_{n}" for n in range(len(kinds)))
    return (
        f"{LISTED}{complete(task, real, 'FN')}"
        f"struct PieceArguments {{\n  Range range;\n{members}}};\n"
        f'static_assert(sizeof(PieceArguments) == {piece_dtype(task, real, alike).itemsize}, "layout");\n'
        f"KERNEL {symbol(task, True)}(const PieceArguments* __restrict__ pieces,"
        f" const PlacedBlock* __restrict__ blocks{''.join(f', {kinds[n]} of_{n}' for n in alike)}) {{\n"
        "  const PlacedBlock block = blocks[blockIdx.x];\n"
        "  const PieceArguments& piece = pieces[block.piece];\n"
        "  const Range range = placed(piece.range, block);\n"
        f"  {task.symbol}(range{taken});\n}}\n"
    )


@cache
def common(task: Task, real: np.dtype) -> tuple[int, ...]:
    """Return the numbers of the parameters that all pieces of a launch share: constants, if threads have few registers.
    Instructions read launch arguments directly, but load table entries into registers.
    """
    if not CROWDED.search(complete(task, real, "FN")):
        return ()
    constants = {name for name, kind in task.constants.items() if not issubclass(kind, Sweep)}
    return tuple(n for n, (_, name) in enumerate(parameters(task)) if name in constants)
