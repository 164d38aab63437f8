"""The system of two phases: the tables of its cases, its model and its measurements. It knows both the language of
cases and the model. No other room knows it.
"""

from taskflow.systems.two_phase.tables import TwoPhaseTable as TwoPhase

__all__ = ["TwoPhase"]
