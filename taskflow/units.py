"""Numbers for people, in messages and on the screen."""


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
