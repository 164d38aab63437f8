"""Transforms: real Fourier transforms of planes, by the library that a device has for it."""

from taskflow.machine.transform.planes import forward, inverse, width

__all__ = ["forward", "inverse", "width"]
