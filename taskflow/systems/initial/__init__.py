"""Initial and inflow conditions: fields of formulas, the state of another run, and a restart.

They know cases, formulas and checkpoints. They do not know equations, nor how a run proceeds.
"""
