# SPDX-License-Identifier: BSD-3-Clause
"""Stores that zarr-python writes, of all kinds that Shoal reads: versions 2 and 3, types, codecs, shapes."""

from __future__ import annotations

import itertools
import pickle
import warnings
from pathlib import Path

import numpy as np

numbers = ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]


def values_of(dtype, shape, seed=0) -> np.ndarray:
    """All bits of the type appear; NaN and infinity, too."""
    random = np.random.default_rng(seed)
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return random.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return random.integers(limits.min, limits.max, shape, dtype=dtype.newbyteorder("=")).astype(dtype)
    found = random.normal(size=shape).astype(dtype)
    for value, place in zip((np.nan, np.inf, -np.inf, -0.0, np.finfo(dtype).tiny / 8), (0, 1, 3, 5, 7)):
        if place < found.size:
            found.flat[place] = value
    return found


class Stores:
    """Groups under a folder, and what the arrays in them hold."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.expected: dict[str, dict[str, np.ndarray]] = {}

    def group(self, name: str, version: int, **attributes):
        import zarr

        self.expected[name] = {}
        return zarr.create_group(str(self.folder / name), zarr_format=version, attributes=attributes)

    def add(self, store: str, group, name: str, values: np.ndarray, write=..., **how):
        """An array of these values, of which `write` is written."""
        how = {"chunks": values.shape or (), "fill_value": 0, **how}
        if group.metadata.zarr_format == 3:
            how.setdefault("dimension_names", [f"{name}_{axis}" for axis in range(values.ndim)])
        array = group.create_array(name, shape=values.shape, dtype=how.pop("dtype", values.dtype), **how)
        if write is ...:
            array[...] = values
            expected = values
        else:
            expected = np.full(values.shape, how["fill_value"], values.dtype)
            if write is not None:
                array[write] = values[write]
                expected[write] = values[write]
        path = f"{group.path}/{name}" if group.path else name
        self.expected[store][path] = expected
        return array

    def save(self) -> None:
        with open(self.folder / "expected.pickle", "wb") as file:
            pickle.dump(self.expected, file)


def codecs_of_version_3() -> dict[str, dict]:
    import numcodecs.zarr3 as others
    from zarr import codecs

    found: dict[str, dict] = {
        "none": {"compressors": None},
        "gzip": {"compressors": codecs.GzipCodec(level=3)},
        "zstd": {"compressors": codecs.ZstdCodec(level=3)},
        "zstd_checksum": {"compressors": codecs.ZstdCodec(level=1, checksum=True)},
        "crc32c": {"compressors": [codecs.Crc32cCodec()]},
        "zstd_crc32c": {"compressors": [codecs.ZstdCodec(level=1), codecs.Crc32cCodec()]},
        "big": {"serializer": codecs.BytesCodec(endian="big"), "compressors": None},
        "big_zstd": {"serializer": codecs.BytesCodec(endian="big"), "compressors": codecs.ZstdCodec()},
        "transposed": {"filters": [codecs.TransposeCodec(order=(2, 0, 1))], "compressors": None},
        "transposed_gzip": {
            "filters": [codecs.TransposeCodec(order=(1, 2, 0))],
            "compressors": codecs.GzipCodec(level=1),
        },
        "zlib": {"compressors": [others.Zlib(level=4)]},
        "lz4": {"compressors": [others.LZ4()]},
        "shuffle_zlib": {"compressors": [others.Shuffle(elementsize=4), others.Zlib(level=1)]},
    }
    for cname, shuffle in itertools.product(
        ("lz4", "lz4hc", "zstd", "zlib", "blosclz"), ("noshuffle", "shuffle", "bitshuffle")
    ):
        codec = codecs.BloscCodec(cname=cname, clevel=3, shuffle=shuffle, typesize=4)
        found[f"blosc_{cname}_{shuffle}"] = {"compressors": codec}
    return found


def codecs_of_version_2() -> dict[str, dict]:
    import numcodecs

    found: dict[str, dict] = {
        "none": {"compressors": None},
        "zlib": {"compressors": numcodecs.Zlib(level=5)},
        "gzip": {"compressors": numcodecs.GZip(level=5)},
        "zstd": {"compressors": numcodecs.Zstd(level=2)},
        "lz4": {"compressors": numcodecs.LZ4()},
        "shuffle_zlib": {"filters": [numcodecs.Shuffle(4)], "compressors": numcodecs.Zlib(level=1)},
        "order_f": {"order": "F", "compressors": None},
        "order_f_zstd": {"order": "F", "compressors": numcodecs.Zstd()},
    }
    for cname, shuffle in itertools.product(("lz4", "zstd", "zlib"), (0, 1, 2)):
        found[f"blosc_{cname}_{shuffle}"] = {
            "compressors": numcodecs.Blosc(cname=cname, clevel=5, shuffle=shuffle)
        }
    return found


def write_types(stores: Stores, version: int) -> None:
    store = f"types{version}.zarr"
    group = stores.group(store, version, title="types", number=3, parts=[1.5, 2.5])
    for dtype in [*numbers, "?"]:
        stores.add(store, group, f"t_{np.dtype(dtype).name}", values_of(dtype, (7, 5)), chunks=(3, 4))
        if version == 2:
            name = f"big_{np.dtype(dtype).name}"
            big = np.dtype(dtype).newbyteorder(">")
            stores.add(store, group, name, values_of(big, (7, 5)), chunks=(3, 4), dtype=big)
    texts = np.array(["", "a", "zwei", "ünïcödé 🌊", "x" * 300], dtype=object)
    dtype = str if version == 3 else "str"
    array = group.create_array("texts", shape=(5,), chunks=(2,), dtype=dtype, **_names(version, ["n"]))
    array[:] = texts
    stores.expected[store]["texts"] = texts
    fixed = np.array([b"", b"ab", b"abcdef"], "S6")
    array = group.create_array("fixed", shape=(3,), chunks=(2,), dtype="S6", **_names(version, ["m"]))
    array[:] = fixed
    stores.expected[store]["fixed"] = np.array(["", "ab", "abcdef"], object)
    wide = np.array(["", "äb", "abcdef"], "U6")
    array = group.create_array("wide", shape=(3,), chunks=(2,), dtype="U6", **_names(version, ["m"]))
    array[:] = wide
    stores.expected[store]["wide"] = wide.astype(object)


def _names(version: int, names: list[str]) -> dict:
    return {"dimension_names": names} if version == 3 else {}


def write_codecs(stores: Stores, version: int) -> None:
    store = f"codecs{version}.zarr"
    group = stores.group(store, version)
    known = codecs_of_version_3() if version == 3 else codecs_of_version_2()
    for name, how in known.items():
        values = values_of("f4", (5, 33, 21), len(name))
        how = dict(how)
        stores.add(store, group, name, values, chunks=(2, 16, 10), **how)
        if version == 3 and not name.startswith("big"):
            stores.add(
                store, group, f"{name}_in_shards", values, chunks=(2, 11, 7), shards=(4, 22, 21), **how
            )


def write_shapes(stores: Stores, version: int) -> None:
    """Ranks 0 to 8; chunks that are larger than the array, or do not divide it; cells that nobody wrote."""
    store = f"shapes{version}.zarr"
    group = stores.group(store, version)
    shape = (3, 2, 4, 3, 2, 5, 2, 3)
    for rank in range(9):
        values = values_of("i2", shape[:rank], rank)
        chunks = tuple(max(n - 1, 1) for n in shape[:rank])
        stores.add(store, group, f"rank{rank}", values, chunks=chunks)
        if version == 3 and rank > 0:
            more = {"chunks": (1,) * (rank - 1) + (2,), "shards": tuple(2 * n for n in chunks)}
            stores.add(store, group, f"rank{rank}_in_shards", values, **more)
    values = values_of("f8", (10, 7))
    for name, chunks in (("larger", (16, 20)), ("odd", (3, 5)), ("cells", (1, 1)), ("rows", (10, 1))):
        stores.add(store, group, name, values, chunks=chunks)
    some = (slice(4, 8), slice(2, 3))
    stores.add(store, group, "some", values, write=some, chunks=(2, 2), fill_value=-7.5)
    stores.add(store, group, "nothing", values, write=None, chunks=(2, 2), fill_value=np.nan)
    stores.add(store, group, "without_fill", values, write=some, chunks=(3, 3))
    stores.add(store, group, "infinite", values, write=some, chunks=(3, 3), fill_value=-np.inf)
    if version == 2:
        for separator in ".", "/":
            name = "dots" if separator == "." else "slashes"
            encoding = {"name": "v2", "separator": separator}
            stores.add(store, group, name, values, chunks=(3, 3), chunk_key_encoding=encoding)
        return
    from zarr.codecs import BytesCodec, Crc32cCodec, ShardingCodec, ZstdCodec

    for place in "start", "end":
        for index, codecs in (("checked", [BytesCodec(), Crc32cCodec()]), ("plain", [BytesCodec()])):
            for inner, more in (("", []), ("_zstd", [ZstdCodec()])):
                serializer = ShardingCodec(
                    chunk_shape=(2, 3),
                    codecs=[BytesCodec(), *more],
                    index_codecs=codecs,
                    index_location=place,
                )
                stores.add(
                    store,
                    group,
                    f"{index}_{place}{inner}",
                    values,
                    write=some,
                    chunks=(6, 6),
                    serializer=serializer,
                    compressors=None,
                    fill_value=4.5,
                )
    for separator in ".", "/":
        for kind in "v2", "default":
            encoding = {"name": kind, "separator": separator}
            name = f"keys_{kind}_{'dots' if separator == '.' else 'slashes'}"
            stores.add(store, group, name, values, chunks=(3, 3), chunk_key_encoding=encoding)


def write_groups(stores: Stores, version: int) -> None:
    store = f"groups{version}.zarr"
    root = stores.group(store, version, title="groups")
    stores.add(store, root, "top", values_of("f4", (4,)))
    ocean = root.create_group("ocean", attributes={"part": "water"})
    stores.add(store, ocean, "temp", values_of("f4", (4, 6)), chunks=(2, 4))
    stores.add(store, ocean.create_group("ice"), "thick", values_of("f8", (3, 3)), chunks=(2, 2))
    root.create_group("empty")


def write_stores(folder: Path) -> dict[str, dict[str, np.ndarray]]:
    """All of them, and each consolidated, too; also expected.pickle: store -> variable -> values."""
    import zarr

    stores = Stores(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # codecs and types that version 3 does not have in its text
        for version in 2, 3:
            for write in write_types, write_codecs, write_shapes, write_groups:
                write(stores, version)
        for name in [*stores.expected]:
            consolidated = f"consolidated_{name}"
            _copy(folder / name, folder / consolidated)
            zarr.consolidate_metadata(str(folder / consolidated))
            stores.expected[consolidated] = stores.expected[name]
    stores.save()
    return stores.expected


def _copy(source: Path, to: Path) -> None:
    import shutil

    shutil.copytree(source, to)
