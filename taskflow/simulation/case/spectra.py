"""Which spectra are averaged over time: [[spectra]]."""

from typing import Annotated, Literal

from taskflow.simulation.case.control import EVERYTHING, Interval, names
from taskflow.simulation.case.probes import GroupName, named
from taskflow.simulation.case.table import NonNegative, Table, entry, listed, reads
from taskflow.simulation.schedule import Every
from taskflow.simulation.values import one_of

ALONG = ("x", "y", "z", "all")


class Spectrum(Table):
    """Spectra of some fields along one direction, or over shells of wavenumber."""

    name: GroupName = named()
    along: Annotated[Literal["x", "y", "z", "all"], reads(one_of(*ALONG))] = entry(
        "a periodic direction of uniform cells; `all`, where all are: over shells of wavenumber",
        remedy='give the direction, x, y or z, or "all"',
    )
    start: NonNegative = entry("the time from which on samples count", 0.0)
    every: Interval = entry("as `output.every`: when a sample is taken. Cuts no step", Every(steps=10))
    write: Interval | None = entry(
        "as `output.every`: when the mean over the samples since the last record is written, besides the end",
        None,
        otherwise="only at the end",
    )
    fields: Annotated[tuple[str, ...] | None, reads(names)] = entry("as `output.fields`", None, otherwise=EVERYTHING)


spectra = listed(Spectrum, "tables, each under [[spectra]]")
Spectra = Annotated[tuple[Spectrum, ...], reads(spectra)]
