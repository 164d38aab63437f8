"""The system of artificial compressibility on charts: its model, and the numbers in its log."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from taskflow.simulation.build.artificial_compressibility.rules import TABLES, refused
from taskflow.simulation.build.artificial_compressibility.tables import CompressibilityMethod, PseudoTime
from taskflow.simulation.build.system import System
from taskflow.simulation.case.case import all_fields
from taskflow.simulation.case.charts.grid import ChartGrid, made
from taskflow.simulation.case.charts.machine import ChartMachine
from taskflow.simulation.case.charts.sides import ChartSides
from taskflow.simulation.case.method import METHOD
from taskflow.simulation.case.problems import Problem
from taskflow.simulation.case.table import Table


@dataclass(frozen=True, eq=False)
class CompressibilitySystem(System):
    """The steady state of a flow on body-fitted cells."""

    claims: ClassVar[str] = METHOD
    table: ClassVar[type[Table]] = CompressibilityMethod
    instead: ClassVar[Mapping[str, type[Table]]] = {
        "grid": ChartGrid, "boundaries": ChartSides, "time": PseudoTime, "machine": ChartMachine,
    }  # fmt: skip
    accepts: ClassVar[frozenset[str]] = frozenset((
        "fluid.viscosity", "heat.diffusivity", "heat.expansion", "heat.reference", "body.gravity", "body.force",
        "initial.velocity", "initial.temperature",
    ))  # fmt: skip

    @classmethod
    def misfits(cls, tables: Mapping[str, Any]) -> Iterator[Problem]:
        """Problems with tables that need a Cartesian grid, or come later."""
        return refused(tables)

    @classmethod
    def prepared(cls, tables: Mapping[str, Any]) -> dict[str, Any]:
        """The tables without these."""
        return {name: table for name, table in tables.items() if name not in TABLES}

    @classmethod
    def fields(cls, tables: Mapping[str, Any]) -> tuple[str, ...]:
        """The names of the fields that a snapshot can have."""
        return all_fields(tables["heat"], (), None)

    @classmethod
    def derived(cls, tables: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """The charts, where they can be made."""
        if "grid" in tables and (charts := made(tables["grid"])):
            yield "charts", charts
