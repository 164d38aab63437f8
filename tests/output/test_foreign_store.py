"""Files of others are looked at before they are opened: HDF5 by CGNS, heights and sources, and Zarr stores."""

import json
import os
import shutil
from types import SimpleNamespace

import h5py
import numpy as np
import pytest
import xarray as xr
import zarr

from taskflow.common import hdf5
from taskflow.common.errors import BadInput
from taskflow.geometry.grids import BoxGrid, read_grid, write_grid
from taskflow.geometry.solids.heights import read_heights
from taskflow.output.checkpoint.saved import saved_state
from taskflow.output.store import foreign_store
from taskflow.output.store.groups import checked

C = (np.arange(4) + 0.5) / 4


def nodes(root, label):
    found = []
    root.visititems(lambda name, node: found.append(name) if bytes(node.attrs.get("label", b"")).strip(b"\0 ") == label
                    else None)  # fmt: skip
    return found


def heights(path):
    xr.Dataset({"h": (("y", "x"), np.zeros((4, 4)))}, coords={"y": C, "x": C}).to_netcdf(path, engine="h5netcdf")
    return "h", lambda: read_heights(path, (0, 1, 0, 1), None, False)


def source(path):
    values = {name: (("z", "y", "x"), np.zeros((4, 4, 4))) for name in "uvw"}
    xr.Dataset(values, coords=dict.fromkeys("zyx", C)).to_netcdf(path, engine="h5netcdf")
    return "u", lambda: saved_state(path, None)


def cgns(path):
    write_grid(path.with_suffix(".cgns"), BoxGrid(cells=(2, 2, 2), lengths=(1.0, 1.0, 1.0)).grid())
    path.with_suffix(".cgns").rename(path)
    with h5py.File(path, "r") as root:
        name = next(name for name in nodes(root, b"DataArray_t") if name.endswith("CoordinateX"))
    return f"{name}/ data", lambda: read_grid(path)


def external(parent, name, shape, elsewhere):
    parent.create_dataset(name, shape=shape, dtype="f8", external=[(os.fsencode(elsewhere), 0, h5py.h5f.UNLIMITED)])


def virtual(parent, name, shape, elsewhere):
    layout = h5py.VirtualLayout(shape=shape, dtype="f8")
    layout[...] = h5py.VirtualSource(str(elsewhere), "values", shape=shape)
    parent.create_virtual_dataset(name, layout)


def linked(parent, name, shape, elsewhere):
    parent[name] = h5py.ExternalLink(str(elsewhere), "values")


def filtered(parent, name, shape, elsewhere):
    how = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    how.set_chunk(shape)
    how.set_filter(32004, h5py.h5z.FLAG_OPTIONAL)  # LZ4, a plug-in
    h5py.h5d.create(parent.id, name.encode(), h5py.h5t.NATIVE_DOUBLE, h5py.h5s.create_simple(shape), how)


KINDS = {external: r"external storage", virtual: r"virtual storage", linked: r"a link", filtered: r"filter .*32004"}


@pytest.mark.parametrize("elsewhere", ["pipe", "zero", "secret"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("suffix", "made"), [(".nc", heights), (".nc", source), (".cgns", cgns)],
                         ids=["heights", "source", "cgns"])  # fmt: skip
def test_hdf5_reads_no_other_file(tmp_path, suffix, made, kind, elsewhere):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "secret").write_bytes(b"secret " * 1000)
    path = tmp_path / f"file{suffix}"
    name, read = made(path)
    read()
    with h5py.File(path, "r+") as root:
        shape, attributes = root[name].shape, dict(root[name].attrs)
        scales = [dim[0] for dim in root[name].dims] if made is not cgns else []
        del root[name]
        parent = root[name.rpartition("/")[0] or "/"]
        kind(parent, name.rpartition("/")[2], shape, tmp_path / elsewhere)
        if kind is not linked:
            for number, scale in enumerate(scales):
                root[name].dims[number].attach_scale(scale)
            del attributes
    with pytest.raises(BadInput, match=KINDS[kind]) as refused:
        read()
    assert str(path) in str(refused.value)


def test_groups_that_contain_themselves_end(tmp_path):
    with h5py.File(tmp_path / "round.h5", "w") as root:
        root["a/b/values"] = np.arange(3)
        root["a/b/above"] = root["a"]
        root["a/soft"] = h5py.SoftLink("/a/b")
    with h5py.File(tmp_path / "round.h5") as root:
        assert [dataset.name for dataset in hdf5.sound(root)] == ["/a/b/values"]


