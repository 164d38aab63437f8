"""The state that a run writes into a checkpoint, and its format."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, ValidationError

from taskflow.cases.language.table import Precision
from taskflow.output import Checkpoint, Damaged

FOLLOWED = ("probes", "planes", "surfaces", "isosurfaces", "phases", "spectra")  # tables of groups of the store
GROUPS = (*FOLLOWED, "particles")
NAMED = (*GROUPS, "expressions")
SINGLE = ("time", "output", "machine", "statistics")
Name = Annotated[str, Field(max_length=200)]
Count = Annotated[int, Field(ge=0, lt=2**62)]
Checksum = Annotated[int, Field(ge=0, lt=2**32)]
Pair = Annotated[list[float], Field(min_length=2, max_length=2)]


class SavedPart(BaseModel):
    """Values of known types; further entries are kept. Numbers are finite."""

    model_config = ConfigDict(strict=True, frozen=True, extra="allow", allow_inf_nan=False)


class Sums(SavedPart):
    """The checksums of a group of the store: of the times of its records, and of its constant part."""

    times: Checksum
    fixed: Checksum


class Samples(SavedPart):
    """The state of an average over time."""

    since: float
    until: float
    samples: NonNegativeInt
    weight: float = 0.0
    ahead: float = 0.0


class While(SavedPart):
    """The state of a steady-state criterion."""

    since: float
    moved: bool
    ranges: dict[Name, NonNegativeFloat]


class WorstResidual(SavedPart):
    """The relative worst residual after a step."""

    step: Count
    left: NonNegativeFloat


class Residuals(SavedPart):
    """The state of a march to a steady state."""

    largest: dict[Name, NonNegativeFloat]
    norms: dict[Name, NonNegativeFloat]
    looks: list[WorstResidual]


class MissedTolerances(SavedPart):
    """The number of successive physical time steps that missed their tolerance."""

    missed: Count


class SavedRanges(SavedPart):
    """The ranges of temperature and scalars, in the first state and in all sampled states."""

    first: dict[Name, Pair]
    seen: dict[Name, Pair]


class SetTable(SavedPart):
    """A table of the time that the user set."""

    table: str
    text: str


class SetFunction(SavedPart):
    """The name of a function that the user set."""

    function: str


class WrittenState(SavedPart):
    """The state in a checkpoint, read on restart."""

    time: NonNegativeFloat
    dt: NonNegativeFloat
    scalars: dict[Name, float]
    records: dict[Name, Count]
    store: dict[Name, Sums]
    averages: dict[Name, Samples]
    settling: While | Residuals | MissedTolerances | None = None
    sanity: dict[Name, float] = {}
    pace: NonNegativeFloat | None = None
    begins: bool = False
    given: dict[Name, float | str | SetTable | SetFunction] = {}
    ranges: SavedRanges | None = None
    lines: Count
    log: Checksum
    seconds: NonNegativeFloat
    rounds: dict[Name, float]
    ended: Literal["end", "steady", "stalled"] | None
    blocks: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=3, max_length=3)]
    closing: Count = 0
    levels: Precision = "double"
    case: Annotated[str, Field(max_length=2**24)]


def check_state(checkpoint: Checkpoint) -> None:
    """Raise Damaged if the state of a checkpoint does not have the format of a run."""
    try:
        state = WrittenState.model_validate(checkpoint.state)
        tables = tomllib.loads(state.case)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _damaged(checkpoint, f"{where}: {first['msg']}") from None
    except (ValueError, RecursionError):
        raise _damaged(checkpoint, "case: it is not TOML") from None
    if not state.records.keys() == state.store.keys():
        raise _damaged(checkpoint, "store: its groups do not match the records")
    for key, value in tables.items():
        listed = isinstance(value, list) and all(isinstance(item, Mapping) for item in value)
        sound = key == "title" or (isinstance(value, Mapping) and key not in NAMED) or listed
        if not sound or (key in NAMED and not all(isinstance(table.get("name"), str) for table in value)):
            raise _damaged(checkpoint, f"case: {key}")
    if "time" not in tables or any(key in tables and not isinstance(tables[key], Mapping) for key in SINGLE):
        raise _damaged(checkpoint, f"case: one of {', '.join(SINGLE)}")


def _damaged(checkpoint: Checkpoint, what: str) -> Damaged:
    return Damaged(f"{checkpoint.path}: of its state {what[:200]!r} is not what a run writes")
