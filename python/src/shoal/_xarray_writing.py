# SPDX-License-Identifier: BSD-3-Clause
"""shoal.to_netcdf: an xarray Dataset whose ranks hold blocks goes to one file.

What is written is what xarray's own writer for netCDF4 would write: encoding is done by xarray. What needs
all values to be encoded (times, strings, objects), and is cut, is gathered for that.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import netcdf3, netCDF4_
from xarray.backends.common import WritableCFDataStore, _encode_variable_name

from ._blocks import Blocks, on_all
from ._copying import check_empty_dims
from ._names import path_in
from ._refusals import text_bytes
from ._stores import format_for, has_chunks, has_groups
from .dataset import Dataset
from .errors import InvalidArgumentError, NotSupportedError

# As xarray calls formats, and as Shoal does.
_formats = {
    "NETCDF4": "netcdf4",
    "NETCDF4_CLASSIC": "netcdf4-classic",
    "NETCDF3_CLASSIC": "cdf1",
    "NETCDF3_64BIT": "cdf2",
    "NETCDF3_64BIT_OFFSET": "cdf2",
    "NETCDF3_64BIT_DATA": "cdf5",
    "ZARR": "zarr",
}
# Arguments of xarray's own to_netcdf that nothing here could follow.
refused_arguments = {
    "engine": "there is one engine here, Shoal",
    "compute": "writing is done when the call returns; for delayed writing use Dataset.to_netcdf of xarray",
    "invalid_netcdf": "files are valid NetCDF",
    "auto_complex": "complex numbers have no type in a file; write their parts as two variables",
}
_filter_keys = {"zlib": "deflate", "zstd": "zstd"}
_quantize_modes = {"BitRound": "bitround", "GranularBitRound": "granular_bitround"}


class _Encoder(WritableCFDataStore):
    """Encodes as the store of xarray's netcdf4 engine does; cdf5 keeps the integers that it has."""

    __slots__ = ("format",)

    def __init__(self, format: str):
        self.format = format

    def encode_variable(self, v: Any, name: Any = None) -> Any:
        v = netCDF4_._force_native_endianness(v)
        more = {"name": name} if "name" in inspect.signature(netCDF4_._encode_nc4_variable).parameters else {}
        if self.format in ("netcdf4", "zarr", "cdf5", "raw", "ascii"):
            if has_groups(self.format):  # and strings
                return netCDF4_._encode_nc4_variable(v, **more)
            for coder in (netcdf3.coding.strings.EncodedStringCoder(allows_unicode=False),
                          netcdf3.coding.strings.CharacterArrayCoder()):  # fmt: skip
                v = coder.encode(v, name=name)
            return v
        v = v.copy(deep=False)
        v.attrs = {key: _as_it_was(value) for key, value in v.attrs.items()}
        return netcdf3.encode_nc3_variable(v, **more)

    def attribute(self, value: Any) -> Any:
        """As netCDF4-python stores it."""
        if isinstance(value, (str, bytes)):
            return value
        array = np.asarray(value)
        if array.dtype.kind in "USO":
            return [str(item) for item in array.ravel()] if has_groups(self.format) else _joined(value)
        if self.format in ("netcdf4", "zarr", "cdf5"):
            return array if array.ndim else array[()]
        return netcdf3.encode_nc3_attr_value(value)


def _as_it_was(value: Any) -> Any:
    """Text that was read of bytes that are no UTF-8, as these bytes; all else as it is."""
    if not isinstance(value, str) or value.isascii():
        return value
    return text_bytes(value, "an attribute")


def _joined(value: Any) -> Any:
    found = netcdf3.encode_nc3_attr_value(value)
    return found if isinstance(found, bytes) else b"".join(bytes(item) for item in np.ravel(found))


def format_of(format: object, path: str) -> str:
    """What was asked for, or what the end of the file's name says."""
    name = format_for(path, None, "netcdf4") if format is None else str(format)
    return _formats.get(name.upper(), name)


