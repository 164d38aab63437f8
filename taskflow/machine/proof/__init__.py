"""Proofs: that recorded templates do what their program means, whatever order the hardware takes within its rules."""

from taskflow.machine.proof.course import Programs
from taskflow.machine.proof.execution import Hardware
from taskflow.machine.proof.proving import Pass, Proof, examine, prove

__all__ = ["Hardware", "Pass", "Programs", "Proof", "examine", "prove"]
