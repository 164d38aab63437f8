"""Agreement: all blocks run the same program, or all end and report where their programs differ.

Nothing in a run of steps informs a block of the others' decisions: messages match as all blocks decide identically.
A program that differs between blocks, by a swapped field or a number from elsewhere, would lead to wrong results or a
deadlock.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b

import numpy as np

from taskflow.common.errors import RunFailed
from taskflow.runtime.machine.channel import Gather
from taskflow.runtime.tasks import Launch

LONGEST = 400  # characters of a launch in an error


class Agreement:
    """A rolling hash of the launches of a block, compared with the other blocks' hashes at every pass."""

    def __init__(self, gather: Gather) -> None:
        self._gather = gather
        self._rolling = b""
        self._passes = 0
        self._begin = ""  # as text: the scalars that are set before the next pass

    def begin(self, scalars: Mapping[str, float]) -> None:
        """Record the scalars that are set before the next pass."""
        values = (f"{name} = {float(value)!r}" for name, value in sorted(scalars.items()))
        self._begin = f"started with the scalars {{{', '.join(values)}}}"

    def check(self, launches: Sequence[Launch]) -> None:
        """Compare the launches of a pass, and the scalars set before it. Collective.

        Raises RunFailed with the same text on all blocks if they differ.
        """
        texts = [self._begin or "one more without new scalars", *map(describe, launches)]
        digests = [self._roll(text) for text in texts]
        self._passes, self._begin = self._passes + 1, ""
        rows = self._gather(np.frombuffer(self._rolling + len(texts).to_bytes(8, "little"), np.uint8))
        if (rows != rows[0]).any():
            most = int(rows[:, 8:].copy().view(np.int64).max())
            raise RunFailed(self._difference(texts, digests, most))

    def _roll(self, text: str) -> bytes:
        self._rolling = blake2b(self._rolling + text.encode(), digest_size=8).digest()
        return self._rolling

    def _difference(self, texts: list[str], digests: list[bytes], most: int) -> str:
        """Return a message with the first launch that differs, the blocks in the minority, and both texts."""
        padded = digests + [bytes(8)] * (most - len(digests))
        rows = self._gather(np.frombuffer(b"".join(padded), np.uint8)).reshape(-1, most, 8)
        first = int(np.argmax((rows != rows[0]).any(axis=(0, 2))))
        text = texts[first] if first < len(texts) else "nothing more"
        longest = int(self._gather(np.array([len(text.encode())])).max())
        row = np.frombuffer(text.encode().ljust(longest), np.uint8)
        theirs = [bytes(row).decode().strip() for row in self._gather(row)]
        kinds = [bytes(row[first]) for row in rows]
        usual = Counter(kinds).most_common(1)[0][0]
        others = [block for block, kind in enumerate(kinds) if kind != usual]
        where = f"launch {first} of pass {self._passes}" if first else f"pass {self._passes}"
        one, other = _parting(theirs[others[0]], theirs[kinds.index(usual)])
        return (
            f"block {others[0]} does another program than block {kinds.index(usual)}: {where} is {one}, not {other}"
            + (f" (and so in {len(others)} blocks)" if len(others) > 1 else "")
            + "; a program may depend on nothing that differs between blocks"
        )


def _parting(one: str, other: str) -> list[str]:
    """Return both texts around their first difference, cut to LONGEST characters."""
    first = next((n for n, (mine, theirs) in enumerate(zip(one, other, strict=False)) if mine != theirs), 0)
    begin = max(0, first - LONGEST // 2)
    return ["... " * (begin > 0) + text[begin : begin + LONGEST] for text in (one, other)]


def describe(launch: Launch) -> str:
    """Return a launch as text, identical in every process."""
    values = ", ".join(f"{name}={value!r}" for name, value in launch.values)
    text = f"{launch.task.body.__module__}.{launch} over {', '.join(map(str, launch.boxes))}"
    text += f" with {values}" if values else ""
    text += f", {launch.ghosts} layers of ghost cells" if launch.ghosts else ""
    return re.sub(r" at 0x[0-9a-f]+", "", text)
