"""Benchmarks of the machine and of the runtime: a Jacobi sweep, messages, and what the runtime costs.

It knows the runtime and the processes of a machine. It knows no equation of a flow, and no case.
"""
