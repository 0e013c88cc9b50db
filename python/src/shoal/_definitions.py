# SPDX-License-Identifier: BSD-3-Clause
"""The define phase of a dataset: what Dataset has of it. All calls are Local; every rank makes the same ones
in the same order."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _shoal
from ._names import composed, from_root, group_of, seen_from
from ._refusals import definition, plain_text, whole_numbers
from .decomposition import Decomposition
from .errors import InvalidArgumentError, RangeError, TypeMismatchError
from .inventory import Attributes, put_attribute
from .types import NO_FILL, dtype_of, memory_type, to_numbers, type_number

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

# What separates names is the library's; other white space may be in them.
_NAME = re.compile(r'[ \t\r\n,]*(?:"((?:[^"\\]|\\["\\])*)"(?=[ \t\r\n,]|$)|([^ \t\r\n,"][^ \t\r\n,]*))')


def names_in(text: str) -> list[str]:
    """Names of a text, with blanks or commas between; one that has these itself is in double quotes, in which
    \\" and \\\\ are a quote and a backslash. Local."""
    names = []
    at = 0
    text = text.rstrip(" \t\r\n,")
    while at < len(text):
        found = _NAME.match(text, at)
        if found is None:
            raise InvalidArgumentError(
                f"the names {text!r}: one in double quotes ends with a quote and a blank or comma; "
                'quotes and backslashes in it are \\" and \\\\.'
            )
        quoted, plain = found.groups()
        names.append(plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted))
        at = found.end()
    return names


def text_of_names(names: Sequence[str]) -> str:
    """The names as a text in which the library finds them again. Local."""

    def one(name: str) -> str:
        if name and name[0] != '"' and not re.search(r"[ \t\r\n,]", name):
            return name
        return '"' + re.sub(r'(["\\])', r"\\\1", name) + '"'

    return " ".join(map(one, names))


