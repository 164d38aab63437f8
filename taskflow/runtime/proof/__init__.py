"""Proofs: that recorded templates do what their program means, whatever order the hardware takes within its rules.

Knows the rules of the machine, each once, and the templates that blocks would record. Does not know how dependences are
analysed (it shares no code with that), and needs no device, kernel or message.
"""

from taskflow.runtime.proof.proving import Programs, Proof, examine, prove
from taskflow.runtime.proof.timeline import Hardware

__all__ = ["Hardware", "Programs", "Proof", "examine", "prove"]
