"""Questions to the records of a run on charts: values on sides, at points, volumes, derived fields."""
