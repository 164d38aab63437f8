"""Forcing other than by boundaries: rotation, background stratification, prescribed bulk velocity, body forces.

It knows bodies, around which a mean is kept, but not the equations to which it is added.
"""
