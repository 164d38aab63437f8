"""Two immiscible fluids with surface tension: an interface, momentum carried by mass, pressure with variable density."""
