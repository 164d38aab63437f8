"""Benchmarks of the projection solver: kernels, steps, pressure solvers, and the papers' scaling studies.

It knows the solver, its benchmark cases, and how blocks are timed. It knows no other system.
"""
