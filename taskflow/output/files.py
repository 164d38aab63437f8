"""What is in a run directory, by name."""

CASE, REPORT, LOG = "case.toml", "report.json", "log.jsonl"
STORE, INITIAL, CHECKPOINTS = "fields.zarr", "initial.zarr", "checkpoints"
