"""Tasks: the work of a program.

Knows tasks with privileges, programs of launches, and the graph derived from them. Does not know streams, ranks,
buffers or devices.
"""

from taskflow.runtime.tasks.body import IDENTITY, View, combine, run_body
from taskflow.runtime.tasks.define import MOST_REDUCTIONS, task
from taskflow.runtime.tasks.dependence import Analysis, Known, analyse
from taskflow.runtime.tasks.exchange import Exchange, SettledPass, exchange, settled
from taskflow.runtime.tasks.ghosts import Deciding, Geometries, Valid, deciding
from taskflow.runtime.tasks.graph import (
    AllReduce,
    Claim,
    Compute,
    Grant,
    Message,
    Node,
    Place,
    Receive,
    Refresh,
    Send,
    TaskGraph,
)
from taskflow.runtime.tasks.live_in import Cells, live_in, overwritten
from taskflow.runtime.tasks.numbers import (
    LookupTable,
    LookupTables,
    ScalarArray,
    ScalarMapping,
    cut,
    numbered,
    reduced,
    tables,
    together,
)
from taskflow.runtime.tasks.owners import OwnedScalars, owned
from taskflow.runtime.tasks.pickling import siblings
from taskflow.runtime.tasks.privilege import (
    Coloured,
    Components,
    Foreign,
    ForeignAny,
    Privilege,
    Read,
    ReadByte,
    ReadShort,
    ReadWrite,
    Reduce,
    Scalar,
    Swept,
    Write,
)
from taskflow.runtime.tasks.program import (
    Derive,
    Loop,
    Part,
    Program,
    Repeat,
    Roles,
    Stretch,
    called,
    counts,
    derive,
    derived,
    repeat,
    stretches,
)
from taskflow.runtime.tasks.reading import place, reading, shares_of
from taskflow.runtime.tasks.recording import Recordings, plan, record
from taskflow.runtime.tasks.signature import Variant, is_choice
from taskflow.runtime.tasks.split import ROWS, Tiles, rows
from taskflow.runtime.tasks.stencil import (
    FACES,
    POINT,
    Axis,
    Face,
    Oriented,
    Stencil,
    anywhere,
    box,
    facing,
    frame,
    lines,
    offsets,
    star,
)
from taskflow.runtime.tasks.sweep import (
    TILE,
    Ordering,
    PlacedSweep,
    PlaneSweep,
    SingleSweep,
    Sweep,
    WholeSweep,
    planes,
    sweeps,
    tile_of,
)
from taskflow.runtime.tasks.task import Launch, Task
from taskflow.runtime.tasks.traffic import Traffic, moved, traffic, visited

__all__ = [
    "FACES", "IDENTITY", "MOST_REDUCTIONS", "POINT", "ROWS", "TILE", "AllReduce", "Analysis", "Axis", "Cells",
    "Claim", "Coloured", "Components", "Compute", "Deciding", "Derive", "Exchange", "Face", "Foreign", "ForeignAny",
    "Geometries", "Grant", "Known", "Launch", "LookupTable", "LookupTables", "Loop", "Message", "Node", "Ordering",
    "Oriented", "OwnedScalars", "Part", "Place", "PlacedSweep", "PlaneSweep", "Privilege", "Program", "Read",
    "ReadByte", "ReadShort", "ReadWrite", "Receive", "Recordings", "Reduce", "Refresh", "Repeat", "Roles", "Scalar",
    "ScalarArray", "ScalarMapping", "Send", "SettledPass", "SingleSweep", "Stencil", "Stretch", "Sweep", "Swept",
    "Task", "TaskGraph", "Tiles", "Traffic", "Valid", "Variant", "View", "WholeSweep", "Write", "analyse", "anywhere",
    "box", "called", "combine", "counts", "cut", "deciding", "derive", "derived", "exchange", "facing", "frame",
    "is_choice", "lines", "live_in", "moved", "numbered", "offsets", "overwritten", "owned", "place", "plan",
    "planes", "reading", "record", "reduced", "repeat", "rows", "run_body", "settled", "shares_of", "siblings",
    "star", "stretches", "sweeps", "tables", "task", "tile_of", "together", "traffic", "visited",
]  # fmt: skip
