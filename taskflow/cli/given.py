"""What the options of `taskflow bench` say: sizes, counts and names, as a user types them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from taskflow.cli.ending import refuse

Name = TypeVar("Name", bound=str)


def triple(option: str, given: str) -> tuple[int, int, int]:
    """Three numbers along x, y and z from "512x512x256". Raises BadInput where it is something else."""
    numbers = _numbers(given.lower().split("x"))
    if len(numbers) != 3:
        refuse(f"{option} {given}: give three numbers along x, y and z, such as 64x64x32")
    return numbers[0], numbers[1], numbers[2]


def blocks(given: str) -> tuple[int, int, int]:
    """Blocks along x, y and z from "2x2x2", or slabs along z from "4". Raises BadInput where it is neither."""
    if "x" in given.lower():
        return triple("--blocks", given)
    slabs = _numbers([given])
    if not slabs:
        refuse(
            f"--blocks {given}: give a number of slabs along z, such as 4, or blocks along x, y and z, such as 2x2x1"
        )
    return 1, 1, slabs[0]


def cells(given: str) -> tuple[int, int, int]:
    """Cells along x, y and z from "512x512x256", or from "128" for all three. Raises BadInput where it is neither."""
    if "x" in given.lower():
        return triple("--cells", given)
    along = _numbers([given])
    if not along:
        refuse(f"--cells {given}: give a number of cells along x, y and z, such as 128, or three such as 64x64x32")
    return along[0], along[0], along[0]


def counts(given: str, option: str = "--counts", of: str = "blocks") -> tuple[int, ...]:
    """Ascending numbers from "1,2,4". Raises BadInput where it is something else."""
    numbers = _numbers(given.split(","))
    if not numbers:
        refuse(f"{option} {given}: give numbers of {of}, such as 1,2,4")
    return tuple(sorted(set(numbers)))


def names(option: str, given: str, known: Sequence[Name]) -> tuple[Name, ...]:
    """Names from "none,full", or all of the known ones from "all". Raises BadInput where one is not known."""
    if given == "all":
        return tuple(known)
    words = [word.strip() for word in given.split(",")]
    if not set(words) <= set(known):
        refuse(f"{option} {given}: give one or more of {', '.join(known)}, separated by commas, or all")
    return tuple(name for name in known if name in words)


def _numbers(words: Sequence[str]) -> list[int]:
    """Whole numbers above 0; none where one is something else."""
    return [int(word) for word in words] if all(word.isdecimal() and int(word) > 0 for word in words) else []
