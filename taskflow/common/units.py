"""Numbers for people, in messages and on the screen."""


LENGTHS = {
    "metre": 1.0, "kilometre": 1e3, "centimetre": 1e-2, "millimetre": 1e-3, "micrometre": 1e-6, "foot": 0.3048,
    "inch": 0.0254,
}  # fmt: skip
NAMES = {
    "m": "metre", "km": "kilometre", "cm": "centimetre", "mm": "millimetre", "um": "micrometre", "ft": "foot",
    "feet": "foot", "in": "inch", "inches": "inch",
}  # fmt: skip


def unit_of_length(text: str) -> tuple[str, float | None]:
    """Return a unit of length by its usual name, and how many metres it is; as it is and None if it is not known."""
    word = text.strip().lower()
    name = NAMES.get(word, word.replace("meter", "metre"))
    name = name if name in LENGTHS else name.removesuffix("s")
    return (name, LENGTHS[name]) if name in LENGTHS else (text.strip(), None)


def significant(value: float) -> str:
    """Write a number with three significant digits, never in powers of ten."""
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:,.{digits}f}"


def size(nbytes: float) -> str:
    """Write a number of bytes."""
    for unit, scale in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if nbytes >= scale:
            return f"{significant(nbytes / scale)} {unit}"
    return f"{nbytes:.0f} bytes"
