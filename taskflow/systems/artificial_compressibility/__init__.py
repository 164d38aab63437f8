"""The system of artificial compressibility on body-fitted cells: its tables and rules, its domain, what it measures.

Names are imported from its modules; case files find the system by the name "artificial-compressibility".
"""
