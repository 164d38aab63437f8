"""Names of the fields that follow from the velocity: pictures, records, pages and `ds.flow` all know these."""

from collections.abc import Mapping

SPEED, VORTICITY, Q, LAMBDA2 = "speed", "vorticity", "Q", "lambda2"
COMPONENTS = tuple(f"{VORTICITY}_{axis}" for axis in "xyz")

WORDS: Mapping[str, str] = {
    SPEED: "velocity magnitude",
    VORTICITY: "vorticity magnitude",
    **{name: f"vorticity along {axis}" for name, axis in zip(COMPONENTS, "xyz", strict=True)},
    Q: "second invariant of the velocity gradient",
    LAMBDA2: "second eigenvalue of S^2 + W^2",  # symmetric and antisymmetric parts of the velocity gradient
}
MAGNITUDES = (SPEED, VORTICITY)  # colours of which begin at 0
SHARP = (VORTICITY, *COMPONENTS, Q, LAMBDA2)  # largest by far in a few cells at edges


def label_of(name: str) -> str:
    """Return the words at the colour bar of a derived field."""
    return f"{name}, {WORDS[name]}" if name in (Q, LAMBDA2) else WORDS[name]
