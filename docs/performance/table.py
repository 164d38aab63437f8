"""Tables of results, with their sources, and the forms of their numbers.

A number of a result may be a pair, the least and the most of several measurements; None is a number that was not
recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from taskflow.bench.tables import Result, where
from taskflow.common.units import size
from taskflow.runs.directory.provenance import brief

Labels = tuple[str, ...]
MANY = 4
FILES = {"-o", "--output", "--picture"}  # options of a command that change no number


class Source(NamedTuple):
    """A measurement: machine, day and commit, and the command with what it found or what is remarked."""

    session: str
    command: str


class ReportTable:
    """Rows by their labels, each of one result or of several, and the results as numbered sources.

    `labels` name the first columns; `order` is the key by whose values rows are sorted. Of two results for the same row
    and group of columns the newer one counts.
    """

    def __init__(self, *labels: str, order: Callable[[Labels], Any] = lambda _: 0) -> None:
        self._labels, self._order = labels, order
        self._rows: dict[Labels, dict[str, tuple[Result, Mapping[str, str]]]] = {}

    def put(self, labels: Labels, columns: Mapping[str, str], result: Result, group: str = "") -> None:
        """Put numbers as texts, by their columns, into the row with these labels."""
        row = self._rows.setdefault(labels, {})
        if group not in row or (result["started"] or "") >= (row[group][0]["started"] or ""):
            row[group] = result, columns

    def markdown(self, sources: list[Source]) -> str:
        """Return the table without empty columns, and add its sources to those of the page.

        A column of one machine is omitted: the sources name it. In a table of `MANY` rows or more, the value that all
        rows share, of a label or the source, is a line above it.
        """
        if not self._rows:
            return "No results."
        columns = [columns for row in self._rows.values() for _, columns in row.values()]
        filled = {name for texts in columns for name, text in texts.items() if text}
        names = [name for name in dict.fromkeys(name for texts in columns for name in texts) if name in filled]
        rows = []
        for labels in sorted(self._rows, key=self._order):
            row = self._rows[labels].values()
            texts = {name: text for _, columns in row for name, text in columns.items() if text}
            own = [source(result) for result, _ in row]
            sources += dict.fromkeys(text for text in own if text not in sources)
            numbers = ", ".join(map(str, sorted({sources.index(text) + 1 for text in own})))
            rows.append((*map(_extent, labels), *(texts.get(name, "") for name in names), numbers))
        head = (*self._labels, *names, "source")
        same = [n for n in (*range(len(self._labels)), -1) if len({row[n] for row in rows}) == 1]
        alike = {head[n]: rows[0][n] for n in same if len(rows) >= MANY and head[n] != "machine" and rows[0][n]}
        omitted = alike.keys() | {head[n] for n in same if head[n] == "machine"}
        kept = [n for n, name in enumerate(head) if name not in omitted]
        lines = [f"All rows: {', '.join(f'{name} {text}' for name, text in alike.items())}.", ""] if alike else []
        lines += [_line([head[n] for n in kept]), f"|{'---|' * len(kept)}"]
        return "\n".join([*lines, *(_line([row[n] for n in kept]) for row in rows)])


def notes(sources: Sequence[Source]) -> str:
    """Return the numbered list of sources, with a line above those of one machine, day and commit."""
    groups = groupby(enumerate(sources, 1), lambda numbered: numbered[1].session)
    return "\n\n".join(
        "\n".join([f"{session}:", "", *(f"{n}. {one.command}" for n, one in group)]) for session, group in groups
    )


def _extent(label: str) -> str:
    """Write cells as options take them, or a cube as a power; other labels are returned unchanged."""
    sizes = label.split(" x ")
    if len(sizes) != 3 or not all(size.isdecimal() for size in sizes):
        return label
    return f"{sizes[0]}^3" if len({*sizes}) == 1 else "x".join(sizes)


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def source(result: Result) -> Source:
    """Return the session of a result, and its command without files, with its copy bandwidth, as text."""
    words = [word for before, word in pairwise(["", *result["command"]]) if not {before, word} & FILES]
    command = " ".join(words if words[0] == "python" else ["taskflow", *words[1:]])
    command = command.removeprefix("python -m ") if "-m taskflow " in command else command
    named = {"copy_bandwidth": "copy", "driver_bandwidth": "by the driver"}
    copy = "".join(f", {words} {size(result[name])}/s" for name, words in named.items() if result.get(name))
    remark = f". {result['remark']}" if result.get("remark") else ""
    session = f"{where(result)}, {result['started'][:10]}, commit {brief(result['git_commit'])}"
    return Source(session, f"`{command}`{copy}{remark}")


def digits(value: float) -> str:
    """Three significant digits at most: an older result may have fewer, and its zeros would be invented."""
    return f"{value:.3g}" if value < 999.5 else f"{value:,.0f}"


def shown(value: Any, scale: float = 1.0, form: Callable[[float], str] = digits) -> str:
    """A number, or the least and the most of several, times `scale`; nothing for one that is not known."""
    if value is None:
        return ""
    return " to ".join(form(scale * part) for part in (value if isinstance(value, list) else [value]))


def share(value: float) -> str:
    """A share in per cent, with one decimal where that is not zero."""
    return f"{100 * value:.1f} %".replace(".0 %", " %")


def of_copies(row: Mapping[str, Any]) -> dict[str, str]:
    """Shares of the bandwidth of our copy kernel and, in newer results, of the driver's copy."""
    driver = {"of driver": share(row["share_of_driver"])} if "share_of_driver" in row else {}
    return {"of copy": shown(row["share_of_copy"], form=share), **driver}


def small(value: float) -> str:
    """Two digits and a power of ten."""
    return f"{value:.1e}".replace("e-0", "e-")


def results_of(results: Sequence[Result], *names: str, gpu: bool | None = None) -> Iterator[Result]:
    """The results of these benchmarks, of GPUs alone or of none where that is said."""
    known = (result for result in results if result["benchmark"] in names)
    return (result for result in known if gpu is None or (result["gpu"] is not None) == gpu)


def rows_of(results: Sequence[Result], *names: str, gpu: bool | None = None) -> Iterator[tuple[Result, Any]]:
    """The rows of these benchmarks, each with its result."""
    return ((result, row) for result in results_of(results, *names, gpu=gpu) for row in result["results"])


def flow(result: Result) -> str:
    """The case that was measured, with the settings of it."""
    return ", ".join([result["case"], *(f"`{setting}`" for setting in result.get("settings") or ())])
