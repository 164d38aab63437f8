"""The results of `taskflow bench two-phase` by study, and what was measured in each, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from taskflow.benchmarks.tables import Result

SEED = (256, 256, 128)  # cells of the benchmark of Zaspel and Griebel (2011)
Row = dict[str, Any]


def of_study(results: Sequence[Result], study: str) -> Iterator[Result]:
    """The results of a study."""
    return (result for result in results if result["benchmark"] == f"two-phase {study}")


def rows(results: Sequence[Result], study: str) -> Iterator[tuple[Result, Row]]:
    """The rows of a study, each with its result."""
    return ((result, row) for result in of_study(results, study) for row in result["results"])


def pressure(result: Result) -> str:
    """The solver, with the settings of it."""
    return ", ".join([result["pressure"], *(f"`{setting}`" for setting in result["settings"] if _of_solver(setting))])


def changed(result: Result, row: Row) -> str:
    """The other settings of the case, and those of the row."""
    settings = [setting for setting in result["settings"] if not _of_solver(setting)]
    return ", ".join(f"`{setting}`" for setting in (*row.get("settings", ()), *settings))


def told(result: Result) -> str:
    """With what it was measured."""
    return ", ".join(filter(None, (pressure(result), changed(result, {}), result["precision"])))


def _of_solver(setting: str) -> bool:
    return setting.startswith("pressure.")


def overlap(row: Row) -> str:
    """How messages are overlapped, where there are any."""
    if row["blocks"] == 1:
        return ""
    return f"{row['name']} ({row['overlap']})" if row["name"] == "auto" else str(row["name"])


def in_order(labels: tuple[str, ...]) -> Any:
    """Machines in their order, and small grids before large ones."""
    return labels[0], prod(int(n) for n in labels[1].split(" x ")), labels[2:]
