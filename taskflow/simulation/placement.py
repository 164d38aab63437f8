"""Which block lives where: the processes asked for, the blocks cut for them, and the place of each block.

`taskflow check` decides by the same rules as a run, without starting anything.
"""

from __future__ import annotations

from math import prod

from taskflow.errors import BadInput
from taskflow.machine import Place, cores_per_block
from taskflow.regions import Triple
from taskflow.simulation.case import Case


def processes(case: Case, gpus: int | None) -> int:
    """Processes of the embedded cluster: as many as blocks, on GPUs (`gpus` is None on CPUs) at most one for each.

    Raises BadInput where more processes are asked for than there are GPUs.
    """
    wanted, planes = case.machine.workers, case.grid.cells[2]
    blocks = None if case.machine.blocks == "auto" else prod(case.machine.blocks)
    if wanted != "auto":
        if gpus is not None and wanted > gpus:
            raise BadInput(f"machine.workers = {wanted}: this machine has {gpus} GPUs; use at most {gpus}")
        return min(wanted, blocks or planes)
    if blocks is None:
        return 1 if gpus is None else max(1, min(gpus, planes))
    return blocks if gpus is None else max(1, min(gpus, blocks))


def cut(case: Case, places: int) -> Triple:
    """The blocks asked for; by default slabs in z, one per place where there are enough planes."""
    return case.machine.blocks if case.machine.blocks != "auto" else (1, 1, min(places, case.grid.cells[2]))


def placed(case: Case, blocks: Triple, places: list[Place], *, embedded: bool) -> list[Place]:
    """The place of each block: neighbouring blocks in one place."""
    total = prod(blocks)
    count = min(len(places), total)
    if not embedded and case.machine.workers != "auto":
        count = min(count, case.machine.workers)
    return [places[block * count // total] for block in range(total)]


def threads_per_block(case: Case, where: list[Place]) -> int:
    """The cores asked for; by default those of a host shared alike by its blocks."""
    return cores_per_block(where) if case.machine.threads == "auto" else case.machine.threads