def unlimited_of(ds: Any, given: object, append_dim: str | None) -> list[str]:
    """As xarray's to_netcdf has it."""
    if given is None:
        names = [dim for dim in ds.encoding.get("unlimited_dims", ()) if dim in ds.dims]
    else:
        names = [given] if isinstance(given, str) else list(given)  # type: ignore[call-overload]
        missing = [dim for dim in names if dim not in ds.dims]
        if missing:
            raise InvalidArgumentError(
                f"unlimited_dims names '{missing[0]}', which is no dimension of the Dataset."
            )
    if append_dim is not None and append_dim not in names:
        names.append(append_dim)
    return sorted(names, key=lambda dim: list(ds.dims).index(dim))


def validate(ds: Any) -> None:
    """xarray's own checks of names and attributes."""
    if not isinstance(ds, xr.Dataset):
        hint = ": ds.to_dataset(name=...)" if isinstance(ds, xr.DataArray) else ""
        raise InvalidArgumentError(
            f"ds is a {type(ds).__name__}; give an xarray.Dataset{hint}, or a DataTree."
        )
    try:
        from xarray.backends import writers as checks
    except ImportError:  # older xarray
        from xarray.backends import api as checks  # type: ignore[no-redef]
    checks._validate_dataset_names(ds)
    for what, names in (("variable", ds.variables), ("dimension", ds.dims)):
        for name in names:
            if isinstance(name, str) and "/" in name:
                raise InvalidArgumentError(
                    f"The {what} '{name}' has a slash in its name, which netCDF takes for a group; write "
                    "groups with group=, or as a DataTree."
                )
    how = inspect.signature(checks._validate_attrs).parameters
    checks._validate_attrs(ds, **({"engine": "netcdf4"} if "engine" in how else {}))


def described(ds: Any, unlimited: list[str], blocks: Blocks) -> list[tuple]:
    """What must be the same on all ranks."""
    out: list[tuple] = [("unlimited", unlimited)]
    for name, variable in ds.variables.items():
        kind = "text" if variable.dtype.kind in "SUOT" else str(variable.dtype)
        shape = [blocks.length(dim, n) for dim, n in variable.sizes.items()]
        out.append((name, variable.dims, shape, kind))
    return out


def check_alike(comm: Any, mine: list[tuple]) -> None:
    of_root = comm.bcast(mine)

    def compare() -> None:
        for own, root in zip(mine, of_root):
            if own != root:
                raise InvalidArgumentError(
                    f"This rank has {own}, rank 0 {root}: all must have the same variables and groups."
                )
        if len(mine) != len(of_root):
            raise InvalidArgumentError(f"This rank has {len(mine)} variables, rank 0 {len(of_root)}.")

    on_all(comm, compare)


class _Filters:
    """What an encoding asks of a variable's storage, in words of Shoal."""

    def __init__(
        self, name: str, variable: Any, shape: list[int], checked: bool, unlimited: list[str], format: str
    ):
        # xarray looks at the shape, which is to be that of the file.
        zero = np.broadcast_to(np.zeros((), "i1"), shape)
        asked = dict(variable.encoding)
        if format == "zarr" and "chunks" in asked:  # as xarray's to_zarr calls them
            asked.setdefault("chunksizes", asked.pop("chunks"))
        whole = xr.Variable(variable.dims, zero, encoding=asked)
        # What is not on its list is refused if it was asked for, and passed over if it came with a file.
        encoding = netCDF4_._extract_nc4_variable_encoding(
            whole, raise_on_invalid=checked, unlimited_dims=unlimited
        )
        encoding = {key: value for key, value in encoding.items() if value is not None}
        compression = encoding.pop("compression", None)
        for key in ("zlib", "zstd", "szip", "bzip2", "blosc"):  # before xarray joined these
            if encoding.pop(key, False):
                compression = compression or key
        self.name = name
        self.chunks = encoding.get("chunksizes")
        self.compression = self._compression(compression, encoding, checked)
        self.quantize = self._quantize(encoding)
        if encoding.get("contiguous") and (self.chunks is not None or self.compression not in (None, "none")):
            raise self._error("contiguous=True and chunks, or compression, contradict each other")
        if not has_chunks(format):
            if checked and (self.chunks is not None or self.compression is not None):
                raise self._error(f"format {format} has neither chunks nor compression")
            self.chunks = self.compression = None  # of the file that the variable came from

    def _error(self, what: str) -> Exception:
        return NotSupportedError(f"variable '{self.name}': encoding: {what}.")

    def _compression(self, name: object, encoding: Mapping[str, Any], checked: bool) -> str | None:
        for key in ("szip_coding", "szip_pixels_per_block", "blosc_shuffle"):
            if key in encoding and name not in _filter_keys and name is not None:
                raise self._error(f"{key} is of a filter that Shoal does not write")
        level = int(encoding.get("complevel", 4))
        checksum = bool(encoding.get("fletcher32"))
        words = []
        if name is not None and level > 0:
            if name not in _filter_keys:
                raise self._error(
                    f"compression {name!r} is not written by Shoal; it has {', '.join(_filter_keys)}"
                )
            words = ["shuffle"] if encoding.get("shuffle", True) else []
            words.append(f"{_filter_keys[str(name)]}:{level}")
        words += ["fletcher32"] if checksum else []
        return "+".join(words) if words else None

    def _quantize(self, encoding: Mapping[str, Any]) -> str | None:
        if "least_significant_digit" in encoding:
            raise self._error(
                "least_significant_digit is not done; give significant_digits and quantize_mode"
            )
        digits = encoding.get("significant_digits")
        if digits is None:
            return None
        mode = encoding.get("quantize_mode", "BitGroom")
        if mode not in _quantize_modes:
            raise self._error(f"quantize_mode {mode!r} is not done; allowed are {', '.join(_quantize_modes)}")
        return f"{_quantize_modes[mode]}:{digits}"


