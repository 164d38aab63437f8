"""From a case to its model: equations, solvers, bodies, blocks and records.

It knows cases and all systems of equations. It does not know how a run proceeds.
"""
