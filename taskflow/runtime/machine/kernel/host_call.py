"""Calls of compiled functions of the host: a function and its arguments as words, so that C can do many in a row."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Any

import numpy as np

from taskflow.runtime.machine.kernel.compile_host import library

Value = np.ndarray | np.uint64  # a struct, or an address
# structs Call and Place of REPLAY
CALL = np.dtype(
    [(name, np.uint64) for name in ("function", "table", "begins")]
    + [(name, np.intc) for name in ("count", "threads", "waits")],
    align=True,
)
PLACE = np.dtype([(name, np.int64) for name in ("call", "passes", "done")])
REPLAY = """
struct Call { void* function; void** table; const void* begins; int count, threads, waits; };
struct Place { long long call, passes, done; };  // the next call, passes before it, passes of the last replay
// Returns 0, or the number that a call waits with. The next replay begins with this call.
extern "C" int replay(const Call* calls, long long count, long long times, const double* until, Place* at) {
  while (at->passes < times) {
    for (; at->call < count; ++at->call) {
      const Call& c = calls[at->call];
      if (c.waits) {
        if (int number = ((int (*)(void**))c.function)(c.table)) return number;
      } else if (c.begins) {
        ((void (*)(void**, const void*, int, int))c.function)(c.table, c.begins, c.count, c.threads);
      } else {
        ((void (*)(void**))c.function)(c.table);
      }
    }
    at->call = 0;
    ++at->passes;
    if (until && *until != 0) break;
  }
  at->done = at->passes;
  at->passes = 0;
  return 0;
}
"""


class HostCall:
    """A call of a function with an array of pointers, `table`, or of one that also takes the beginnings of the pieces
    of a list, their number, and threads. Keeps `keep` alive.

    With `late`, the function returns 0, or a number n if its nth condition was not met after a slice of time. Then
    `late` is called with n and True if it is the first time, and the function is called again.
    """

    def __init__(
        self, function: Any, table: int, keep: object, begins: np.ndarray | None = None, threads: int = 0,
        late: Callable[[int, bool], None] | None = None,
    ) -> None:  # fmt: skip
        self.row, self.late = np.zeros((), CALL), late
        self.row["function"], self.row["table"] = ctypes.cast(function, ctypes.c_void_p).value, table
        self.row["waits"] = late is not None
        words: list[object] = [ctypes.c_void_p(table)]
        if begins is not None:
            self.row["begins"], self.row["count"], self.row["threads"] = begins.ctypes.data, len(begins) - 1, threads
            words += [ctypes.c_void_p(begins.ctypes.data), ctypes.c_int(len(begins) - 1), ctypes.c_int(threads)]
        self._function, self._words, self._keep = function, words, (keep, begins)

    def __call__(self) -> None:
        if self.late is None:
            self._function(*self._words)
        else:
            CallSequence([self])()


class CallSequence:
    """Calls in a row as one call."""

    def __init__(self, calls: Sequence[HostCall]) -> None:
        self._calls, self._rows, self._at = calls, np.array([call.row for call in calls]), np.zeros((), PLACE)
        self._table, self._count = ctypes.c_void_p(self._rows.ctypes.data), ctypes.c_longlong(len(calls))
        self._place, self._replay = ctypes.c_void_p(self._at.ctypes.data), _replay()
        self._once = self._table, self._count, ctypes.c_longlong(1), None, self._place

    def __call__(self) -> None:
        if number := self._replay(*self._once):
            self._wait(number, self._once)

    def repeat(self, times: int, until: int | None) -> int:
        """Do all calls `times` times, or until the number at the address `until` is not 0 after them. Return the number
        of times.
        """
        words = self._table, self._count, ctypes.c_longlong(times), ctypes.c_void_p(until), self._place
        if number := self._replay(*words):
            self._wait(number, words)
        return int(self._at["done"])

    def _wait(self, number: int, words: tuple[object, ...]) -> None:
        """Continue a replay that waits."""
        before = None
        while number:
            here = int(self._at["call"]), int(self._at["passes"])
            late = self._calls[here[0]].late
            assert late is not None, "only such a call waits"
            late(number, here != before)
            before, number = here, self._replay(*words)


def joined(calls: Sequence[Callable[[], None]]) -> Iterator[Callable[[], None]]:
    """Yield the calls. Consecutive calls of compiled functions are one."""
    for compiled, row in groupby(calls, lambda call: isinstance(call, HostCall)):
        some: Any = list(row)
        yield from [CallSequence(some)] if compiled else some


def thunk(name: str, kinds: Sequence[str]) -> str:
    """Return C++ that calls a kernel through an array of pointers: to its structs, or as its pointer parameters."""
    pointers = ("In", "InByte", "InShort", "Out", "OutByte", "OutShort", "InOut", "InOutByte", "InOutShort", "In64")
    values = [
        f"({kind})block[{n}]" if kind in pointers else f"*(const {kind}*)block[{n}]" for n, kind in enumerate(kinds)
    ]
    return f'extern "C" void call_{name}(void** block) {{ {name}({", ".join(values)}); }}\n'


def pointers(values: Sequence[Value]) -> ctypes.Array[ctypes.c_void_p]:
    """Return the arguments of a thunk: addresses, and pointers to structs, which must be kept alive."""
    places = [int(value) if isinstance(value, np.uint64) else value.ctypes.data for value in values]
    return (ctypes.c_void_p * len(values))(*places)


def host_call(library: ctypes.CDLL, name: str, values: Sequence[Value], keep: object) -> HostCall:
    """Return a call through a thunk with structs (as arrays) and addresses. Keeps referenced objects alive."""
    block = pointers(values)
    function = library[f"call_{name}"]
    function.restype = None
    return HostCall(function, ctypes.addressof(block), (block, values, keep))


def list_call(function: Any, table: int, begins: np.ndarray, threads: int, keep: object) -> HostCall:
    """Return a call that does a list of pieces with `threads` threads. `table` holds the arguments of each piece,
    `begins` its first cell in a common numbering, and finally the total. Keeps `keep` alive.
    """
    function.restype = None
    return HostCall(function, table, keep, begins, threads)


@cache
def _replay() -> Any:
    return library(REPLAY).replay
