"""The system of artificial compressibility on body-fitted cells: its tables and rules, its domain and its measurements.

Names are imported from its modules. Case files find the system by the name "artificial-compressibility".
"""