def _of_whole_text(encoding: Mapping[str, Any], dtype: np.dtype) -> dict[str, Any]:
    """xarray notes the width of the text that a rank read, which is not that of all."""
    out = dict(encoding)
    noted = out.get("dtype")
    if isinstance(noted, np.dtype) and noted.kind == dtype.kind and noted.kind in "US" and noted != "S1":
        out["dtype"] = dtype
    return out


class Plan:
    """The variables as they are to be in the file, on this rank."""

    def __init__(
        self,
        ds: Any,
        blocks: Blocks,
        format: str,
        encoding: Mapping[str, Any],
        unlimited: list[str],
        group: str = "",
    ):
        self.blocks, self.unlimited, self.format, self.group = blocks, unlimited, format, group
        comm = blocks.comm
        variables, self.attributes = xr.conventions.encode_dataset_coordinates(ds)
        self.checked = set(encoding)
        for name, given in encoding.items():
            variables[name].encoding = dict(given)
        self.gathered: set[str] = set()
        for name, variable in variables.items():
            if variable.dtype.kind in "mMSUOT" and blocks.cuts(variable.dims):
                values = on_all(comm, lambda variable=variable: np.asarray(variable.values))
                whole = blocks.gather(variable.dims, name, values)
                encoding = _of_whole_text(variable.encoding, whole.dtype)
                variables[name] = xr.Variable(variable.dims, whole, variable.attrs, encoding)
                self.gathered.add(name)
        self.encoder = _Encoder(format)

        def encode() -> dict[str, Any]:
            encoded, _ = self.encoder.encode(variables, {})
            return {_encode_variable_name(name): variable for name, variable in encoded.items()}

        self.variables: dict[str, Any] = on_all(comm, encode)

        # The same on all ranks: those of rank 0; and whether some rank has to compute values.
        parts = {name: _parts(variable, self.has_record(name)) for name, variable in self.variables.items()}
        self.parts: dict[str, list[tuple[int, int]]] = comm.bcast(parts)
        lazy = [not _in_memory(variable) for variable in self.variables.values()]
        of_all = comm.allgather(lazy)
        self.lazy = {name: any(of_rank[i] for of_rank in of_all) for i, name in enumerate(self.variables)}

    def values(self, name: str, first: int = 0, end: int | None = None) -> np.ndarray:
        """Of this rank, from first to end of the first dimension. Collective where they must be computed."""
        variable = self.variables[name]
        part = variable[first:end] if variable.dims else variable
        return on_all(self.blocks.comm, lambda: _values(part)) if self.lazy[name] else _values(part)

    def path(self, name: str) -> str:
        """In the file."""
        return path_in(self.group, name)

    def is_cut(self, name: str) -> bool:
        return name not in self.gathered and self.blocks.cuts(
            self.variables[name].dims[self.has_record(name) :]
        )

    def shape(self, name: str) -> list[int]:
        """In the file."""
        sizes = self.variables[name].sizes
        return [self.blocks.length(dim, n) if self.is_cut(name) else n for dim, n in sizes.items()]

    def has_record(self, name: str) -> bool:
        dims = self.variables[name].dims
        return bool(dims) and dims[0] in self.unlimited

    def make_decompositions(self) -> None:
        """Collective; decomposition() is Local afterwards."""
        for name in self.variables:
            self.decomposition(name)

    def decomposition(self, name: str) -> Any:
        """None for a replicated variable."""
        if not self.is_cut(name):
            return None
        skip = 1 if self.has_record(name) else 0
        return self.blocks.decomposition(self.variables[name].dims[skip:], self.shape(name)[skip:])


