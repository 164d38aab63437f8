"""Tables of a case on charts: [grid], [boundaries] and [machine] of systems that compute on body-fitted cells."""
