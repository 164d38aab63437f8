"""Tasks: what is done.

Knows tasks with privileges, programs of launches, and the graph that follows from them. Does not know streams, ranks,
buffers or devices.
"""

from taskflow.runtime.tasks.body import IDENTITY, View, combine, run_body
from taskflow.runtime.tasks.carried import Cells, carried, overwritten
from taskflow.runtime.tasks.define import MOST_REDUCTIONS, task
from taskflow.runtime.tasks.dependence import Analysis, Known, analyse
from taskflow.runtime.tasks.exchange import Exchange, Settled, exchange, settled
from taskflow.runtime.tasks.ghosts import Geometries, Valid
from taskflow.runtime.tasks.graph import (
    AllReduce,
    Claim,
    Compute,
    Grant,
    Message,
    Node,
    Receive,
    Refresh,
    Send,
    TaskGraph,
)
from taskflow.runtime.tasks.numbers import Numbers, reduced
from taskflow.runtime.tasks.orientation import FACES, Axis, Face, Oriented, facing, frame, lines
from taskflow.runtime.tasks.owners import OwnedScalars, owned
from taskflow.runtime.tasks.privilege import (
    Coloured,
    Components,
    Foreign,
    ForeignAny,
    ForeignDouble,
    ForeignSingle,
    Privilege,
    Read,
    ReadByte,
    ReadShort,
    ReadWrite,
    Reduce,
    Scalar,
    Write,
)
from taskflow.runtime.tasks.program import (
    Loop,
    Part,
    Program,
    Repeat,
    Roles,
    Stretch,
    called,
    counts,
    plan,
    record,
    repeat,
)
from taskflow.runtime.tasks.reading import place, reading, share
from taskflow.runtime.tasks.siblings import siblings
from taskflow.runtime.tasks.signature import Variant
from taskflow.runtime.tasks.split import ROWS, Tiles, rows
from taskflow.runtime.tasks.stencil import POINT, Stencil, box, offsets, star
from taskflow.runtime.tasks.table import Table, Tables, tables
from taskflow.runtime.tasks.task import Launch, Task
from taskflow.runtime.tasks.traffic import Traffic, moved, traffic, visited

__all__ = [
    "FACES",
    "IDENTITY",
    "MOST_REDUCTIONS",
    "POINT",
    "ROWS",
    "AllReduce",
    "Analysis",
    "Axis",
    "Cells",
    "Claim",
    "Coloured",
    "Components",
    "Compute",
    "Exchange",
    "Face",
    "Foreign",
    "ForeignAny",
    "ForeignDouble",
    "ForeignSingle",
    "Geometries",
    "Grant",
    "Known",
    "Launch",
    "Loop",
    "Message",
    "Node",
    "Numbers",
    "Oriented",
    "OwnedScalars",
    "Part",
    "Privilege",
    "Program",
    "Read",
    "ReadByte",
    "ReadShort",
    "ReadWrite",
    "Receive",
    "Reduce",
    "Refresh",
    "Repeat",
    "Roles",
    "Scalar",
    "Send",
    "Settled",
    "Stencil",
    "Stretch",
    "Table",
    "Tables",
    "Task",
    "TaskGraph",
    "Tiles",
    "Traffic",
    "Valid",
    "Variant",
    "View",
    "Write",
    "analyse",
    "box",
    "called",
    "carried",
    "combine",
    "counts",
    "exchange",
    "facing",
    "frame",
    "lines",
    "moved",
    "offsets",
    "overwritten",
    "owned",
    "place",
    "plan",
    "reading",
    "record",
    "reduced",
    "repeat",
    "rows",
    "run_body",
    "settled",
    "share",
    "siblings",
    "star",
    "tables",
    "task",
    "traffic",
    "visited",
]