def dtype_in_file(variable: Any) -> Any:
    """What def_var is to be given."""
    if variable.dtype.kind in "UOT" or (variable.encoding.get("dtype") is str and variable.dtype.kind != "S"):
        return str
    if variable.dtype.kind not in "iufS" or (variable.dtype.metadata or {}).get("enum"):
        raise NotSupportedError(f"dtype {variable.dtype} has no type in a file of Shoal's")
    return variable.dtype


def lengths_of(plan: Plan, inherited: Iterable[str] = ()) -> dict[str, int | None]:
    """Of dimensions, those that grow first; without those that the group has from those that it is in."""
    lengths: dict[str, int | None] = dict.fromkeys(plan.unlimited)
    for name, variable in plan.variables.items():
        lengths.update(
            {dim: n for dim, n in zip(variable.dims, plan.shape(name)) if dim not in plan.unlimited}
        )
    for dim, length in lengths.items():  # of text, which is known when it is encoded
        if length == 0:
            raise NotSupportedError(f"dimension '{dim}' has length 0, which only unlimited ones may have")
    return {dim: length for dim, length in lengths.items() if dim not in inherited}


def empty_dims(ds: Any, blocks: Blocks, unlimited: list[str], where: str, format: str) -> list[str]:
    """Dimensions of length 0, which are unlimited in the file. Local."""
    lengths = {
        dim: blocks.length(dim, n) for variable in ds.variables.values() for dim, n in variable.sizes.items()
    }
    empty = [dim for dim, n in lengths.items() if n == 0 and dim not in unlimited]
    check_empty_dims(where, format, unlimited, empty, [v.dims for v in ds.variables.values()])
    return empty


def definitions_of(
    plan: Plan, there: Container[str] = ()
) -> list[tuple[str, dict[str, Any] | None, dict[str, Any]]]:
    """Of each variable the name, arguments of def_var (None: it is `there`) and attributes. What cannot be is
    refused here, before there is a file. Local."""
    out = []
    for name, variable in plan.variables.items():
        attrs = dict(variable.attrs)
        fill = attrs.pop("_FillValue", None)
        attributes = {key: plan.encoder.attribute(value) for key, value in attrs.items()}
        if name in there:
            out.append((name, None, attributes))
            continue
        filters = _Filters(
            name, variable, plan.shape(name), name in plan.checked, plan.unlimited, plan.format
        )
        arguments = {
            "dtype": dtype_in_file(variable),
            "dims": list(variable.dims),
            "decomposition": plan.decomposition(name),
            "fill": _fill_of(fill, name, variable),
            "chunks": filters.chunks if variable.dims else None,
            "compression": filters.compression if variable.dims else None,
            "quantize": filters.quantize,
        }
        out.append((name, arguments, attributes))
    return out


def attributes_of(plan: Plan) -> dict[str, Any]:
    return {key: plan.encoder.attribute(value) for key, value in plan.attributes.items()}


def define(
    file: Dataset, group: str, lengths: dict[str, int | None], definitions: list, attributes: dict[str, Any]
) -> None:
    if group:
        file.def_group(group)
    for key, value in attributes.items():
        file.put_att(group + "/" if group else None, key, value)
    for dim, length in lengths.items():
        file.def_dim(path_in(group, dim), length)
    for name, arguments, attrs in definitions:
        path = path_in(group, name)
        if arguments is not None:
            file.def_var(path, **arguments)
        for key, value in attrs.items():
            file.put_att(path, key, value)