def test_the_filters_of_hdf5_itself_are_read(tmp_path):
    with h5py.File(tmp_path / "packed.h5", "w") as root:
        for number, options in enumerate(({"compression": "gzip"}, {"compression": "lzf", "shuffle": True},
                                          {"fletcher32": True}, {"scaleoffset": 2}, {})):  # fmt: skip
            root.create_dataset(str(number), data=np.arange(8.0), **options)
    with h5py.File(tmp_path / "packed.h5") as root:
        assert len(list(hdf5.sound(root))) == 5


# ------------------------------------------------------------------------------------------------------- Zarr
@pytest.fixture(params=[2, 3])
def store(tmp_path, request):
    """A store of a flow, in each format."""
    path = tmp_path / "flow.zarr"
    values = {name: (("z", "y", "x"), np.full((4, 4, 4), 2.0)) for name in "uvw"}
    data = xr.Dataset(values, coords=dict.fromkeys("zyx", C))
    data.to_zarr(path, zarr_format=request.param, consolidated=request.param == 2)
    assert float(saved_state(path, None).fields["u"][0, 0, 0]) == 2.0
    return path


def changed(path, change):
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def with_codec(array, codec):
    if array["zarr_format"] == 2:
        array["compressor"] = {"id": codec}
    else:
        array["codecs"] = [{"name": "bytes"}, {"name": codec}]


def about(store):
    return ".zarray" if (store / "x" / ".zarray").exists() else "zarr.json"


@pytest.mark.parametrize("codec", ["pickle", "json2", "msgpack2", "categorize", "of_somebody", "", None, 3])
def test_a_codec_that_is_not_on_the_list(store, codec):
    changed(store / "x" / about(store), lambda array: with_codec(array, codec))
    with pytest.raises(BadInput, match=rf"flow.zarr: x/{about(store)}: it is packed by {codec!r}, which is not read"):
        saved_state(store, None)


def test_a_filter_within_shards_and_one_of_consolidated_metadata(store):
    if about(store) == "zarr.json":
        inner = {"chunk_shape": [4], "codecs": [{"name": "bytes"}, {"name": "evil"}], "index_codecs": []}
        shards = [{"name": "sharding_indexed", "configuration": inner}]
        changed(store / "x" / "zarr.json", lambda array: array.update(codecs=shards))
    else:
        def evil(content):
            content["metadata"]["y/.zarray"]["filters"] = [{"id": "evil"}]

        changed(store / ".zmetadata", evil)
    with pytest.raises(BadInput, match=r"packed by 'evil'"):
        saved_state(store, None)


def test_consolidated_metadata_of_zarr_3_and_of_a_run(tmp_path):
    array = {"node_type": "array", "zarr_format": 3, "shape": [4], "codecs": [{"name": "evil"}], "data_type": "float64",
             "chunk_grid": {"configuration": {"chunk_shape": [4]}}}  # fmt: skip
    metadata = {"zarr_format": 3, "node_type": "group", "consolidated_metadata": {"metadata": {"x": array}}}
    (tmp_path / "a.zarr").mkdir()
    (tmp_path / "a.zarr" / "zarr.json").write_text(json.dumps(metadata))
    with pytest.raises(BadInput, match=r"zarr.json, x: it is packed by 'evil'"):
        saved_state(tmp_path / "a.zarr", None)
    with pytest.raises(BadInput, match=r"x: it is packed by 'evil'"):
        checked(tmp_path / "a.zarr", "")


@pytest.mark.parametrize("elsewhere", ["pipe", "zero", "secret"])
@pytest.mark.parametrize("what", ["metadata", "chunk"])
def test_a_key_is_a_file_of_the_store(store, tmp_path, elsewhere, what):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "secret").write_bytes(b"secret " * 1000)
    key = store / "x" / about(store)
    if what == "chunk":
        key = next(path for path in (store / "x").rglob("*") if path.is_file() and path.name.isdecimal())
    key.unlink()
    key.symlink_to(tmp_path / elsewhere)
    with pytest.raises(BadInput, match=r"regular file|outside of the store"):
        saved_state(store, None)


