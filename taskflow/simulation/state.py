"""The state in a checkpoint, besides fields: looked at before it is believed, as anybody can have written it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, NonNegativeInt, ValidationError

from taskflow.output import Checkpoint, Damaged

FOLLOWED = ("probes", "planes", "surfaces", "isosurfaces", "spectra")  # tables of groups of the store
SINGLE = ("time", "output", "machine", "statistics")
Name = Annotated[str, Field(max_length=200)]
Count = Annotated[int, Field(ge=0, lt=2**62)]
Checksum = Annotated[int, Field(ge=0, lt=2**32)]


class Part(BaseModel):
    """Values of a known kind; what there is besides stays as it is. No number is infinite, none is NaN."""

    model_config = ConfigDict(strict=True, frozen=True, extra="allow", allow_inf_nan=False)


class Sums(Part):
    """The checksums of a group of the store: of the times of its records, and of what does not change."""

    times: Checksum
    fixed: Checksum


class Samples(Part):
    """Where an average over time stands."""

    since: float
    until: float
    samples: NonNegativeInt


class While(Part):
    """Where the judgement stands whether the state is steady."""

    since: float
    moved: bool
    ranges: dict[Name, NonNegativeFloat]


class State(Part):
    """What `job` writes, and whoever goes on reads."""

    time: NonNegativeFloat
    dt: NonNegativeFloat
    scalars: dict[Name, float]
    records: dict[Name, Count]
    store: dict[Name, Sums]
    averages: dict[Name, Samples]
    settling: While | None = None
    sanity: dict[Name, float] = {}
    lines: Count
    log: Checksum
    seconds: NonNegativeFloat
    rounds: dict[Name, float]
    ended: Literal["end", "steady"] | None
    blocks: Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=3, max_length=3)]
    case: Annotated[str, Field(max_length=2**24)]


def check_state(checkpoint: Checkpoint) -> None:
    """Raises Damaged where the state of a checkpoint is not of the kind that a run writes."""
    try:
        state = State.model_validate(checkpoint.state)
        tables = tomllib.loads(state.case)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise _damaged(checkpoint, f"{where}: {first['msg']}") from None
    except (ValueError, RecursionError):
        raise _damaged(checkpoint, "case: it is no TOML") from None
    if not state.records.keys() == state.store.keys():
        raise _damaged(checkpoint, "store: its groups are not those of records")
    for key, value in tables.items():
        sound = key == "title" or (isinstance(value, Mapping) and key not in FOLLOWED) or _tables(value)
        if not sound or (key in FOLLOWED and not all(isinstance(each.get("name"), str) for each in value)):
            raise _damaged(checkpoint, f"case: {key}")
    if any(key in tables and not isinstance(tables[key], Mapping) for key in SINGLE):
        raise _damaged(checkpoint, f"case: one of {', '.join(SINGLE)}")


def _tables(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, Mapping) for each in value)


def _damaged(checkpoint: Checkpoint, what: str) -> Damaged:
    return Damaged(f"{checkpoint.path}: of its state {what[:200]!r} is not what a run writes")
