"""Regions: what exists.

Knows boxes of cells, atlases of several, fields, regions and their partitions into blocks. Does not know storage,
place or time.
"""

from taskflow.runtime.regions.atlas import ROTATIONS, STRAIGHT, Atlas, Seam, Turn, seen
from taskflow.runtime.regions.box import Box, Triple, difference, hull, joined, periodic_images, triple
from taskflow.runtime.regions.partition import Copy, Partition
from taskflow.runtime.regions.pieces import Pieces, complete, cuts, divided
from taskflow.runtime.regions.region import Field, FieldSpace, Location, Region, charted, powers_of_two, region

__all__ = [
    "ROTATIONS", "STRAIGHT", "Atlas", "Box", "Copy", "Field", "FieldSpace", "Location", "Partition",
    "Pieces", "Region", "Seam", "Triple", "Turn", "charted", "complete", "cuts", "difference", "divided", "hull",
    "joined", "periodic_images", "powers_of_two", "region", "seen", "triple",
]  # fmt: skip
