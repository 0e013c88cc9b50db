// SPDX-License-Identifier: BSD-3-Clause
// The functions that the front gets: each finds its file, and who answers for it.
#include <exception>
#include <new>

#include "calls/core.hpp"

#include "calls/calls.hpp"
#include "handback/handback.hpp"

namespace door {

namespace {

door_functions served;

// Runs a call. Exceptions end here: memory that ran out, or a bug.
template <class Call>
int guarded(Call&& call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return NC_ENOMEM;
  } catch (const std::exception&) {
    return NC_EINTERNAL;
  }
}

// A call on a file: of the library, once the file was handed back, which the call itself may find necessary.
template <class Serve, class Asked>
int answer(int& ncid, Serve&& serve, Asked&& asked) {
  File* file = file_of(ncid);
  if (file == nullptr) return NC_EBADID;
  return guarded([&] {
    if (file->failure != NC_NOERR) return file->failure;
    if (!file->handed_back()) try {
        return serve(*file);
      } catch (const HandBack& back) {
        if (const int code = hand_back(*file, back.reason); code != NC_NOERR) return code;
      }
    ncid = file->library_id;
    return asked();
  });
}

// Where the library lacks the function, as of an older version.
template <class Function, class... Arguments>
int ask(Function function, Arguments... arguments) {
  return function != nullptr ? function(arguments...) : NC_ENOTBUILT;
}

#define DOOR_WITH_FILE(ncid, ...) (file __VA_OPT__(, ) __VA_ARGS__)
#define DOOR_ASK(name, ...) ask(library().name __VA_OPT__(, ) __VA_ARGS__)
#define DOOR_UNPACK(...) __VA_ARGS__
#define DOOR_ASKED(name, arguments) [&] { return DOOR_ASK(name, DOOR_UNPACK arguments); }

#define SERVED(name, parameters, arguments)                                     \
  int name parameters {                                                         \
    return answer(                                                              \
        ncid, [&](File& file) { return serve::name DOOR_WITH_FILE arguments; }, \
        DOOR_ASKED(name, arguments));                                           \
  }
#define MOVES(name, parameters, arguments)                                          \
  int name parameters {                                                             \
    return answer(                                                                  \
        ncid,                                                                       \
        [&](File& file) {                                                           \
          const int code = begin_data(file);                                        \
          if (file.handed_back()) {                                                 \
            ncid = file.library_id;                                                 \
            return code != NC_NOERR ? code : DOOR_ASK(name, DOOR_UNPACK arguments); \
          }                                                                         \
          return code != NC_NOERR ? code : serve::name DOOR_WITH_FILE arguments;    \
        },                                                                          \
        DOOR_ASKED(name, arguments));                                               \
  }
#define OF_TYPE(name, parameters, arguments)                                   \
  int name parameters {                                                        \
    return answer(                                                             \
        ncid, [](File&) { return NC_EBADTYPE; }, DOOR_ASKED(name, arguments)); \
  }
#define ENDS(name, parameters, arguments)                                       \
  int name parameters {                                                         \
    const int id = ncid;                                                        \
    const int code = answer(                                                    \
        ncid, [&](File& file) { return serve::name DOOR_WITH_FILE arguments; }, \
        DOOR_ASKED(name, arguments));                                           \
    if (code != NC_EBADID) door::remove(id);                                    \
    return code;                                                                \
  }
#define HANDED_BACK(name, parameters, arguments)                                         \
  int name parameters {                                                                  \
    return answer(                                                                       \
        ncid, [](File&) -> int { throw HandBack{#name}; }, DOOR_ASKED(name, arguments)); \
  }
#define MAKES(name, parameters, arguments)                 \
  int name parameters {                                    \
    return guarded([&] { return serve::name arguments; }); \
  }
#define TWO_FILES(name, parameters, arguments) MAKES(name, parameters, arguments)

#include "front/functions.def"

}  // namespace

const door_functions& functions() {
  return served;
}

}  // namespace door

extern "C" __attribute__((visibility("default"))) const door_functions* shoal_door_netcdf(
    const door_program* program, char* why, std::size_t size) {
  if (!door::has_own_hdf5(why, size)) return nullptr;
  door::take_program(program);
#define FUNCTION(name, parameters, arguments) door::served.name = door::name;
#include "front/functions.def"
  return &door::served;
}
