"""Benchmarks of the machine and the runtime: a Jacobi sweep, messages, and runtime overhead.

It knows the runtime and the processes of a machine. It knows no flow equation, and no case.
"""
