"""Regions: what exists.

Knows boxes of cells, patches of their sides, atlases, fields, regions and their partitions. Does not know storage,
place or time.
"""

from taskflow.runtime.regions.atlas import ROTATIONS, STRAIGHT, Atlas, Seam, Turn, seen
from taskflow.runtime.regions.box import (
    SIDES,
    Box,
    Patch,
    Triple,
    difference,
    hull,
    joined,
    overlapping,
    periodic_images,
    triple,
)
from taskflow.runtime.regions.partition import Copy, Partition, rows
from taskflow.runtime.regions.pieces import Pieces, complete, cuts, divided
from taskflow.runtime.regions.region import (
    Field,
    FieldSpace,
    Location,
    Region,
    charted,
    powers_of_two,
    region,
    whole_number,
)

__all__ = [
    "ROTATIONS", "SIDES", "STRAIGHT", "Atlas", "Box", "Copy", "Field", "FieldSpace", "Location", "Partition", "Patch",
    "Pieces", "Region", "Seam", "Triple", "Turn", "charted", "complete", "cuts", "difference", "divided", "hull",
    "joined", "overlapping", "periodic_images", "powers_of_two", "region", "rows", "seen", "triple", "whole_number",
]  # fmt: skip
