"""A run on disk, finished or not: its report and its records."""

from __future__ import annotations

from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from taskflow.common.errors import BadInput
from taskflow.common.files import path_of
from taskflow.output import STORE
from taskflow.output.store.metadata import PSEUDO_TIME
from taskflow.runs.directory.directory import RunDirectory
from taskflow.runs.notebook import as_html
from taskflow.runs.records import RunRecords
from taskflow.systems.records.fields import STATISTICS

if TYPE_CHECKING:
    from taskflow.accessor.records import FlowRecords

SHOWN = ("title", "ended", "steps", "time", "started", "device", "blocks", "warnings")  # of a report, in a notebook


@dataclass(frozen=True)
class Run(RunRecords):
    """Run on disk, finished or not.

    Attributes
    ----------
    directory : pathlib.Path
    report : dict
        Contents of report.json.
    """

    directory: Path
    report: dict[str, Any] = field(repr=False)

    @classmethod
    def open(cls, directory: str | PathLike[str]) -> Run:
        """Open the run in a directory, finished or not. Raises BadInput if the directory is not a run."""
        path = path_of(directory, "directory", "a run directory")
        report = RunDirectory(path).report()
        if not report:
            raise BadInput(f"{path}: there is no report.json to read; give the folder that `taskflow run` wrote")
        return cls(path, report)

    def dataset(self, group: str = "") -> FlowRecords | Any:
        """Open snapshots, or another group of the store, as lazy arrays.

        Parameters
        ----------
        group : str
            Statistics, planes, probes and other records. Default: snapshots.

        Returns
        -------
        xarray.Dataset, or on body-fitted grids xarray.DataTree with one child per chart

        Raises
        ------
        BadInput
            If the group is missing or files are damaged, also when values are read later.
        """
        from taskflow.accessor.flow import opened

        if not isinstance(group, str):
            raise BadInput(f"group = {group!r}; give the name of a group of the store")
        return opened(self.directory / STORE, group)

    def statistics(self) -> FlowRecords | Any:
        """Open means and covariances over time as lazy arrays.

        Returns
        -------
        xarray.Dataset, or on body-fitted grids xarray.DataTree

        Raises
        ------
        BadInput
            If the case has no statistics.
        """
        return self.dataset(STATISTICS)

    def _repr_html_(self) -> str:
        left_out = "time" if PSEUDO_TIME in self.report else None
        table = {key: self.report[key] for key in SHOWN if key in self.report and key != left_out}
        return as_html(repr(self), table, self.dataset)
