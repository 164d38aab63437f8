"""Body-fitted grids of several charts: generators, files, metrics, ghost vertices."""
