"""Benchmarks of the projection solver: its kernels, its steps, its pressure solvers, and the papers' scaling studies.

It knows the solver, the cases that it is measured in, and how blocks are timed. It knows no other system.
"""
