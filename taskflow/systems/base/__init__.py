"""Parts that systems of equations share: the model of a case, its domain, physics, pressure and onset."""
