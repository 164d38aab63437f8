"""The names in a run directory."""

CASE, REPORT, LOG, LOCK = "case.toml", "report.json", "log.jsonl", "lock"
STORE, INITIAL, CHECKPOINTS = "fields.zarr", "initial.zarr", "checkpoints"
