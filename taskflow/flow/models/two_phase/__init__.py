"""Two immiscible fluids with surface tension:
an interface, momentum carried by mass, a pressure with variable density."""
