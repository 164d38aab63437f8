"""Analysis of records of a run on charts: values on sides and at points, volumes, derived fields."""
