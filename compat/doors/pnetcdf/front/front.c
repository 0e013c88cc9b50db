// SPDX-License-Identifier: BSD-3-Clause
// The symbols: a call on a file behind the door goes to the core, each other to the program's own library.
#include "pnetcdf/front/door.h"

#include <string.h>

#define SYMBOL __attribute__((visibility("default")))

// What the program's PnetCDF gives, or the code where it lacks the function. ISO C has no pointers to
// functions in a void *; POSIX has.
#define OWN(name, parameters, arguments)      \
  static int(*own) parameters;                \
  if (own == NULL) {                          \
    void* found = door_library_symbol(#name); \
    memcpy(&own, &found, sizeof found);       \
  }                                           \
  return own != NULL ? own arguments : NC_ENOTSUPPORT;

#define BEHIND(name, parameters, arguments, asked)               \
  SYMBOL int name parameters {                                   \
    if (door_is_id(ncid)) {                                      \
      const struct door_functions* core = door_core_functions(); \
      const int code = core == NULL ? NC_EBADID : core->asked;   \
      if (code != DOOR_PASS_ON) return code;                     \
      ncid = core->library_id(ncid);                             \
    }                                                            \
    OWN(name, parameters, arguments)                             \
  }

#define INSIDE(...) __VA_ARGS__
#define MAKES(name, parameters, arguments)            \
  SYMBOL int name parameters {                        \
    const struct door_functions* core = door_enter(); \
    if (core != NULL) return core->name arguments;    \
    OWN(name, parameters, arguments)                  \
  }
#define SERVED(name, parameters, arguments) BEHIND(name, parameters, arguments, name arguments)
#define MOVES(name, parameters, arguments, call) \
  BEHIND(name, parameters, arguments, move(ncid, varid, &(const struct door_call){INSIDE call}))
#define MANY(name, parameters, arguments, calls) \
  BEHIND(name, parameters, arguments, move_many(ncid, num, varids, &(const struct door_calls){INSIDE calls}))
#define PUT_ATTRIBUTE(function, parameters, arguments, memory) \
  BEHIND(function, parameters, arguments, put_att_of(ncid, varid, name, xtype, len, value, memory))
#define GET_ATTRIBUTE(function, parameters, arguments, memory) \
  BEHIND(function, parameters, arguments, get_att_of(ncid, varid, name, value, memory))
#define HANDED_BACK(name, parameters, arguments, together) \
  BEHIND(name, parameters, arguments, hand_back(ncid, #name, together))
#define TWO_FILES(name, parameters, arguments)                                      \
  SYMBOL int name parameters {                                                      \
    const struct door_functions* core =                                             \
        door_is_id(ncid_in) || door_is_id(ncid_out) ? door_core_functions() : NULL; \
    if (core != NULL) return core->name arguments;                                  \
    OWN(name, parameters, arguments)                                                \
  }
#define OF_ALL(name, parameters, arguments)                    \
  SYMBOL int name parameters {                                 \
    const struct door_functions* core = door_core_functions(); \
    if (core != NULL) return core->name arguments;             \
    OWN(name, parameters, arguments)                           \
  }

// Not in the headers of all versions.
int ncmpi_var_set_chunk(int ncid, int varid, int* chunk_dim);
int ncmpi_var_get_chunk(int ncid, int varid, int* chunk_dim);
int ncmpi_var_set_filter(int ncid, int varid, int filter);
int ncmpi_var_get_filter(int ncid, int varid, int* filter);

#include "pnetcdf/front/functions.def"
