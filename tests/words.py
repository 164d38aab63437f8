"""Count the phrases that docs/contributing/english.md replaces: `python -m tests.words [--check | --lower]`.

The counts of a group (docstrings, reference, other pages, changelog) may only fall. Bounds are in tests/words.json.
"""

import argparse
import ast
import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SHEET = "docs/contributing/english.md"
BOUNDS = "tests/words.json"
PLACES = ("taskflow/**/*.py", "*.md", "docs/**/*.md", "deploy/**/*.md", "examples/**/*.md", "tests/**/*.md")
# Quotations, lab books and what is generated.
OMITTED = ("CODE_OF_CONDUCT.md", SHEET, "docs/reference/bibliography.md", "docs/notes/", "docs/examples/gallery/")
GROUPS = ("docstrings", "reference", "pages", "changelog")
NO_PROSE = re.compile(r"```.*?```|<!--.*?-->|`[^`]*`|\]\([^)]*\)", re.DOTALL)


class Place(NamedTuple):
    path: str
    line: int

    @property
    def group(self) -> str:
        if self.path.endswith(".py"):
            return "docstrings"
        if self.path.startswith("docs/reference/"):
            return "reference"
        return "changelog" if self.path == "CHANGELOG.md" else "pages"


def phrases(root: Path = ROOT) -> dict[str, str]:
    """Read the phrases of the style sheet, with what to write instead."""
    return dict(re.findall(r"^\| `([^`]+)` \| (.+) \|$", (root / SHEET).read_text(encoding="utf-8"), re.MULTILINE))


def pattern(phrase: str) -> re.Pattern[str]:
    """Compile a phrase: words in order, variants of a word separated by slashes."""
    words = r"\s+".join(f"(?:{word.replace('/', '|')})" for word in phrase.split())
    return re.compile(words if phrase == ";" else rf"\b{words}\b")


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the first line and the text, in lower case without code, of each docstring of a module, or of a page."""
    text = path.read_text(encoding="utf-8")
    parts = [(1, text)]
    if path.suffix == ".py":
        values = (node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Expr))
        parts = [(v.lineno, v.value) for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str)]
    for line, part in parts:
        yield line, NO_PROSE.sub(lambda code: " " + "\n" * code[0].count("\n"), part).lower()


def occurrences(root: Path = ROOT) -> dict[str, list[Place]]:
    """Find the places of each phrase."""
    patterns = {phrase: pattern(phrase) for phrase in phrases(root)}
    found: dict[str, list[Place]] = {phrase: [] for phrase in patterns}
    for path in sorted({path for place in PLACES for path in root.glob(place)}):
        name = path.relative_to(root).as_posix()
        for first, text in prose(path) if not name.startswith(OMITTED) else ():
            for phrase, compiled in patterns.items():
                lines = (first + text.count("\n", 0, match.start()) for match in compiled.finditer(text))
                found[phrase] += (Place(name, line) for line in lines)
    return found


def counts(found: dict[str, list[Place]]) -> dict[str, dict[str, int]]:
    """Count occurrences by phrase and group."""
    groups = {phrase: Counter(place.group for place in places) for phrase, places in found.items()}
    return {phrase: {group: number[group] for group in GROUPS} for phrase, number in groups.items()}


def changed(root: Path = ROOT) -> set[Place]:
    """Return the lines that differ from the commit in which the bounds were last set; none without git."""

    def git(*words: str) -> str:
        return subprocess.run(["git", "-C", str(root), *words], capture_output=True, text=True, check=False).stdout

    path, lines = "", set()
    for path in git("ls-files", "--others", "--exclude-standard").splitlines():
        lines |= {Place(path, n) for n in range(1, 2 + (root / path).read_bytes().count(b"\n"))}
    last = git("log", "-1", "--format=%H", "--", BOUNDS).strip()
    for line in git("diff", "--unified=0", "--relative", last or "HEAD").splitlines():
        if line.startswith("+++ b/"):
            path = line.removeprefix("+++ b/")
        elif span := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            lines |= {Place(path, int(span[1]) + n) for n in range(int(span[2] or 1))}
    return lines


def risen(root: Path = ROOT, most: int = 10) -> list[str]:
    """Describe each count above its bound: the phrase, the places (changed lines if possible) and the remedy."""
    bounds = json.loads((root / BOUNDS).read_text(encoding="utf-8"))
    found, remedies, new = occurrences(root), phrases(root), None
    problems = []
    for phrase, numbers in counts(found).items():
        for group, number in numbers.items():
            if number > (bound := bounds.get(phrase, {}).get(group, 0)):
                new = changed(root) if new is None else new
                places = [place for place in found[phrase] if place.group == group]
                places = [place for place in places if place in new] or places
                where = ", ".join(f"{path}:{line}" for path, line in places[:most])
                more = f" and {len(places) - most} more" if len(places) > most else ""
                problems.append(f'"{phrase}" in {group}: {bound} -> {number}. Write: {remedies[phrase]}. {where}{more}')
    return problems


def table(now: dict[str, dict[str, int]]) -> str:
    """Format counts, one line a phrase."""
    rows = [("phrase", *GROUPS, "all")]
    rows += [(phrase, *map(str, n.values()), str(sum(n.values()))) for phrase, n in now.items()]
    sums = [sum(n[group] for n in now.values()) for group in GROUPS]
    rows.append(("all", *map(str, sums), str(sum(sums))))
    return "\n".join(f"{row[0]:<42}" + "".join(f"{cell:>12}" for cell in row[1:]) for row in rows)


def lower(root: Path = ROOT) -> None:
    """Lower the bounds to the present counts. New phrases get bounds, removed phrases lose theirs."""
    path = root / BOUNDS
    bounds = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    now = counts(occurrences(root))
    lowered = {p: {g: min(n, bounds.get(p, numbers)[g]) for g, n in numbers.items()} for p, numbers in now.items()}
    rows = ",\n".join(f"{json.dumps(phrase)}: {json.dumps(numbers)}" for phrase, numbers in lowered.items())
    path.write_text(f"{{\n{rows}\n}}\n", encoding="utf-8")


def main() -> int:
    options = argparse.ArgumentParser(prog="python -m tests.words", description=__doc__)
    action = options.add_mutually_exclusive_group()
    action.add_argument("--check", action="store_true", help="list counts above their bounds; exit code 1 if any is")
    action.add_argument("--lower", action="store_true", help="lower the bounds to the present counts")
    given = options.parse_args()
    if given.lower:
        lower()
    problems = risen()
    if not given.check:
        print(table(counts(occurrences())))
    if problems:
        print(f"Phrases that {SHEET} replaces have become more:", *problems, sep="\n")
    return int(bool(problems))


if __name__ == "__main__":
    raise SystemExit(main())
