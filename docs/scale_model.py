"""The model of docs/explanation/scale.md: what a step costs on many devices, from measured terms and counts.

`python -m docs.scale_model` writes the tables of the page. Counts are in `scale_counts.json` (`docs.scale_counts`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from docs.scale_counts import ALONE, STRONG, WEAK, Occasion, StepCounts, read
from taskflow.common.units import size, times

DOCS = Path(__file__).parent
PAGE = DOCS / "explanation" / "scale.md"
RESULTS = DOCS / "performance" / "results"
HOST = 8  # devices of a host, which see each other's memory
SHARES = 8 * 4  # bytes of the numbers that a block contributes to a reduction


@dataclass(frozen=True)
class Term:
    """A measured number, in seconds or bytes per second, and where it is recorded."""

    value: float
    where: str


LOG, SMALL = "`performance_log.md`", "`small_flows.md`"
NEAR = Term(15e-6, f"{LOG}: the gather of a cycle, which nothing hides")
NEAR_RATE = Term(2.2e6 / 7e-6, f"{LOG}: 2.2 MB in 7 us without other work")
NEAR_FOLD = Term(6.5e-6, f"{LOG}: two all-reduces of an iteration in 13 us")
FAR = Term(11e-6 / 2, "[messages](../decisions/messages.md): two neighbours in 11 us, at 8 bytes each")
FAR_RATE = Term(2 * 65536 / 16e-6, "[messages](../decisions/messages.md): 16 us more with 64 KiB for each of two")
FOLD = Term(571e-6 / 16384, "[reductions](../decisions/messages.md#shares-of-a-reduction-are-folded-in-one-call)")
SNAPSHOT = Term(0.0126, f"{LOG}: 1.4550 instead of 1.4425 s with a snapshot of 512^3 cells")
CHECKPOINT = Term(3.85e9 / 0.27, f"{LOG}: 3.85 GB delay a run by 0.27 s")
DISK = Term(1.2e9, f"{LOG}: 1.2 to 1.5 GB/s to the disk of a host, with `fsync`")


def alone() -> dict[int, Term]:
    """The measured seconds of a step on one device, by the cells along each side of the cavity."""
    return {64: Term(275e-6, SMALL), 128: Term(793e-6, SMALL), 256: Term(3.75e-3, LOG), 384: Term(11.9e-3, LOG)}


@dataclass(frozen=True)
class Cost:
    """The parts of a step, in seconds."""

    launches: float
    memory: float
    messages: float
    reductions: float

    @property
    def total(self) -> float:
        """The time of the step: nothing overlaps."""
        return self.launches + self.memory + self.messages + self.reductions

    @property
    def limit(self) -> str:
        """The largest part."""
        parts = {"memory": self.memory, "launches": self.launches}
        parts |= {"messages": self.messages, "reductions": self.reductions}
        return max(parts, key=parts.__getitem__)


class Model:
    """The two fitted numbers, seconds of a launch and bytes per second, and what follows from them."""

    def __init__(self, counts: Iterable[StepCounts]) -> None:
        self.counts = list(counts)
        measured = alone()
        ones = [(self.of(1, (n, n, n)), measured[n].value) for n in ALONE]
        terms = np.array([[one.launches / seconds, one.nbytes / seconds] for one, seconds in ones])
        (self.launch, slowness), *_ = np.linalg.lstsq(terms, np.ones(len(ones)), rcond=None)
        self.rate = 1 / slowness

    def of(self, devices: int, cells: tuple[int, ...]) -> StepCounts:
        """The counts of a step for the cells of each device."""
        return next(one for one in self.counts if (one.devices, one.cells) == (devices, cells))

    def cost(self, one: StepCounts) -> Cost:
        """The cost of a step: within a host of direct copies, beyond it of messages by way of the hosts."""
        far = one.devices > HOST
        messages = sum((_far if far else _near)(occasion) for occasion in one.occasions)
        rounds = (one.devices - 1).bit_length()
        fold = 2 * FAR.value * rounds + one.devices * (SHARES / FAR_RATE.value + FOLD.value) if far else NEAR_FOLD.value
        return Cost(one.launches * self.launch, one.nbytes / self.rate, messages, one.reductions * fold)


def _near(occasion: Occasion) -> float:
    return NEAR.value + occasion.nbytes / NEAR_RATE.value


def _far(occasion: Occasion) -> float:
    return FAR.value * max(2, occasion.messages) + occasion.nbytes / FAR_RATE.value


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(head)]
    lines += [["---"] * len(lines[0]), *map(list, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def terms(model: Model) -> str:
    """The terms of the model with their sources."""
    rows = [
        ("a launch", f"{model.launch * 1e6:.2f} us", "fitted to four steps on one device"),
        ("memory of a device", f"{size(model.rate)}/s", "the same"),
        ("an occasion to wait within a host", f"{NEAR.value * 1e6:.0f} us", NEAR.where),
        ("bytes within a host", f"{size(NEAR_RATE.value)}/s", NEAR_RATE.where),
        ("a reduction within a host", f"{NEAR_FOLD.value * 1e6:.1f} us", NEAR_FOLD.where),
        ("a message between hosts", f"{FAR.value * 1e6:.1f} us", FAR.where),
        ("bytes between hosts", f"{size(FAR_RATE.value)}/s", FAR_RATE.where),
        ("the share of a block in a reduction", f"{FOLD.value * 1e9:.0f} ns", FOLD.where),
        ("a snapshot of 512^3 cells", f"{SNAPSHOT.value * 1e3:.1f} ms", SNAPSHOT.where),
        ("a checkpoint", f"{size(CHECKPOINT.value)}/s", CHECKPOINT.where),
        ("the disk of a host", f"{size(DISK.value)}/s", DISK.where),
    ]
    return _table(("term", "value", "source"), rows)


def agreement(model: Model) -> str:
    """The model compared with measurements."""
    name = "step_h200_8_gpus_multigrid_2.json"
    rows = json.loads((RESULTS / name).read_text(encoding="utf-8"))["results"]
    two = Term(next(row["seconds"] for row in rows if row["blocks"] == 2), f"`{name}`")
    measured = [*((model.of(1, (n, n, n)), term) for n, term in alone().items()), (model.of(2, WEAK), two)]
    lines = []
    for one, term in measured:
        modelled = model.cost(one).total
        off = f"{100 * (modelled / term.value - 1):+.0f} %"
        lines.append((f"{one.devices}", times(one.cells), _ms(term.value), _ms(modelled), off, term.where))
    return _table(("devices", "cells of each", "measured: ms", "model: ms", "off", "source"), lines)


def weak(model: Model) -> str:
    """Steps with 256^3 cells on each device."""
    base = model.cost(model.of(1, WEAK)).total
    ones = _unique(one for one in model.counts if one.cells == WEAK and one.devices > 2)
    return _scaled(model, ones, "efficiency", lambda one, total: f"{100 * base / total:.0f} %")


def strong(model: Model) -> str:
    """Steps with 1024^3 cells in all."""
    ones = _unique(one for one in model.counts if np.prod(one.cells) * one.devices == np.prod(STRONG))
    base = model.cost(ones[0]).total
    return _scaled(model, ones, "speedup over 8", lambda one, total: f"{base / total:.1f}")


def _unique(ones: Iterable[StepCounts]) -> list[StepCounts]:
    return sorted({one.devices: one for one in ones}.values(), key=lambda one: one.devices)


def _scaled(model: Model, ones: list[StepCounts], gain: str, gained: Callable[[StepCounts, float], str]) -> str:
    rows = []
    for one in ones:
        cost = model.cost(one)
        parts = (cost.memory, cost.launches, cost.messages, cost.reductions)
        numbers = [f"{sum(occasion.messages for occasion in one.occasions)}", *map(_ms, parts), _ms(cost.total)]
        rows.append((f"{one.devices:,}", times(one.cells), *numbers, gained(one, cost.total), cost.limit))
    names = ("memory", "launches", "messages", "reductions")
    head = ("devices", "cells of each", "messages", *(f"{name}: ms" for name in names), "step: ms", gain, "limit")
    return _table(head, rows)


def outputs(model: Model) -> str:
    """What results cost a device with 256^3 cells, however many there are."""
    cells = float(np.prod(WEAK))
    snapshot, checkpoint = 4 * 4 * cells, 8 * 9 * cells
    rows = []
    for devices in (8, 64, 1024, 16384):
        step = model.cost(model.of(devices, WEAK)).total
        delay = SNAPSHOT.value * cells / 512**3, checkpoint / CHECKPOINT.value
        disk = HOST * snapshot / DISK.value, HOST * checkpoint / DISK.value
        rows.append((
            f"{devices:,}", f"{4 * devices // HOST:,}", *(f"{1e3 * seconds:.1f}" for seconds in delay),
            *(f"{seconds / step:,.0f}" for seconds in disk),
        ))  # fmt: skip
    head = ("devices", "files of a snapshot", "a snapshot delays by: ms", "a checkpoint: ms")
    return _table((*head, "steps between snapshots, at least", "between checkpoints"), rows)


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.3g}"


TABLES = {"terms": terms, "agreement": agreement, "weak": weak, "strong": strong, "outputs": outputs}
PLACE = re.compile(r"(<!-- table of (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def updated(text: str, model: Model) -> str:
    """The page with the tables that the model makes now."""
    return PLACE.sub(lambda place: f"{place[1]}\n{TABLES[place[2]](model)}\n\n{place[3]}", text)


if __name__ == "__main__":
    PAGE.write_text(updated(PAGE.read_text(encoding="utf-8"), Model(read())), encoding="utf-8")
