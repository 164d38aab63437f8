"""Proofs that recorded templates compute what their program specifies, for every order that the hardware permits.

Knows the rules of the machine, each once, and the templates that blocks would record. Does not know how dependences are
analysed (it shares no code with the analysis), and needs no device, kernel or message.
"""

from taskflow.runtime.proof.proving import Programs, Proof, examine, prove
from taskflow.runtime.proof.timeline import Hardware

__all__ = ["Hardware", "Programs", "Proof", "examine", "prove"]
