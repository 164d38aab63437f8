"""Regions: what exists.

Knows boxes of cells, fields, regions and their partitions into blocks. Does not know storage, place or time.
"""

from taskflow.regions.box import Box, Triple, difference, hull, joined, periodic_images, triple
from taskflow.regions.fields import Field, FieldSpace, Location
from taskflow.regions.partition import Copy, Partition, cuts
from taskflow.regions.region import Region, region

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
