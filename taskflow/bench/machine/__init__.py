"""Benchmarks of the machine: Jacobi sweeps, their scaling, and messages.

It knows the runtime and the processes of a machine. It knows no equation of a flow, and no case.
"""
