"""Results in formats of other programs, and files for pictures."""
