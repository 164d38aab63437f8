"""`ds.flow`, the questions to a dataset as methods, and how xarray comes to know it."""
