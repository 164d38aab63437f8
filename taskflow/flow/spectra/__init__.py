"""Spectra of fields, as running means over time: along periodic directions, or over shells of wavenumber."""

from taskflow.flow.spectra.lines import LineSpectra
from taskflow.flow.spectra.shells import ShellSpectra
from taskflow.flow.spectra.spectra import CENTRED, Spectra, partitions

__all__ = ["CENTRED", "LineSpectra", "ShellSpectra", "Spectra", "partitions"]
