"""Models of turbulence: eddy viscosities of large-eddy simulation. They know walls, and no system of equations."""
