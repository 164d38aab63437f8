"""Systems of equations. Each folder is one `taskflow.flow.model.Model` and knows no other."""
