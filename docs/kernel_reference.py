"""Write docs/reference/kernels.md: the words of kernel texts, from the `///` comments of taskflow's headers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
HEADERS = ROOT / "taskflow/runtime/machine/kernel/include"
PAGE = ROOT / "docs/reference/kernels.md"
ORDER = ("cell", "functions", "roots", "exact", "several", "star", "faces", "held", "twice", "product", "strips",
         "stored", "written_flags", "sweep", "parts")  # fmt: skip
HEAD = """# Words of kernel texts

Every type, function and macro that a [kernel text](../howto/kernel.md) may use. `cell.h` is included automatically. The
title of a section names any other header that it needs. The rest of the language is C++17 without the standard library.
Exponentials, logarithms and trigonometric functions are missing, because their last bits differ between compilers:
compute them on the host, as constants or fields.

A field cannot be two parameters of a launch if the kernel writes one of them: parameters are `__restrict__`, so the
compiler keeps values in registers. `u[c]` of a velocity is the value on the *low* face of cell `c` along x, `v[c]` and
`w[c]` on its low faces along y and z. `u[c + X]` is on the high face.
"""


def words() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield each section with its words and their meanings."""
    for name in ORDER:
        title, rows = "", list[tuple[str, str]]()
        for line in (HEADERS / f"{name}.h").read_text(encoding="utf-8").splitlines():
            if not line.startswith("/// "):
                continue
            if line.startswith("/// # "):
                if rows:
                    yield title, rows
                title, rows = line.removeprefix("/// # "), []
            else:
                word, meaning = line.removeprefix("/// ").split(": ", 1)
                rows.append((word, meaning))
        yield title, rows


def page() -> str:
    """Return the text of the page."""
    parts = [HEAD]
    for title, rows in words():
        lines = [f"| `{word}` | {meaning} |".replace("||", r"\|\|") for word, meaning in rows]
        parts.append("\n".join([f"## {title}\n", "| | |", "|---|---|", *lines]) + "\n")
    return "\n".join(parts)


def names() -> set[str]:
    """Return all identifiers that the page explains."""
    found = set()
    for _, rows in words():
        for word, _ in rows:
            found |= set(re.findall(r"(?:^|, )([A-Za-z_]\w*)", re.sub(r"\([^()]*\)|<[^<>]*>", "", word)))
    return found


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
