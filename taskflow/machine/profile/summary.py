"""The summary of a profile: what all blocks' timelines say together, as plain numbers for the report of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from taskflow.machine.profile.critical import critical_path
from taskflow.machine.profile.overlap import Overlap, overlap
from taskflow.machine.profile.shares import CATEGORIES, Share, shares
from taskflow.machine.profile.timeline import Timeline

NS, US = 1e-9, 1e-3  # a nanosecond in seconds and in microseconds


def summarise(timelines: Sequence[Timeline]) -> dict[str, Any]:
    """Shares, overlap, host cost and critical path of a profile, of the timelines of all blocks in their order.

    `passes`: by program, typical ones. `seconds`: mean over the blocks, as are all seconds but those of the critical
    path. `shares` of that time: compute, copy, communication, and `rest` where none of them went on; `phases`: the same
    by task. `overlap`: seconds of exchanges, of them hidden under computing, and the `fraction` (None without any).
    `host`: calls per pass and microseconds that one costs (`call_microseconds`). `critical_path`: its seconds, its
    share of the time, and of which operations it consists. Without a typical pass only `passes` is there, empty.
    """
    found: Counter[Share] = Counter()
    whole = 0
    for timeline in timelines:
        mine, time = shares(timeline)
        found.update(mine)
        whole += time
    passes = Counter(p.program for p in timelines[0].typical) if timelines else Counter()
    if not whole:
        return {"passes": {}}
    exchanged = [overlap(timeline) for timeline in timelines]
    together = Overlap(sum(o.exchange for o in exchanged), sum(o.hidden for o in exchanged))
    path = critical_path(timelines)
    return {
        "passes": dict(passes),
        "blocks": len(timelines),
        "seconds": whole * NS / len(timelines),
        "shares": _shares(found, whole) | {"rest": 1 - found.total() / whole},
        "phases": _phases(found, whole),
        "overlap": {
            "exchange_seconds": together.exchange * NS / len(timelines),
            "hidden_seconds": together.hidden * NS / len(timelines),
            "fraction": together.fraction,
        },
        "host": _host(timelines),
        "critical_path": {
            "seconds": path.length * NS,
            "share": path.length / path.whole,
            "operations": {label: ns / max(path.length, 1) for label, ns in path.operations.most_common()},
        },
        "accuracy_microseconds": {
            name: max(timeline.accuracy[name] for timeline in timelines) * US for name in timelines[0].accuracy
        },
    }


def _shares(found: Counter[Share], whole: int) -> dict[str, float]:
    totals: Counter[str] = Counter()
    for (_, category), nanoseconds in found.items():
        totals[category] += nanoseconds
    return {category: totals[category] / whole for category in CATEGORIES}


def _phases(found: Counter[Share], whole: int) -> dict[str, dict[str, float]]:
    """The phases, longest first."""
    phases: Counter[str] = Counter()
    for (phase, _), nanoseconds in found.items():
        phases[phase] += nanoseconds
    return {
        phase: {category: found[phase, category] / whole for category in CATEGORIES}
        for phase, _ in phases.most_common()
    }


def _host(timelines: Sequence[Timeline]) -> dict[str, float]:
    """Calls per pass, and what one costs the host: its time in a pass, without what it does or waits for itself."""
    passes = [p for timeline in timelines for p in timeline.typical]
    calls = sum(p.calls for p in passes)
    busy = sum(span.length for p in passes for span in p.spans if span.track == "host")
    cost = sum(p.issued - p.start for p in passes) - busy
    return {"calls_per_pass": calls / len(passes), "call_microseconds": cost / max(calls, 1) * US}
