"""`taskflow bench report`: the tables of the performance pages, made of the results that benchmarks wrote as JSON.

A table stands in a page between `<!-- table of NAME -->` and `<!-- end -->`, and below it where, when and by which
command its numbers were measured; all else in the page stays. A number of a result may be a pair, the least and the
most of several measurements; None is a number that nobody noted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from taskflow.bench.tables import Result, arranged, where
from taskflow.cli.exit_codes import refuse
from taskflow.common.errors import BadInput
from taskflow.common.units import size, times
from taskflow.output import read_report
from taskflow.runs.directory.provenance import brief

PLACE = re.compile(r"(<!-- table of (\w+) -->\n).*?<!-- end -->", re.DOTALL)
Labels = tuple[str, ...]

WIDTH = 120  # characters of a line below a table
DECADES = (3, 5, 7)  # residuals down to 10 to minus these
METHODS = {"truncated": "multigrid, truncated", "amalgamated": "multigrid", "cg": "conjugate gradients", "fft": "FFT"}


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

    def markdown(self) -> str:
        """The table and its sources; columns without any number are left out."""
        if not self._rows:
            return "No results."
        columns = [columns for row in self._rows.values() for _, columns in row.values()]
        filled = {name for texts in columns for name, text in texts.items() if text}
        names = [name for name in dict.fromkeys(name for texts in columns for name in texts) if name in filled]
        sources: list[str] = []
        lines = [_line((*self._labels, *names, "source")), _line(["---"] * (len(self._labels) + len(names) + 1))]
        for labels in sorted(self._rows, key=self._order):
            row = self._rows[labels].values()
            texts = {name: text for _, columns in row for name, text in columns.items() if text}
            told = [source(result) for result, _ in row]
            sources += dict.fromkeys(text for text in told if text not in sources)
            numbers = sorted({sources.index(text) + 1 for text in told})
            lines.append(_line((*labels, *(texts.get(name, "") for name in names), ", ".join(map(str, numbers)))))
        return "\n".join([*lines, "", *(_note(n, text) for n, text in enumerate(sources, 1))])


def _note(number: int, text: str) -> str:
    """A numbered source; where that is long, with its command on a line of its own."""
    line = f"{number}. {text}"
    return line if len(line) <= WIDTH else line.replace(", `", ",\n   `").replace("`, ", "`,\n   ")


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def source(result: Result) -> str:
    """Machine, date, commit and command of a result, in words, and which of them nobody recorded."""
    words = result["command"] or ()
    facts = {
        "date": (result["started"] or "")[:16].replace("T", " "),
        "commit": f"commit {brief(result['git_commit'])}" if result["git_commit"] else "",
        "command": f"`{' '.join(['taskflow', *words[1:]])}`" if words else "",
    }
    copy = f"copy {size(result['copy_bandwidth'])}/s" if result.get("copy_bandwidth") else ""
    *some, last = ["", *(name for name, text in facts.items() if not text)]
    missing = f"{' and '.join(filter(None, (', '.join(filter(None, some)), last)))} not recorded" if last else ""
    parts = where(result), *facts.values(), copy, missing
    return ", ".join(filter(None, parts)) + (f". {result['remark']}" if result.get("remark") else "")


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


def small(value: float) -> str:
    """Two digits and a power of ten."""
    return f"{value:.1e}".replace("e-0", "e-")


def _timed(row: Mapping[str, Any], unit: float, name: str) -> dict[str, str]:
    """The columns that all tables have: milliseconds, cells per second of a block, share of the copy bandwidth."""
    rate = row["cells_per_second_per_block"] if "cells_per_second_per_block" in row else row["cells_per_second"]
    return {
        "ms": shown(row["seconds"], 1e3),
        name: shown(rate, 1 / unit),
        "of copy": shown(row["share_of_copy"], form=share),
    }


def kernels(results: Sequence[Result]) -> ReportTable:
    """The kernels on GPUs: results of `kernels`, single and double precision beside each other."""
    table = ReportTable("kernel", "cells")
    of_gpus = results_of(results, "kernels", gpu=True)
    for result in sorted(of_gpus, key=lambda result: str(result["precision"]), reverse=True):
        for row in result["results"]:
            if row["name"] != "whole step":
                columns = {f"{result['precision']}: {k}": v for k, v in _timed(row, 1e9, "Gcell/s").items()}
                table.put((row["name"], times(result["cells"])), columns, result, result["precision"])
    return table


def steps(results: Sequence[Result]) -> ReportTable:
    """The steps of flows on one GPU: results of `step`."""
    table = ReportTable("flow", "cells", "pressure", "precision")
    for result, row in rows_of(results, "step", gpu=True):
        if all(other["blocks"] == 1 for other in result["results"]):
            columns = {
                "bytes per cell": shown(row["bytes_per_cell"], form="{:.0f}".format),
                **_timed(row, 1e9, "10^9 cell-steps/s"),
                "iterations": shown(row["iterations"]),
                "largest divergence": shown(row["divergence"], form=small),
                "nJ per cell-step": shown(row["joules_per_cell"], 1e9, "{:.0f}".format),
            }
            table.put((flow(result), times(row["cells"]), result["pressure"], result["precision"]), columns, result)
    return table


def solvers(results: Sequence[Result]) -> ReportTable:
    """The pressure solvers on GPUs: results of `cavity --study pressure`."""
    table = ReportTable("cells", "GPUs", "method", "precision", order=lambda row: (int(row[0].split()[0]), int(row[1])))
    names = {f"{10.0**-decade:.0e}": f"to 1e-{decade}: ms (iterations)" for decade in DECADES}
    for result, row in rows_of(results, "pressure", gpu=True):
        text, direct = shown(row["seconds"], 1e3), row["tolerance"] is None
        name = "direct: ms" if direct else names.get(f"{row['tolerance']:.0e}")
        if name is not None:
            text += "" if direct else f" ({shown(row['iterations'])})"
            columns = {**dict.fromkeys([*names.values(), "direct: ms"], ""), name: text}
            method = METHODS.get(row["method"], row["method"])
            table.put((times(row["cells"]), str(row["blocks"]), method, result["precision"]), columns, result, name)
    return table


def gpus(results: Sequence[Result]) -> ReportTable:
    """The same on several GPUs: of every number of blocks the fastest way to overlap, in results of `cavity`, `scaling`
    and `step`. Efficiencies are those of weak scaling: cells per second of a GPU against one with as many cells.
    """
    labels = "measured", "precision", "growth", "cells of each GPU", "GPUs"
    table = ReportTable(*labels, order=lambda row: (row[:3], int(row[4])))
    for result in results_of(results, "cavity", "scaling", "step", gpu=True):
        rows: dict[Any, Any] = {}
        for row in result["results"]:
            kind = row.get("shape"), row["blocks"], times(row["cells_per_block"])
            if kind not in rows or _mean(row["seconds"]) < _mean(rows[kind]["seconds"]):
                rows[kind] = row
        for (shape, blocks, cells), row in rows.items() if any(blocks > 1 for _, blocks, _ in rows) else ():
            efficiency = _efficiency(results, result, row) if blocks > 1 and shape != "strong" else None
            columns = {
                **_timed(row, 1e9, "10^9 cells/s each"),
                "overlap": row["overlap"] if blocks > 1 and row["overlap"] else "",
                "efficiency": shown(efficiency, form=share),
                "speedup": shown(row["speedup"]) if shape == "strong" and blocks > 1 else "",
            }
            table.put((_measured(result), result["precision"], shape or "", cells, str(blocks)), columns, result)
    return table


def _efficiency(results: Sequence[Result], result: Result, row: Mapping[str, Any]) -> float | None:
    """The efficiency that a row has, or for a step the one that follows from another result, of one block."""
    if result["benchmark"] != "step" or "efficiency" in row:
        return row["efficiency"]
    for other, alone in rows_of(results, "step", gpu=True):
        same = all(other[name] == result[name] for name in ("gpu", "case", "pressure", "precision", "settings"))
        if same and alone["blocks"] == 1 and alone["cells"] == row["cells_per_block"]:
            return float(_mean(row["cells_per_second_per_block"]) / _mean(alone["cells_per_second_per_block"]))
    return None


def cpus(results: Sequence[Result]) -> ReportTable:
    """Steps and sweeps on CPUs: results of `kernels` (its whole step), `step`, `cavity`, `sweep` and `scaling`."""
    table = ReportTable("measured", "cells", "precision", "blocks")
    for result, row in rows_of(results, "kernels", "step", "cavity", "sweep", "scaling", gpu=False):
        if result["benchmark"] == "kernels":
            if row["name"] != "whole step":
                continue
            what, cells, blocks = f"step of cavity, {result['iterations']} jacobi iterations", result["cells"], "1"
        else:
            what, cells = _measured(result), row.get("cells") or row["cells_per_block"]
            blocks = f"{row['blocks']}, {arranged(row)}" if row["blocks"] > 1 else "1"
        columns = {
            **_timed(row, 1e6, "10^6 cells/s"),
            "efficiency": shown(row.get("efficiency"), form=share) if row.get("blocks", 1) > 1 else "",
        }
        table.put((what, times(cells), result["precision"], blocks), columns, result)
    return table


def _mean(value: Any) -> float:
    return sum(value) / len(value) if isinstance(value, list) else value


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


def _measured(result: Result) -> str:
    """The sweep or the step that was measured, in words."""
    if result["benchmark"] in ("sweep", "scaling"):
        return f"Jacobi sweep{', two in a pass' if result['blocked'] else ''}"
    return f"step of {flow(result)}, {result['pressure']}"


TABLES: Mapping[str, Callable[[Sequence[Result]], ReportTable]] = {
    "kernels": kernels,
    "steps": steps,
    "solvers": solvers,
    "gpus": gpus,
    "cpus": cpus,
}


def read(paths: Sequence[Path]) -> list[Result]:
    """The results in these files. Raises BadInput where a file cannot be read or is none that a benchmark wrote."""
    results = []
    for path in paths:
        try:
            result = read_report(path)
        except OSError as error:
            refuse(f"{path}: cannot be read ({error.strerror or error}); give files that `taskflow bench` wrote")
        if missing := {"benchmark", "git_commit", "started", "command", "gpu", "results"} - result.keys():
            refuse(f"{path}: has no {', '.join(sorted(missing))}; give files that `taskflow bench ... -o FILE` wrote")
        results.append(result)
    return results


def updated(
    page: str, results: Sequence[Result], tables: Mapping[str, Callable[[Sequence[Result]], ReportTable]]
) -> str:
    """The page with its tables made anew. Raises BadInput where one is not known, or a result lacks a number."""

    def table(place: re.Match[str]) -> str:
        if place[2] not in tables:
            raise BadInput(f"<!-- table of {place[2]} -->: no such table; use one of {', '.join(tables)}")
        try:
            return f"{place[1]}\n{tables[place[2]](results).markdown()}\n\n<!-- end -->"
        except KeyError as error:
            raise BadInput(f"table of {place[2]}: a result has no {error}; measure it anew") from None

    return PLACE.sub(table, page)


def blank(tables: Sequence[str]) -> str:
    """A page of tables alone, still empty."""
    return "".join(f"## {name}\n\n<!-- table of {name} -->\n\n<!-- end -->\n\n" for name in tables)
