"""`ds.flow`, the methods of a dataset. It knows analysis and pictures, and registers with xarray."""
