"""NVTX ranges: operations by name in the timelines of NVIDIA's own profilers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from taskflow.errors import BadInput
from taskflow.machine.device import Call
from taskflow.machine.trace.tracer import Trace
from taskflow.tasks import Program

HOMES = (("nvtx", "push_range", "pop_range"), ("cupy.cuda.nvtx", "RangePush", "RangePop"))


@dataclass(frozen=True)
class Ranges:
    """Puts every operation of a trace into a range with the name of its node, for `shard.instrument`.

    A range tells when the host calls or enqueues the operation; `nsys` shows beside it what the device does.
    """

    push: Callable[[str], Any]
    pop: Callable[[], Any]
    graphs = False  # its operations have no names there

    @classmethod
    def open(cls) -> Ranges:
        """With the package nvtx, or else CuPy's. Raises BadInput where there is none of them."""
        for module, push, pop in HOMES:
            try:
                found = import_module(module)
                return cls(getattr(found, push), getattr(found, pop))
            except (ImportError, AttributeError):
                continue
        raise BadInput("--nvtx: neither nvtx nor CuPy is installed; install one (pip install nvtx), or use --profile")

    def mark(self, trace: Trace, program: Program) -> Trace:
        """The trace with ranges: it does the same in the same order."""
        nodes = trace.graph.nodes
        names = (f"{op.kind} {', '.join(str(nodes[n]) for n in op.nodes)}" for op in trace.operations)
        operations = [
            replace(op, call=self._ranged(op.call, name)) for op, name in zip(trace.operations, names, strict=True)
        ]
        return replace(trace, operations=operations)

    def enclose(self, trace: Trace) -> Trace:
        """A range around all of it is not needed."""
        return trace

    def _ranged(self, call: Call, name: str) -> Call:
        push, pop = self.push, self.pop

        def ranged() -> None:
            push(name)
            try:
                call()
            finally:
                pop()

        return ranged
