"""Write docs/notes/coverage.md, the lines that no fast test reaches, from the data of coverage.

`make coverage` measures and calls this script. The rooms are listed in `tool.coverage.report.include`. By hand:
`python docs/coverage_page.py DATA TESTS...` writes the page from the data of some tests alone, and says so.
"""

import sys
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

from coverage import Coverage
from coverage.exceptions import NoSource

import taskflow

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "notes" / "coverage.md"
INTRODUCTION = """# Coverage

Lines of the runtime, the physics and the readers that no fast test reaches. `make coverage` measures them and writes
this page. Processes that a test kills do not report their lines. Kernels are compiled and are not measured: tests
compare them with NumPy references. This is version {version}, {gpu} GPU.
"""


class Measured(NamedTuple):
    path: str
    statements: int
    missed: int
    lines: str  # "12-14, 20"

    @property
    def share(self) -> float:
        """Return the covered part of the statements in per cent."""
        return 100.0 * (1 - self.missed / self.statements) if self.statements else 100.0


def rooms() -> list[str]:
    """Return the folders that are listed, relative to the repository."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return [pattern.removesuffix("/*") for pattern in settings["tool"]["coverage"]["report"]["include"]]


def measured(coverage: Coverage, room: str) -> Iterator[Measured]:
    """Yield the files of a room, those with most missed lines first."""
    files = []
    for path in sorted((ROOT / room).rglob("*.py")):
        try:
            _, statements, _, missing, lines = coverage.analysis2(str(path))
        except NoSource:
            continue
        files.append(Measured(path.relative_to(ROOT).as_posix(), len(statements), len(missing), lines))
    yield from sorted(files, key=lambda file: -file.missed)


def page(coverage: Coverage, gpu: bool, tests: Sequence[str] = ()) -> str:
    """Return the page: a table of rooms, then the files of each room with their lines. `tests` if not all were run."""
    found = {room: list(measured(coverage, room)) for room in rooms()}
    sums = {r: Measured(r, sum(f.statements for f in fs), sum(f.missed for f in fs), "") for r, fs in found.items()}
    parts = [INTRODUCTION.format(version=taskflow.__version__, gpu="with a" if gpu else "without")]
    if tests:
        said = f"**Part of the fast tests alone** was measured, the others may reach more: {', '.join(tests)}."
        parts.append(fill(said, 120) + "\n")
    rows = [f"| `{name}` | {s.statements} | {s.missed} | {s.share:.1f} % |" for name, s in sums.items()]
    parts.append("| room | statements | missed | covered |\n|---|---|---|---|\n" + "\n".join(rows) + "\n")
    for room, files in found.items():
        rows = [f"| `{f.path.removeprefix(f'{room}/')}` | {f.missed} of {f.statements} | {f.lines} |"
                for f in files if f.missed]  # fmt: skip
        complete = f"{len(files) - len(rows)} of {len(files)} files are covered completely."
        table = "\n| file | missed | lines |\n|---|---|---|\n" + "\n".join(rows) + "\n" if rows else ""
        parts.append(f"## {room}\n\n{complete}\n{table}")
    return "\n".join(parts)


def main(data: str = ".coverage", *tests: str) -> None:
    """Write the page from a file of data, of all fast tests or of some."""
    from taskflow.runtime.machine.device import gpu_problem

    coverage = Coverage(data_file=data)
    coverage.load()
    PAGE.write_text(page(coverage, gpu=not gpu_problem(), tests=tests), encoding="utf-8")
    print(PAGE.relative_to(ROOT))


if __name__ == "__main__":
    main(*sys.argv[1:])