class Definitions:
    """Methods of Dataset."""

    @definition
    def def_group(self, name: str) -> None:
        """A group of names, "ocean/ice", and those that it is in, where they are not there. Names of
        dimensions and variables in groups are paths, and make the groups themselves; this is for one that
        nothing is in. Attributes are put as of a variable: put_att("ocean/ice", ...). netcdf4 and
        zarr. Local."""
        self._need_open()
        self._raw.def_group(name)

    @definition
    def def_dim(self, name: str, length: int | None) -> None:
        """A dimension; length None (shoal.UNLIMITED) for one that grows. Local."""
        self._need_open()
        if length is not None and length <= 0:
            raise InvalidArgumentError(
                f"{self._path}: dimension '{name}' has length {length}; lengths are positive, None grows."
            )
        self._raw.def_dim(name, _shoal.UNLIMITED if length is None else int(length))

    @definition
    def def_var(
        self,
        name: str,
        dtype: DTypeLike,
        dims: str | Sequence[str] | Decomposition = (),
        decomposition: Decomposition | None = None,
        *,
        record: str | None = None,
        attrs: Mapping[str, object] | None = None,
        fill: object = None,
        chunks: Sequence[int] | None = None,
        compression: str | None = None,
        quantize: str | None = None,
        pack: str | None = None,
    ) -> None:
        """A variable. Local.

        dtype   "f4", "f8", "i1" ... "u8", bool (logical), "S1" (text), str (strings, netcdf4 and zarr)
        name    of a variable in a group its path, "ocean/temp"
        dims    names, slowest first, as a list, or as text with blanks or commas between, where one that has
                these itself is in double quotes; or a Decomposition with named dimensions: they are defined
                if the file does not have them yet
        decomposition  how the variable is cut, if dims are names: its last dimensions; None: replicated
        record  name of the record dimension, put in front of dims; defined if need be
        attrs   attributes
        fill    fill value, shoal.NO_FILL for none; cells that nobody writes get NetCDF's default otherwise
        chunks  chunk shape, one number a dimension (netcdf4, zarr)
        compression  "none", or filters such as "shuffle+zstd:1" (netcdf4, zarr); None: the setting's
        quantize     "none", or lossy, "bitround:7" or "granular_bitround:3"; None: the setting's
        pack         "none", or values as whole numbers, "short(-2, 35)" (see def_pack); None: the setting's
        """
        self._need_open()
        # All that can be wrong by itself is looked at before anything is defined.
        number = type_number(dtype)
        value = None if fill is None else self._fill_value(name, number, fill)
        chunk_shape = None if chunks is None else whole_numbers(chunks, f"variable '{name}': chunks=")
        if isinstance(dims, Decomposition):
            if decomposition is not None:
                raise InvalidArgumentError(f"{self._path}: variable '{name}': two decompositions were given.")
            decomposition, dims = dims, dims.dims
            if dims is None:
                raise InvalidArgumentError(
                    f"{self._path}: variable '{name}': the decomposition has no names; give dims=, or "
                    "make it with a dict of names and lengths."
                )
            for dim, length in zip(dims, decomposition.global_shape):
                self._ensure_dim(name, dim, length)
        names = self._names_of(name, dims)
        if record is not None:
            self._ensure_dim(name, record, None)
            names.insert(0, record)
        if chunk_shape is not None and len(chunk_shape) != len(names):
            raise InvalidArgumentError(
                f"{self._path}: variable '{name}' has {len(names)} dimensions, "
                f"chunks= {len(chunk_shape)} numbers."
            )
        self._raw.def_var(name, number, names, decomposition._raw if decomposition is not None else None)
        if decomposition is not None:
            self._decompositions[name] = decomposition
        if fill is not None:
            self._def_fill(name, value)
        if chunk_shape is not None:
            self._raw.def_chunks(name, chunk_shape)
        if compression is not None:
            self._raw.def_compression(name, compression)
        if quantize is not None:
            self._raw.def_quantize(name, quantize)
        if pack is not None:
            self._raw.def_pack(name, pack)
        for key, value in (attrs or {}).items():
            self.put_att(name, key, value)

    @definition
    def def_gathered(
        self, name: str, decomposition: Decomposition, dims: str | Sequence[str] | None = None
    ) -> None:
        """A dimension for the water points alone of a decomposition with a mask (CF: compression by
        gathering), and the list of the same name that says which they are, which Shoal writes. Local.

        dims  names of the grid's dimensions, those that the mask has; the decomposition's own, if it has
              names: they are defined if the file does not have them yet

        Variables with the dimension in place of these ("time lev water") are written and read with
        decompositions of the grid, and arrays of its shape; land reads as the fill value.
        """
        self._need_open()
        if not isinstance(decomposition, Decomposition):
            raise TypeMismatchError(
                f"{self._path}: '{name}': give a Decomposition with a mask, not a "
                f"{type(decomposition).__name__}."
            )
        if dims is None:
            if decomposition.dims is None:
                raise InvalidArgumentError(
                    f"{self._path}: '{name}': the decomposition has no names; give dims=."
                )
            grid = decomposition.ndim - decomposition.uncut
            for dim, length in zip(decomposition.dims[:grid], decomposition.global_shape):
                self._ensure_dim(name, dim, length)
            dims = decomposition.dims[:grid]
        self._raw.def_gathered(name, text_of_names(self._names_of(name, dims)), decomposition._raw)

    def _names_of(self, variable: str, dims: str | Sequence[str]) -> list[str]:
        if not isinstance(dims, str):
            return [str(dim) for dim in dims]
        try:
            return names_in(dims)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{self._path}: variable '{variable}': {error.message}") from None

    @definition
    def def_cut(self, name: str) -> None:
        """The variable, defined without a decomposition, will be written with one, which comes with write: it
        gets what variables with a decomposition have (alignment, and the settings chunks, compression and
        quantize as far as it has no choice of its own). While its definition is new. Local."""
        self._need_open()
        self._raw.def_cut(name)

    @definition
    def def_independent(self, name: str) -> None:
        """Ranks are going to write the variable alone (write_independent): it gets its place in the file, and
        its fill value in all cells, when the define phase ends, so that such writes go to the file at once.
        While its definition is new. Local. Raises NotSupportedError: it is compressed, or of strings."""
        self._need_open()
        self._raw.def_independent(name)

    @definition
    def def_fill(self, name: str, value: object) -> None:
        """Fill value of a variable; shoal.NO_FILL: cells that nobody writes are undefined, and keep what was
        written there where no rank has them in later writes. Local."""
        self._need_open()
        self._def_fill(name, self._fill_value(name, self.variables[name].number, value))

    @definition
    def def_chunks(self, name: str, chunks: Sequence[int]) -> None:
        """Chunk shape, one number a dimension of the variable; netcdf4 and zarr. Local."""
        self._need_open()
        self._raw.def_chunks(name, whole_numbers(chunks, f"variable '{name}': chunks="))

    @definition
    def def_compression(self, name: str, filters: str) -> None:
        """Compression of the variable's chunks, netcdf4 and zarr. Local.

        filters  "none", or with + between: shuffle, deflate:1 to deflate:12 or zstd:1 to zstd:22,
                 fletcher32 (a checksum); zarr stores their counterparts, and has gzip:0 to gzip:9,
                 blosc:zstd:5, blosc:lz4:5:bitshuffle, ..., and crc32c by itself
        """
        self._need_open()
        self._raw.def_compression(name, str(filters))

    @definition
    def def_quantize(self, name: str, how: str) -> None:
        """How much of the values of a float or double variable is kept when they are written. Local.

        how  "none", "bitround:N" (N bits of the mantissa) or "granular_bitround:N" (N decimal digits)

        The fill value, missing_value, NaN, infinity and zero never change.
        """
        self._need_open()
        self._raw.def_quantize(name, str(how))

    @definition
    def def_pack(self, name: str, how: str) -> None:
        """How values of a variable are whole numbers in the file (CF: scale_factor, add_offset). Local.

        how  "short(-2, 35)": a float or double variable becomes one of this type when its definition is
             finished, for values from -2 to 35; types are byte, ubyte, short, ushort, int and uint.
             "attributes": a variable of such a type is packed as its scale_factor and add_offset say.
             "none": not at all

        Arrays of floating point then hold values, in writing and reading, with NaN where there is none; so do
        arrays of whole numbers of a variable that was defined as float or double. Values out of the range
        become the fill value and are counted in the report, or are an error (setting pack_out_of_range).
        """
        self._need_open()
        self._raw.def_pack(name, str(how))

    def _ensure_dim(self, variable: str, dim: str, length: int | None) -> None:
        there = seen_from(self.dimensions, group_of(from_root(variable)), dim)
        if there is None:
            self.def_dim(dim, length)
            return
        known = self.dimensions[there]
        if known.unlimited != (length is None) or (length is not None and known.length != length):
            has = "unlimited" if known.unlimited else known.length
            raise InvalidArgumentError(
                f"{self._path}: variable '{variable}': dimension '{dim}' is {has} in the file, but "
                f"{'unlimited' if length is None else length} here."
            )

    def _def_fill(self, name: str, value) -> None:
        if value is NO_FILL:
            self._raw.def_fill(name, 0, None)
        elif isinstance(value, str):
            self._raw.def_fill_string(name, value)
        else:
            # NumPy's bool has no buffer of its own.
            self._raw.def_fill(name, memory_type(value), value.view("u1") if value.dtype == bool else value)

    def _fill_value(self, name: str, number: int, value):
        """The fill value as the library takes it, which converts it to the variable's type: NO_FILL, a str or
        an array of no dimensions."""
        if value is NO_FILL:
            return value
        if number == _shoal.STRING:
            return plain_text(value, f"{self._path}: variable '{name}': the fill value")
        given = to_numbers(value.encode() if isinstance(value, str) else value, lambda: None)
        if given.ndim != 0:
            raise InvalidArgumentError(
                f"{self._path}: variable '{name}': the fill value {value!r} must be one value."
            )
        if given.dtype == object and isinstance(value, int):
            raise RangeError(f"{self._path}: variable '{name}': the fill value {value} does not fit 64 bits.")
        if (memory_type(given) == _shoal.CHAR) != (number == _shoal.CHAR):
            raise TypeMismatchError(
                f"{self._path}: variable '{name}': the fill value is {value!r}; text goes with text only."
            )
        return given

    @definition
    def put_att(self, variable: str | None, name: str, value: object) -> None:
        """Attribute of a variable or group, or of the file when variable is None. Replaces one of the name.
        Local."""
        self._need_open()
        put_attribute(self._raw, variable or "", name, value)

    @definition
    def rename_dim(self, name: str, new_name: str) -> None:
        """Another name for a dimension, of this define phase or of the file, which may have data. Local."""
        self._need_open()
        self._raw.rename_dim(str(name), str(new_name))

    @definition
    def rename_var(self, name: str, new_name: str) -> None:
        """Another name for a variable, as rename_dim. A dimension of the name keeps it. Local."""
        self._need_open()
        self._raw.rename_var(str(name), str(new_name))
        if name != new_name and name in self._decompositions:
            self._decompositions[new_name] = self._decompositions.pop(name)

    @definition
    def rename_group(self, name: str, new_name: str) -> None:
        """Another name for a group, as rename_dim: what is in it has other paths then. Local."""
        self._need_open()
        number = self._raw.find_group(str(name))
        was = composed(self._raw.inq_group(number)[0])
        self._raw.rename_group(str(name), str(new_name))
        now = composed(self._raw.inq_group(number)[0])
        for path in [path for path in self._decompositions if path.startswith(was + "/")]:
            self._decompositions[now + path[len(was) :]] = self._decompositions.pop(path)

    @definition
    def rename_att(self, variable: str | None, name: str, new_name: str) -> None:
        """Another name for an attribute of a variable or group, or of the file when variable is None.
        Local."""
        self._need_open()
        self._raw.rename_att(variable or "", str(name), str(new_name))

    @definition
    def delete_att(self, variable: str | None, name: str) -> None:
        """Delete an attribute of a variable or group, or of the file when variable is None. Local."""
        self._need_open()
        self._raw.delete_att(variable or "", str(name))

    def inq_fill(self, name: str) -> Any:
        """What cells of a variable hold that were never written, as its dtype has it; None: anything, as it
        has no fill. Local."""
        self._need_open()
        number = self.variables[name].number
        if number == _shoal.STRING:
            return self._raw.inq_fill_string(name)
        dtype = dtype_of(number)
        if dtype is None:  # which the library refuses, with the reason
            number, dtype = _shoal.BYTE, np.dtype("i1")
        value = np.zeros(1, dtype)
        return value[0] if self._raw.inq_fill(name, number, value) else None

    def get_att(self, variable: str | None, name: str) -> Any:
        """The value of an attribute: str, list of str, number or array. Local."""
        self._need_open()
        return Attributes(self._raw, variable or "")[name]
