"""Benchmarks of the projection solver: the step of a flow.

It knows the solver, the cases that it is measured in, and how blocks are timed. It knows no other system.
"""
