"""`ds.flow`, the methods of a dataset, and their registration with xarray."""
