"""Write the number of steps of the examples into their pages, from runs on this machine's CPU:

    python docs/example_steps.py [NAME...]

By default of all whose page tells at most `LIMIT` seconds of processor time.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

import taskflow

ROOT = Path(__file__).resolve().parents[1]
PAGES, EXAMPLES = ROOT / "docs" / "examples", ROOT / "examples"
LIMIT = 60  # seconds of processor time
STEPS = re.compile(r"^(\d[\d ]*) steps(?= (?:on|until) )", re.MULTILINE)
SECONDS = re.compile(r"(\d+) s of\s+processor\s+time|(less) than a second")


def short() -> list[str]:
    """Names of the examples whose pages tell their steps, and that they take little time."""
    names = []
    for page in sorted(PAGES.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        if (found := STEPS.search(text)) and (EXAMPLES / f"{page.stem}.toml").exists():
            seconds = SECONDS.search(text, found.end())
            if seconds and int(seconds[1] or 1) <= LIMIT:
                names.append(page.stem)
    return names


def told(name: str) -> int:
    """The steps of an example that its page tells."""
    found = STEPS.search((PAGES / f"{name}.md").read_text(encoding="utf-8"))
    assert found is not None, f"{name}.md tells no number of steps"
    return int(found[1].replace(" ", ""))


def taken(name: str) -> int:
    """The steps that a run of an example takes."""
    with tempfile.TemporaryDirectory() as folder:
        case = taskflow.Case.load(EXAMPLES / f"{name}.toml", ["machine.device=cpu"])
        return int(taskflow.run(case, Path(folder) / name).report["steps"])


def write(name: str, steps: int) -> None:
    """Write a number of steps into the page of an example."""
    page = PAGES / f"{name}.md"
    number = f"{steps:,}".replace(",", " ") if steps >= 10_000 else f"{steps}"
    page.write_text(STEPS.sub(f"{number} steps", page.read_text(encoding="utf-8"), count=1), encoding="utf-8")


if __name__ == "__main__":
    for name in sys.argv[1:] or short():
        steps = taken(name)
        print(f"{name}: {told(name)} -> {steps}")
        write(name, steps)
