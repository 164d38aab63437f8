"""Which spectra are averaged over time: [[spectra]]."""

from typing import Annotated, Literal

from taskflow.errors import BadInput
from taskflow.simulation.case.control import EVERYTHING, Interval, names
from taskflow.simulation.case.probes import GroupName, named
from taskflow.simulation.case.table import NonNegative, Table, entry, listed, reads
from taskflow.simulation.schedule import Every
from taskflow.simulation.values import one_of, text

ALONG = ("x", "y", "z", "all")


def _pairs(value: object) -> tuple[tuple[str, str], ...]:
    """Two different names each, no two alike in any order."""
    if not isinstance(value, (list, tuple)):
        raise BadInput('give a list of pairs of names, as [["u", "w"]]')
    found = []
    for pair in value:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise BadInput('give pairs of names, as [["u", "w"]]')
        one, other = pair
        if one == other:
            raise BadInput(f"name two different fields; the spectrum of {text(one)} itself is that of fields")
        if (one, other) in found or (other, one) in found:
            raise BadInput(f"give the pair of {text(one)} and {text(other)} once")
        found.append((one, other))
    return tuple(found)


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
    pairs: Annotated[tuple[tuple[str, str], ...], reads(_pairs)] = entry(
        'pairs of fields, as `[["u", "w"], ["w", "T"]]`: [co-spectra](../howto/statistics.md#co-spectra) besides, and'
        " along a direction quadrature spectra",
        (),
    )


spectra = listed(Spectrum, "tables, each under [[spectra]]")
Spectra = Annotated[tuple[Spectrum, ...], reads(spectra)]
