"""What is in a run directory, by name."""

CASE, REPORT, LOG, LOCK = "case.toml", "report.json", "log.jsonl", "lock"
STORE, INITIAL, CHECKPOINTS = "fields.zarr", "initial.zarr", "checkpoints"
