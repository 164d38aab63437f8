"""What a profile of a run found, for people: where the time went, what was hidden, what to look at next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from taskflow.cli.benching import table
from taskflow.cli.words import duration, say, several
from taskflow.units import significant

CATEGORIES = ("compute", "copy", "communication")
PHASES = 12  # most lines of the table
LINKS = 5  # of the critical path
SMALL = 0.001  # shares below which nothing is shown


def tell_profile(profile: Mapping[str, Any], path: Path) -> None:
    """Print the summary of a profile whose timeline is in a file."""
    passes = profile["passes"]
    if not passes:
        say(f"Nothing was profiled: no step came twice after the first {profile['after']}; give less --profile-after")
        return
    counts = " and ".join(f"{several(count, 'pass')} of {name}" for name, count in passes.items())
    say(f"Profile: {counts} on {several(profile['blocks'], 'block')}, {duration(profile['seconds'])}")
    phases = list(profile["phases"].items())
    rows = [(phase, [_share(found[name]) for name in CATEGORIES]) for phase, found in phases[:PHASES]]
    if len(phases) > PHASES:
        others = {name: sum(found[name] for _, found in phases[PHASES:]) for name in CATEGORIES}
        rows.append((f"{len(phases) - PHASES} others", [_share(others[name]) for name in CATEGORIES]))
    rows.append(("all", [_share(profile["shares"][name]) for name in (*CATEGORIES, "rest")]))
    table(["compute", "copy", "communic.", "rest"], rows)
    say("In short", _facts(profile, path))


def _facts(profile: Mapping[str, Any], path: Path) -> Iterator[tuple[str, str]]:
    """Label and text of each line."""
    overlap, host, critical = profile["overlap"], profile["host"], profile["critical_path"]
    if overlap["fraction"] is not None:
        whole, hidden = overlap["exchange_seconds"], overlap["hidden_seconds"]
        text = f"{overlap['fraction']:.0%} of {duration(whole)} of exchange hidden under computing"
        yield "overlap", f"{text}, {duration(whole - hidden)} exposed"
    yield "host", f"{significant(host['call_microseconds'])} us per call, {host['calls_per_pass']:.0f} calls per pass"
    links = ", ".join(f"{_share(share)} {name}" for name, share in list(critical["operations"].items())[:LINKS])
    yield "critical", f"{duration(critical['seconds'])}, {critical['share']:.0%} of the time: {links}"
    yield "timeline", f"{path}: open it at https://ui.perfetto.dev"
    yield "picture", f"{path.with_suffix('.png')}"


def _share(share: float) -> str:
    return f"{share:.1%}" if share >= SMALL else ""
