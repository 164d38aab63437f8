"""Kernel texts of the physics: a `.cu` file per family of operators, in folders as the modules that declare tasks."""

from pathlib import Path

KERNELS = Path(__file__).parent
