"""Spectra of fields, as running means over time: along periodic directions, or over shells of wavenumber."""

from taskflow.flow.measures.spectra.lines import LineSpectra
from taskflow.flow.measures.spectra.shells import ShellSpectra
from taskflow.flow.measures.spectra.spectra import CENTRED, Spectra, partitions

__all__ = ["CENTRED", "LineSpectra", "ShellSpectra", "Spectra", "partitions"]
