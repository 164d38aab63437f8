"""HDF5 files of other programs, checked before any value is read.

Their values may be stored in other files, which can be pipes, devices or secrets. Filters are plug-ins. A chunk takes
as much memory as the file claims.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import IO, Any

from taskflow.common.errors import BadInput
from taskflow.common.files import fits, opened

MOST = 10**15  # bytes of a file
SIGNATURE = b"\x89HDF\r\n\x1a\n"
REMEDY = "write all values into the file itself, by h5repack for instance"
# The filters of HDF5 itself and of h5py: deflate, shuffle, Fletcher's checksum, szip, nbit, scale and offset, LZF.
FILTERS = {1, 2, 3, 4, 5, 6, 32000}


def sound(root: Any) -> Iterator[Any]:
    """Yield the datasets of an open file, each once. Raises BadInput for one that needs other files."""
    import h5py

    size, seen, groups = root.id.get_filesize(), set[tuple[int, int]](), [root]
    while groups:
        group = groups.pop()
        for name in group:
            where = f"{group.name.rstrip('/')}/{name}"
            try:
                link = group.get(name, getlink=True)
            except TypeError:  # of a kind that programs define
                link = None
            if isinstance(link, h5py.SoftLink):
                continue  # its target is found elsewhere in the file
            if not isinstance(link, h5py.HardLink):
                raise BadInput(f"{where}: a link, which is not available in this version; write the file without links")
            node = group[name]
            about = h5py.h5o.get_info(node.id)
            if (about.fileno, about.addr) in seen:
                continue
            seen.add((about.fileno, about.addr))
            if isinstance(node, h5py.Group):
                groups.append(node)
            elif isinstance(node, h5py.Dataset):
                _examine(node, where, size)
                yield node


def _examine(dataset: Any, where: str, size: int) -> None:
    """Raise BadInput for values in other files, a filter outside of HDF5, or chunks far larger than the file."""
    from h5py import h5d

    how = dataset.id.get_create_plist()
    if how.get_external_count() or how.get_layout() == h5d.VIRTUAL:
        kind = "external" if how.get_external_count() else "virtual"
        raise BadInput(f"the values of {where} are in other files ({kind} storage), which are not read; {REMEDY}")
    for number in range(how.get_nfilters()):
        code, _flags, _options, name = how.get_filter(number)
        if code not in FILTERS:
            raise BadInput(
                f"{where} is packed by the filter {name.decode('utf-8', 'replace') or code} ({code}), which is not one"
                " of HDF5; pack it by GZIP, by h5repack for instance"
            )
    if how.get_layout() == h5d.CHUNKED:
        fits(prod(how.get_chunk()) * dataset.id.get_type().get_size(), f"a chunk of {where}", size)


def nbytes(dataset: Any) -> int:
    """Return the claimed size of a dataset in bytes."""
    return int(dataset.id.get_space().get_simple_extent_npoints()) * int(dataset.id.get_type().get_size())


def examine(file: IO[bytes]) -> bool:
    """Return True if an open NetCDF file is HDF5. Raises BadInput if it is not safe to read.

    Coordinates are read when the file is opened, so they may not claim far more memory than the size of the file.
    """
    file.seek(0)
    begin = file.read(len(SIGNATURE))
    file.seek(0)
    if begin != SIGNATURE:
        return False
    try:
        import h5py
    except ImportError:
        remedy = 'pip install "taskflow-cfd[netcdf]"'
        raise BadInput(f"NetCDF of version 4 needs h5py and h5netcdf, which are not installed: {remedy}") from None
    with h5py.File(file, "r") as root:
        read = sum(nbytes(dataset) for dataset in sound(root) if len(dataset.id.shape) < 2)
        fits(3 * read, "its coordinates", root.id.get_filesize())
    file.seek(0)
    return True


def engine(path: Path, remedy: str) -> str:
    """Return the xarray engine for a NetCDF file. Raises BadInput if it is not safe to read."""
    with opened(path, MOST, remedy) as file:
        return "h5netcdf" if examine(file) else "scipy"
