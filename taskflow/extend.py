"""Names for authors of models, closures, boundary conditions and tables of the case file.

A name loads its module when it is first used (PEP 562). Users of cases and runs, and authors of tasks, import from
`taskflow` itself.
"""

from typing import TYPE_CHECKING

from taskflow.common.lazy import attributes

_ROOMS = {
    "taskflow.flow.model": ("Model",),
    "taskflow.flow.flow_model": ("FlowModel",),
    "taskflow.flow.stability": ("Stability", "StepLimit"),
    "taskflow.flow.time.schemes": ("DiffusiveRates",),
    "taskflow.flow.grid": ("Grid", "StaggeredGrid"),
    "taskflow.flow.kernels": ("KERNELS",),
    "taskflow.flow.operators.momentum": ("Fluid",),
    "taskflow.flow.scalars.quantity": ("Quantity",),
    "taskflow.flow.closures": ("Closure", "register_closure"),
    "taskflow.flow.boundaries.collocated": ("FLOW", "METRICS", "SPEEDS", "CellFields", "Condition"),
    "taskflow.flow.boundaries.box_side": ("BoxSide",),
    "taskflow.flow.boundaries.condition": ("BoundaryCondition", "GivenValues", "Side"),
    "taskflow.flow.boundaries.boundary": ("INSIDE",),
    "taskflow.flow.boundaries.opening": ("OpenSide",),
    "taskflow.flow.boundaries.kinds": ("register_boundary",),
    "taskflow.flow.boundaries.wall": ("Wall",),
    "taskflow.runtime.regions": ("Field", "Location", "Partition"),
    "taskflow.runtime.tasks": ("Derive", "Launch", "Repeat", "Roles"),
    "taskflow.output": ("FieldMetadata",),
    "taskflow.common.rows": ("Row",),
    "taskflow.cases.language.capabilities": ("Supports",),
    "taskflow.cases.language.problems": ("Problem", "wrong"),
    "taskflow.cases.language.table": (
        "NonNegative", "Number", "Positive", "Table", "Text", "Vector", "Whole", "entry", "optional", "reads",
    ),
    "taskflow.cases.tables.initial": ("Profile", "profile"),
    "taskflow.cases.tables.method": ("register_model",),
    "taskflow.cases.timing.intervals": ("Tick",),
    "taskflow.systems.base.domain": ("Domain", "PartitionedCase"),
    "taskflow.systems.base.flow": ("FlowSystem",),
    "taskflow.systems.base.interfaces": ("Measures",),
    "taskflow.systems.base.system": ("System", "log_line"),
}  # fmt: skip
_HOME = {name: room for room, names in _ROOMS.items() for name in names}

__all__ = sorted(_HOME)

if TYPE_CHECKING:
    from taskflow.cases.language.capabilities import Supports as Supports
    from taskflow.cases.language.problems import Problem as Problem
    from taskflow.cases.language.problems import wrong as wrong
    from taskflow.cases.language.table import (
        NonNegative as NonNegative,
    )
    from taskflow.cases.language.table import (
        Number as Number,
    )
    from taskflow.cases.language.table import (
        Positive as Positive,
    )
    from taskflow.cases.language.table import (
        Table as Table,
    )
    from taskflow.cases.language.table import (
        Text as Text,
    )
    from taskflow.cases.language.table import (
        Vector as Vector,
    )
    from taskflow.cases.language.table import (
        Whole as Whole,
    )
    from taskflow.cases.language.table import (
        entry as entry,
    )
    from taskflow.cases.language.table import (
        optional as optional,
    )
    from taskflow.cases.language.table import (
        reads as reads,
    )
    from taskflow.cases.tables.initial import Profile as Profile
    from taskflow.cases.tables.initial import profile as profile
    from taskflow.cases.tables.method import register_model as register_model
    from taskflow.cases.timing.intervals import Tick as Tick
    from taskflow.common.rows import Row as Row
    from taskflow.flow.boundaries.boundary import INSIDE as INSIDE
    from taskflow.flow.boundaries.box_side import BoxSide as BoxSide
    from taskflow.flow.boundaries.collocated import (
        FLOW as FLOW,
    )
    from taskflow.flow.boundaries.collocated import (
        METRICS as METRICS,
    )
    from taskflow.flow.boundaries.collocated import (
        SPEEDS as SPEEDS,
    )
    from taskflow.flow.boundaries.collocated import (
        CellFields as CellFields,
    )
    from taskflow.flow.boundaries.collocated import (
        Condition as Condition,
    )
    from taskflow.flow.boundaries.condition import (
        BoundaryCondition as BoundaryCondition,
    )
    from taskflow.flow.boundaries.condition import (
        GivenValues as GivenValues,
    )
    from taskflow.flow.boundaries.condition import (
        Side as Side,
    )
    from taskflow.flow.boundaries.kinds import register_boundary as register_boundary
    from taskflow.flow.boundaries.opening import OpenSide as OpenSide
    from taskflow.flow.boundaries.wall import Wall as Wall
    from taskflow.flow.closures import Closure as Closure
    from taskflow.flow.closures import register_closure as register_closure
    from taskflow.flow.flow_model import FlowModel as FlowModel
    from taskflow.flow.grid import Grid as Grid
    from taskflow.flow.grid import StaggeredGrid as StaggeredGrid
    from taskflow.flow.kernels import KERNELS as KERNELS
    from taskflow.flow.model import Model as Model
    from taskflow.flow.operators.momentum import Fluid as Fluid
    from taskflow.flow.scalars.quantity import Quantity as Quantity
    from taskflow.flow.stability import Stability as Stability
    from taskflow.flow.stability import StepLimit as StepLimit
    from taskflow.flow.time.schemes import DiffusiveRates as DiffusiveRates
    from taskflow.output import FieldMetadata as FieldMetadata
    from taskflow.runtime.regions import Field as Field
    from taskflow.runtime.regions import Location as Location
    from taskflow.runtime.regions import Partition as Partition
    from taskflow.runtime.tasks import Derive as Derive
    from taskflow.runtime.tasks import Launch as Launch
    from taskflow.runtime.tasks import Repeat as Repeat
    from taskflow.runtime.tasks import Roles as Roles
    from taskflow.systems.base.domain import Domain as Domain
    from taskflow.systems.base.domain import PartitionedCase as PartitionedCase
    from taskflow.systems.base.flow import FlowSystem as FlowSystem
    from taskflow.systems.base.interfaces import Measures as Measures
    from taskflow.systems.base.system import System as System
    from taskflow.systems.base.system import log_line as log_line

__getattr__, __dir__ = attributes(__name__, _HOME, _HOME)