def test_codecs_that_zarr_and_numcodecs_write_are_read(tmp_path):
    """By their names as these libraries have them; a store that is linked as a whole is one, too."""
    import numcodecs

    packers = (numcodecs.Blosc(), numcodecs.Zlib(), numcodecs.GZip(), numcodecs.BZ2(), numcodecs.LZMA(),
               numcodecs.Zstd(), numcodecs.LZ4())  # fmt: skip
    filters = [[numcodecs.Delta("f8")], [numcodecs.Shuffle(8)], [numcodecs.FixedScaleOffset(0, 10, "f8")],
               [numcodecs.CRC32()], None]  # fmt: skip
    group = zarr.create_group(str(tmp_path / "a.zarr"), zarr_format=2)
    made = [(packer, None) for packer in packers] + [(None, each) for each in filters]
    for number, (packer, each) in enumerate(made):
        array = group.create_array(f"a{number}", shape=(8,), chunks=(4,), dtype="f8", compressors=packer, filters=each,
                                   attributes={"_ARRAY_DIMENSIONS": ["x"]})  # fmt: skip
        array[:] = np.arange(1.0, 9.0)  # 0 is the fill value, which xarray takes for no value
    (tmp_path / "link.zarr").symlink_to(tmp_path / "a.zarr")
    opened = foreign_store.opened(tmp_path / "link.zarr")
    for number in range(len(made)):
        np.testing.assert_array_equal(opened[f"a{number}"].values, np.arange(1.0, 9.0))


def test_what_is_no_metadata(store):
    for content in ("[", "[]", "{}", '{"zarr_format": 2, "shape": ["a"]}', '{"zarr_format": 2, "shape": [-1]}', "3",
                    '{"zarr_format": 2, "shape": [1], "chunks": null, "dtype": {"a": 1}}'):  # fmt: skip
        (store / "x" / about(store)).write_text(content)
        with pytest.raises(BadInput, match=r"flow\.zarr"):
            saved_state(store, None)


def test_a_store_of_shards_is_read(tmp_path):
    """Its codecs are within those of shards."""
    group = zarr.create_group(str(tmp_path / "a.zarr"), zarr_format=3)
    array = group.create_array("a", shape=(8, 4), chunks=(2, 2), shards=(4, 4), dtype="f8", dimension_names=("y", "x"))
    array[:] = np.arange(1.0, 33.0).reshape(8, 4)
    np.testing.assert_array_equal(foreign_store.opened(tmp_path / "a.zarr")["a"], np.arange(1.0, 33.0).reshape(8, 4))


@pytest.mark.parametrize(("dtype", "width"), [
    ("<f8", 8), ("float32", 4), ("|V0", 1), ([["a", "<i4"], ["b", "<f8"]], 12), ("of somebody", 16),
    ({"name": "fixed_length_utf32", "configuration": {"length_bytes": 40}}, 40), ({"name": "string"}, 16),
])  # fmt: skip
def test_memory_of_values_is_bounded_whatever_their_type(monkeypatch, dtype, width):
    """A chunk that would take more memory than is free is refused before it is opened."""
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=1000 * width))
    array = {"shape": [2000, 2], "dtype": dtype}
    foreign_store.accept("a", {**array, "chunks": [1000, 1]})
    with pytest.raises(BadInput, match="a: a chunk: reading it takes"):
        foreign_store.accept("a", {**array, "chunks": [1001, 1]})


def test_files_beside_a_geotiff_are_files(tmp_path):
    rasterio = pytest.importorskip("rasterio")
    path = tmp_path / "map.tif"
    form = {"height": 4, "width": 4, "count": 1, "dtype": "float32"}
    with rasterio.open(path, "w", driver="GTiff", **form, transform=rasterio.Affine(0.25, 0, 0, 0, -0.25, 1)) as data:
        data.write(np.zeros((1, 4, 4), "f4"))
    read_heights(path, (0, 1, 0, 1), None, False)
    os.mkfifo(tmp_path / "map.tif.aux.xml")
    with pytest.raises(BadInput, match=r"map.tif.aux.xml: it is not a regular file"):
        read_heights(path, (0, 1, 0, 1), None, False)
    shutil.copy(path, tmp_path / "plain.tif")
    read_heights(tmp_path / "plain.tif", (0, 1, 0, 1), None, False)


def test_numbers_of_cgns_that_are_no_whole_ones(tmp_path):
    path = tmp_path / "grid.cgns"
    cgns(path)
    with h5py.File(path, "r+") as root:
        zone = root[nodes(root, b"Zone_t")[0]]
        shape = zone[" data"].shape
        del zone[" data"]
        zone[" data"] = np.full(shape, np.nan)
    with pytest.raises(BadInput, match=r"its values are not integers"):
        read_grid(path)
