"""Files on disk: their names, damage, and the thread that writes."""
