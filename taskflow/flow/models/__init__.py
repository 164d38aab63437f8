"""Systems of equations, side by side: each folder is one `taskflow.flow.model.Model`. None knows another."""
