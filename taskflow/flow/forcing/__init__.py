"""Forcing of a flow beside its boundaries: rotation, a background that is stratified, a bulk velocity that is kept."""
