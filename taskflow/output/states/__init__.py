"""States of runs, on any grid: as they were saved, as they are now, and on the grid of another run."""
