// SPDX-License-Identifier: BSD-3-Clause
#include "pnetcdf/memory.hpp"

#include <pnetcdf.h>

#include <climits>
#include <cstring>

#include "file/definitions.hpp"

namespace door::pnetcdf {

namespace {

nc_type named_type(MPI_Datatype type) {
  const struct {
    MPI_Datatype mpi;
    nc_type own;
  } known[] = {{MPI_CHAR, NC_CHAR},
               {MPI_CHARACTER, NC_CHAR},
               {MPI_SIGNED_CHAR, NC_BYTE},
               {MPI_BYTE, NC_BYTE},
               {MPI_INT8_T, NC_BYTE},
               {MPI_INTEGER1, NC_BYTE},
               {MPI_UNSIGNED_CHAR, NC_UBYTE},
               {MPI_UINT8_T, NC_UBYTE},
               {MPI_SHORT, NC_SHORT},
               {MPI_INT16_T, NC_SHORT},
               {MPI_INTEGER2, NC_SHORT},
               {MPI_UNSIGNED_SHORT, NC_USHORT},
               {MPI_UINT16_T, NC_USHORT},
               {MPI_INT, NC_INT},
               {MPI_INT32_T, NC_INT},
               {MPI_INTEGER, NC_INT},
               {MPI_INTEGER4, NC_INT},
               {MPI_UNSIGNED, NC_UINT},
               {MPI_UINT32_T, NC_UINT},
               {MPI_FLOAT, NC_FLOAT},
               {MPI_REAL, NC_FLOAT},
               {MPI_REAL4, NC_FLOAT},
               {MPI_DOUBLE, NC_DOUBLE},
               {MPI_DOUBLE_PRECISION, NC_DOUBLE},
               {MPI_REAL8, NC_DOUBLE},
               {MPI_LONG, sizeof(long) == 8 ? NC_INT64 : NC_INT},
               {MPI_UNSIGNED_LONG, sizeof(long) == 8 ? NC_UINT64 : NC_UINT},
               {MPI_LONG_LONG, NC_INT64},
               {MPI_INT64_T, NC_INT64},
               {MPI_INTEGER8, NC_INT64},
               {MPI_OFFSET, NC_INT64},
               {MPI_AINT, NC_INT64},
               {MPI_UNSIGNED_LONG_LONG, NC_UINT64},
               {MPI_UINT64_T, NC_UINT64}};
  for (const auto& one : known)
    if (one.mpi != MPI_DATATYPE_NULL && one.mpi == type) return one.own;
  return NC_NAT;
}

// The one type that a type of MPI is made of.
int element_of(MPI_Datatype type, nc_type& element, bool& is_named) {
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  is_named = combiner == MPI_COMBINER_NAMED;
  if (is_named) {
    const nc_type found = named_type(type);
    if (found == NC_NAT) return NC_EUNSPTETYPE;
    if (element != NC_NAT && element != found) return NC_EMULTITYPES;
    element = found;
    return NC_NOERR;
  }
  std::vector<int> all_integers(static_cast<std::size_t>(integers) + 1);
  std::vector<MPI_Aint> all_addresses(static_cast<std::size_t>(addresses) + 1);
  std::vector<MPI_Datatype> parts(static_cast<std::size_t>(types) + 1);
  MPI_Type_get_contents(type, integers, addresses, types, all_integers.data(), all_addresses.data(),
                        parts.data());
  int code = NC_NOERR;
  for (int i = 0; i < types; ++i) {
    bool part_is_named = false;
    MPI_Datatype& part = parts[static_cast<std::size_t>(i)];
    if (code == NC_NOERR) code = element_of(part, element, part_is_named);
    if (!part_is_named) {
      int a = 0, b = 0, c = 0, how = MPI_COMBINER_NAMED;
      MPI_Type_get_envelope(part, &a, &b, &c, &how);
      if (how != MPI_COMBINER_NAMED) MPI_Type_free(&part);
    }
  }
  return code == NC_NOERR && element == NC_NAT ? NC_EUNSPTETYPE : code;
}

}  // namespace

int memory_of(MPI_Offset bufcount, MPI_Datatype buftype, nc_type of_variable, Memory& memory) {
  memory.type = of_variable;
  if (buftype == MPI_DATATYPE_NULL) return NC_NOERR;
  memory.type = NC_NAT;
  bool is_named = false;
  if (const int code = element_of(buftype, memory.type, is_named); code != NC_NOERR) return code;
  if (bufcount == -1 && is_named) return NC_NOERR;
  if (bufcount < 0) return NC_ENEGATIVECNT;
  int bytes = 0;
  MPI_Type_size(buftype, &bytes);
  memory.cells = bufcount * (bytes / static_cast<std::int64_t>(size_of(memory.type)));
  memory.packed = !is_named;
  return memory.packed && (bufcount > INT_MAX || bufcount * bytes > INT_MAX) ? NC_EINTOVERFLOW : NC_NOERR;
}

}  // namespace door::pnetcdf
