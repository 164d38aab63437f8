"""Files on disk: names, damage, and the thread that writes."""
