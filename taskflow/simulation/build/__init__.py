"""The way from a case to its model: equations, solvers, bodies and blocks, and what is recorded of them."""
