"""Proofs: that recorded templates do what their program means, whatever order the hardware takes within its rules."""

from taskflow.machine.proof.proving import Pass, Proof, examine, prove
from taskflow.machine.proof.recording import Hardware

__all__ = ["Hardware", "Pass", "Proof", "examine", "prove"]
