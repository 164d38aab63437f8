"""Initial and inflow conditions: fields of formulas, the state of another run, and a run that is gone on with.

They know cases, formulas and checkpoints. They do not know equations, nor how a run proceeds.
"""
