// SPDX-License-Identifier: BSD-3-Clause
// The symbols: a call on a file behind the door goes to the core, each other to the program's own library.
#include "door.h"

#define SYMBOL __attribute__((visibility("default")))

// The code of a function that the program's netCDF-C does not have, as one built without the feature gives
// it.
enum { k_missing = NC_ENOTBUILT, k_missing_parallel = NC_ENOPAR };

static const struct door_functions* of_file(int ncid) {
  const struct door_functions* core = door_is_id(ncid) ? door_core_functions() : NULL;
  return core != NULL ? core : door_library();
}

static const struct door_functions* of_files(int ncid, int ncid_out) {
  return of_file(door_is_id(ncid) ? ncid : ncid_out);
}

#define CALL(functions, name, arguments, missing)   \
  const struct door_functions* found = (functions); \
  return found->name != NULL ? found->name arguments : (missing);

#define MAKES(name, parameters, arguments)                                          \
  SYMBOL int name parameters {                                                      \
    const struct door_functions* core = door_enter();                               \
    CALL(core != NULL ? core : door_library(), name, arguments, k_missing_parallel) \
  }
#define SERVED(name, parameters, arguments)         \
  SYMBOL int name parameters {                      \
    CALL(of_file(ncid), name, arguments, k_missing) \
  }
#define HANDED_BACK(name, parameters, arguments) SERVED(name, parameters, arguments)
#define TWO_FILES(name, parameters, arguments)                 \
  SYMBOL int name parameters {                                 \
    CALL(of_files(ncid, ncid_out), name, arguments, k_missing) \
  }

// Symbols of the library that its headers do not declare.
int nc_def_var_chunking_ints(int ncid, int varid, int storage, int* chunksizesp);
int nc_inq_var_chunking_ints(int ncid, int varid, int* storagep, int* chunksizesp);
int nc_set_var_chunk_cache_ints(int ncid, int varid, int size, int nelems, int preemption);
int nc_get_var_chunk_cache_ints(int ncid, int varid, int* sizep, int* nelemsp, int* preemptionp);
int nc4_hdf5_get_chunk_cache(int ncid, size_t* sizep, size_t* nelemsp, float* preemptionp);

#include "functions.def"
