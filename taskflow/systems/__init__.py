"""The way from a case to its model: equations, solvers, bodies and blocks, and what is recorded of them.

It knows cases and all systems of equations. It does not know how a run proceeds.
"""
