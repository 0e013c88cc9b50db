// SPDX-License-Identifier: BSD-3-Clause
// What the front gets: the core's functions.
#include "pnetcdf/file.hpp"

namespace {

door_functions served;

}  // namespace

namespace door::pnetcdf::serve {

int hand_back(int ncid, const char* call, int together) {
  return answer(ncid, [&](File&) -> int {
    if (together == 0) return NC_ENOTSUPPORT;  // other ranks would not come along
    throw HandBack{call};
  });
}

int library_id(int ncid) {
  const File* file = file_of(ncid);
  return file == nullptr ? -1 : file->library_id;
}

int ncmpi_inq_files_opened(int* num, int* ncids) {
  int count = 0;
  if (num == nullptr) return NC_EINVAL;
  if (library().ncmpi_inq_files_opened != nullptr) library().ncmpi_inq_files_opened(&count, ncids);
  const auto is_own = [](int ncid) { return file_of(ncid)->handed_back(); };
  for (const int ncid : ids()) {
    if (is_own(ncid)) continue;  // the library has counted it
    if (ncids != nullptr) ncids[count] = ncid;
    ++count;
  }
  *num = count;
  return NC_NOERR;
}

}  // namespace door::pnetcdf::serve

extern "C" __attribute__((visibility("default"))) const door_functions* shoal_door_pnetcdf(
    const door_program* program, char* why, std::size_t size) {
  namespace serve = door::pnetcdf::serve;
  if (!door::has_own_hdf5(why, size)) return nullptr;
  door::pnetcdf::take_program(program);
#define FUNCTION(name, parameters, arguments) served.name = serve::name;
#include "pnetcdf/front/functions.def"
  served.move = serve::move;
  served.move_many = serve::move_many;
  served.put_att_of = serve::put_att_of;
  served.get_att_of = serve::get_att_of;
  served.hand_back = serve::hand_back;
  served.library_id = serve::library_id;
  return &served;
}
