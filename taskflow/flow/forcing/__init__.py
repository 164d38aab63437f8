"""Forcing of a flow beside its boundaries: rotation, a background that is stratified, a bulk velocity that is kept.

It knows bodies, around which a mean is kept. It does not know whose equations it is added to.
"""
