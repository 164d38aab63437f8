"""Regions: what exists.

Knows boxes of cells, fields, regions and their partitions into blocks. Does not know storage, place or time.
"""

from taskflow.runtime.regions.box import Box, Triple, difference, hull, joined, periodic_images, triple
from taskflow.runtime.regions.partition import Copy, Partition, cuts
from taskflow.runtime.regions.region import Field, FieldSpace, Location, Region, region

__all__ = [
    "Box",
    "Copy",
    "Field",
    "FieldSpace",
    "Location",
    "Partition",
    "Region",
    "Triple",
    "cuts",
    "difference",
    "hull",
    "joined",
    "periodic_images",
    "region",
    "triple",
]
