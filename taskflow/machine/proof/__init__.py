"""Proofs: that recorded templates do what their program means, whatever order the hardware takes within its rules."""

from taskflow.machine.proof.course import Programs
from taskflow.machine.proof.proving import Pass, Proof, examine, prove
from taskflow.machine.proof.timeline import Hardware

__all__ = ["Hardware", "Pass", "Programs", "Proof", "examine", "prove"]
