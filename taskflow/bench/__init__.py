"""Benchmarks: measurements of this machine and of taskflow on it, and the tables of the documentation made of them.

It knows everything below it, and how to time it. Nothing imports it: the command finds it by its name.
`machine` holds what is measured without a flow; every system of equations has a package beside it (`projection`,
`two_phase`).
"""
