"""Formatted numbers for messages and the screen."""

from collections.abc import Iterable

LENGTHS = {
    "metre": 1.0, "kilometre": 1e3, "centimetre": 1e-2, "millimetre": 1e-3, "micrometre": 1e-6, "foot": 0.3048,
    "inch": 0.0254,
}  # fmt: skip
NAMES = {
    "m": "metre", "km": "kilometre", "cm": "centimetre", "mm": "millimetre", "um": "micrometre", "ft": "foot",
    "feet": "foot", "in": "inch", "inches": "inch",
}  # fmt: skip


def unit_of_length(text: str) -> tuple[str, float | None]:
    """Return the usual name of a unit of length and its size in metres, or the text and None if unknown."""
    word = text.strip().lower()
    name = NAMES.get(word, word.replace("meter", "metre"))
    name = name if name in LENGTHS else name.removesuffix("s")
    return (name, LENGTHS[name]) if name in LENGTHS else (text.strip(), None)


def significant(value: float) -> str:
    """Format a number with three significant digits, never in powers of ten."""
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:,.{digits}f}"


def size(nbytes: float) -> str:
    """Format a number of bytes."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if nbytes >= scale:
            return f"{significant(nbytes / scale)} {unit}"
    return f"{nbytes:.0f} bytes"


def rate(cells_per_second: float) -> str:
    """Format a rate in cells per second."""
    for unit, scale in (("Gcell/s", 1e9), ("Mcell/s", 1e6)):
        if cells_per_second >= scale:
            return f"{significant(cells_per_second / scale)} {unit}"
    return f"{significant(cells_per_second / 1e3)} kcell/s"


def duration(seconds: float) -> str:
    """Format a time span: 1.2 ms, 12.3 s, 0:02:03, 3 days 4:05:06."""
    if seconds < 1:
        return f"{significant(seconds * 1e3)} ms" if seconds >= 1e-3 else f"{significant(seconds * 1e6)} us"
    return f"{significant(seconds)} s" if seconds < 60 else clock(seconds)


def clock(seconds: float) -> str:
    """Format a time span in hours, minutes and seconds."""
    days, rest = divmod(round(seconds), 86400)
    text = f"{rest // 3600}:{rest // 60 % 60:02}:{rest % 60:02}"
    return f"{days} day{'s' if days > 1 else ''} {text}" if days else text


def plural(count: int, word: str) -> str:
    """Format a count with its noun."""
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}{'es' if word.endswith(('ss', 'ch')) else 's'}"


def times(numbers: Iterable[object]) -> str:
    """Format sizes along x, y and z."""
    return " x ".join(f"{n}" for n in numbers)