def _fill_of(fill: Any, name: str, variable: Any) -> Any:
    if fill is None:
        return None
    if dtype_in_file(variable) is str:
        return fill.decode() if isinstance(fill, bytes) else str(fill)
    if variable.dtype.kind == "S":
        text = fill if isinstance(fill, bytes) else bytes(np.asarray(fill).tobytes())
        return np.array(text[:1] or b"\0", "S1")
    value = np.asarray(fill)
    if value.size != 1 or value.dtype.kind not in "iuf":
        raise InvalidArgumentError(
            f"variable '{name}': _FillValue is {fill!r}; it is one number of the variable's type, "
            f"{variable.dtype}"
        )
    # Floats lose digits; all else that does not fit is refused where it is defined.
    return value.reshape(-1)[0].astype(variable.dtype) if variable.dtype.kind == "f" else value.reshape(-1)[0]


def _values(variable: Any) -> np.ndarray:
    return np.asarray(variable.values)


def _in_memory(variable: Any) -> bool:
    return isinstance(variable._data, np.ndarray)


def _parts(variable: Any, has_record: bool) -> list[tuple[int, int]]:
    """Of the first dimension, what is computed at a time: the chunks of dask; what is in memory at once; what
    is still in a file record by record."""
    if not variable.dims:
        return []
    length = variable.shape[0]
    parts = [(0, length)]
    chunks = getattr(variable, "chunks", None)
    if chunks is not None:
        ends = np.cumsum(chunks[0]).tolist()
        parts = list(zip([0, *ends[:-1]], ends))
    elif has_record and not _in_memory(variable):
        parts = [(i, i + 1) for i in range(length)]
    return [part for part in parts if part[1] > part[0]]


def _write_cut(file: Dataset, plan: Plan, name: str, record: Callable[[int], int]) -> None:
    """Values of a variable that is cut."""
    variable, decomposition, has_record = (
        plan.variables[name],
        plan.decomposition(name),
        plan.has_record(name),
    )

    def write(values: np.ndarray, *args: Any, **section: Any) -> None:
        file.write(
            plan.path(name),
            None if decomposition.is_empty else values,
            *args,
            decomposition=decomposition,
            **section,
        )

    if not has_record and plan.blocks.is_cut(variable.dims[0]):
        return write(plan.values(name))
    shape = plan.shape(name)
    for first, end in plan.parts[name]:
        values = plan.values(name, first, end)
        if not has_record:
            write(values, start=[first] + [0] * (len(shape) - 1), count=[end - first, *shape[1:]])
            continue
        for i in range(first, end):
            write(values[i - first], record(i))


def _put(file: Dataset, plan: Plan, name: str, record: Callable[[int], int] | None) -> None:
    """Values of a variable that all ranks have: those of rank 0."""
    comm, variable = plan.blocks.comm, plan.variables[name]

    def load(part: Any) -> Any:
        def work() -> Any:
            return _plain(_values(part)) if comm.rank == 0 else None

        return on_all(comm, work) if plan.lazy[name] else work()

    path = plan.path(name)
    if not variable.dims:
        file.put(path, load(variable))
        return
    shape = plan.shape(name)
    parts = plan.parts[name] if 0 not in shape else []
    for first, end in parts:
        values = load(variable[first:end])
        if plan.has_record(name) and (record is not None or len(parts) > 1):
            for i in range(first, end):
                at = i if record is None else record(i)
                file.put(path, None if values is None else values[i - first], at)
        elif len(parts) == 1:
            file.put(path, values)
        else:
            file.put(path, values, start=[first] + [0] * (len(shape) - 1), count=[end - first, *shape[1:]])


def _plain(array: np.ndarray) -> np.ndarray:
    """Strings of NumPy as objects, which put takes as they are."""
    return array.astype(object) if array.dtype.kind in "UT" else array


def store(file: Dataset, plan: Plan, append_dim: str | None = None, length: int = 0) -> None:
    """All values; of variables along append_dim as records after the first `length` ones."""
    for name, variable in plan.variables.items():
        appends = append_dim is not None and variable.dims[:1] == (append_dim,)
        record = (lambda i: length + i) if appends else None
        if plan.is_cut(name):
            _write_cut(file, plan, name, record or (lambda i: i))
        else:
            _put(file, plan, name, record)
