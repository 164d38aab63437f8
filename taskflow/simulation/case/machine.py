"""Where the run happens: [machine]."""

from collections.abc import Callable
from typing import Annotated, Any, Literal

from taskflow.errors import BadInput
from taskflow.simulation.case.table import Precision, Table, reads
from taskflow.simulation.values import natural, one_of, three, truth, whole

Auto = Literal["auto"]
Overlap = Literal["auto", "none", "comm", "full"]
Channel = Literal["auto", "local", "peer", "ucx", "actor"]
Device = Literal["auto", "cpu", "gpu"]


def _or_auto(kind: Callable[[object], Any]) -> Callable[[object], Any]:
    def read(value: object) -> Any:
        if isinstance(value, str) and value == "auto":
            return "auto"
        try:
            return kind(value)
        except BadInput as error:
            raise BadInput(f'{error}; or "auto"') from None

    return read


Count = Annotated[int | Auto, reads(_or_auto(whole))]


class Machine(Table):
    """What computes, in how many `blocks`, `workers` (processes) and `threads` (cores per block), and by what means.

    `restarts`: how often in a row the run goes on by itself from one checkpoint after a loss.
    `debug`: ghost cells without valid values are NaN, and blocks compare their programs at every pass.
    """

    device: Annotated[Device, reads(one_of("auto", "cpu", "gpu"))] = "auto"
    blocks: Annotated[tuple[int, int, int] | Auto, reads(_or_auto(three(whole, "three whole numbers >= 1")))] = "auto"
    workers: Count = "auto"
    threads: Count = "auto"
    precision: Precision = "double"
    overlap: Annotated[Overlap, reads(one_of("auto", "none", "comm", "full"))] = "auto"
    channel: Annotated[Channel, reads(one_of("auto", "local", "peer", "ucx", "actor"))] = "auto"
    restarts: Annotated[int, reads(natural)] = 3
    debug: Annotated[bool, reads(truth)] = False
