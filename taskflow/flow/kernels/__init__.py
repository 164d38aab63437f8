"""Kernel texts of the physics: a `.cu` file per family of operators. Their tasks are declared in the module of the same
name.
"""

from pathlib import Path

KERNELS = Path(__file__).parent
