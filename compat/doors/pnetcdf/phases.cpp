// SPDX-License-Identifier: BSD-3-Clause
// Define mode, data mode of all ranks and of one alone; what ranks kept until they meet; the way to the
// library.
#include <algorithm>

#include "handback/lines.hpp"
#include "pnetcdf/file.hpp"

namespace door::pnetcdf {

namespace {

// Brings Shoal's definitions to the file's. Local; the code is Shoal's.
int define_in_shoal(File& file) {
  for (const Step& step : file.steps)
    if (step.in_shoal)
      if (const int code = step.in_shoal(file.dataset); code != SHOAL_OK) return code;
  for (const Variable& var : file.definitions.vars) {
    if (var.made) continue;
    const char* name = var.name.c_str();
    const std::size_t fixed = var.dims.size() - (file.grows(var) ? 1 : 0);
    int code = var.no_fill != 0 ? shoal_def_fill(file.dataset, name, 0, nullptr) : SHOAL_OK;
    if (code == SHOAL_OK && fixed >= 2 && var.type != NC_CHAR) code = shoal_def_cut(file.dataset, name);
    if (code != SHOAL_OK) return code;
  }
  return SHOAL_OK;
}

// Collective; Shoal's code. `refused`: some rank could not define it, and nothing in the file has changed.
int end_in_shoal(File& file, bool& refused) {
  // Definitions that are refused go with the handle, and what was written before must not.
  if (file.in_place)
    if (const int code = shoal_sync(file.dataset, 0); code != SHOAL_OK) return code;
  file.stored = file.in_place;
  file.together = false;
  int wrong = define_in_shoal(file);
  const std::string message = shoal_error_message();
  const int code =
      shoal_match_data(file.dataset, "ncmpi_enddef", nullptr, &wrong, wrong == 0 ? nullptr : message.c_str());
  if (code != SHOAL_OK) return code;
  if (wrong == SHOAL_OK) wrong = shoal_end_define(file.dataset);
  refused = is_refusal(wrong);
  return wrong;
}

void settle(File& file) {
  file.defining = false;
  file.in_place = true;
  file.stored = false;
  file.steps.clear();
  for (Variable& var : file.definitions.vars) {
    var.made = true;
    shoal_find_var(file.dataset, var.name.c_str(), &var.number);
  }
}

int commit(File& file, const char* call) {
  file.together = false;
  const int code = shoal_sync(file.dataset, 0);
  return code == SHOAL_OK ? NC_NOERR : report_error(file.comm, file.path, call, code);
}

}  // namespace

int end_definitions(File& file) {
  if (file.in_place && file.steps.empty()) {
    file.defining = false;
    return NC_NOERR;
  }
  const bool is_new = !file.in_place;
  bool refused = false;
  const int code = end_in_shoal(file, refused);
  if (refused) throw HandBack{shoal_error_message()};
  if (code != SHOAL_OK) return report_error(file.comm, file.path, "ncmpi_enddef", code);
  settle(file);
  // Others look for the file then, which takes its name in a commit.
  return is_new ? commit(file, "ncmpi_enddef") : NC_NOERR;
}

int meet(File& file, bool always, const char* call) {
  if (!file.writable) return NC_NOERR;
  int some[2] = {file.put_alone ? 1 : 0, file.kept.empty() ? 0 : 1};
  if (file.alone) MPI_Allreduce(MPI_IN_PLACE, some, 2, MPI_INT, MPI_MAX, file.comm);
  file.put_alone = false;
  int code = NC_NOERR;
  if (some[0] != 0) code = commit(file, call);
  if (some[1] != 0) {
    std::vector<Move*> moves;
    for (Move& move : file.kept)
      moves.push_back(&move);
    const int moved = move_together(file, true, moves);
    if (code == NC_NOERR) code = moved;
    file.kept.clear();
    file.kept_records = 0;
  }
  if (!always) return code;
  const int stored = commit(file, call);
  return code != NC_NOERR ? code : stored;
}

namespace {

// The library has made or opened the file; its code.
int go_to_library(File& file, int& ncid) {
  const int formats = NC_64BIT_OFFSET | NC_64BIT_DATA;
  if (!file.in_place) {
    shoal_abandon(&file.dataset);
    MPI_Barrier(file.comm);  // nobody makes it while another rank still removes
    return library().ncmpi_create(file.comm, file.path.c_str(), file.mode & ~NC_NOCLOBBER, file.info, &ncid);
  }
  if (file.stored) {
    shoal_abandon(&file.dataset);
    MPI_Barrier(file.comm);
  } else if (const int code = shoal_close(&file.dataset, 0); code != SHOAL_OK) {
    return report_error(file.comm, file.path, "closing", code);
  }
  const int mode = (file.mode & ~(NC_NOCLOBBER | formats)) | (file.writable ? NC_WRITE : 0);
  const int code = library().ncmpi_open(file.comm, file.path.c_str(), mode, file.info, &ncid);
  return code == NC_NOERR && file.defining ? library().ncmpi_redef(ncid) : code;
}

int replay(File& file) {
  int ncid = -1;
  if (library().ncmpi_create == nullptr) return NC_ENOTSUPPORT;
  if (const int code = go_to_library(file, ncid); code != NC_NOERR) return code;
  int old = 0;
  if (file.in_place && file.defining && file.fill_mode == NC_FILL)
    library().ncmpi_set_fill(ncid, NC_FILL, &old);
  for (const Step& step : file.steps)
    if (const int code = step.in_library(library(), ncid); code != NC_NOERR && code != NC_ERANGE) {
      library().ncmpi_close(ncid);
      return code;
    }
  if (file.buffer > 0) library().ncmpi_buffer_attach(ncid, file.buffer);
  if (file.alone) library().ncmpi_begin_indep_data(ncid);
  file.library_id = ncid;
  return NC_NOERR;
}

}  // namespace

int hand_back(File& file, const std::string& reason) {
  if (!file.requests.empty()) return NC_ENOTSUPPORT;  // they point into the program's arrays
  if (!file.defining)
    if (const int code = meet(file, true, "handing back"); code != NC_NOERR) return code;
  note_line(file.comm, file.path + ": handed back to PnetCDF: " + reason + "\n");
  file.failure = replay(file);
  file.steps.clear();
  return file.failure;
}

namespace serve {

int ncmpi_redef(int ncid) {
  return answer(ncid, [](File& file) {
    if (!file.writable) return NC_EPERM;
    if (file.defining) return NC_EINDEFINE;
    const int code = meet(file, false, "ncmpi_redef");
    file.alone = false;
    file.defining = true;
    return code;
  });
}

int ncmpi_enddef(int ncid) {
  return answer(ncid, [](File& file) {
    if (!file.writable) return NC_EPERM;
    return file.defining ? end_definitions(file) : NC_ENOTINDEFINE;
  });
}

int ncmpi__enddef(int ncid, MPI_Offset h_minfree, MPI_Offset v_align, MPI_Offset v_minfree,
                  MPI_Offset r_align) {
  if (h_minfree < 0 || v_align < 0 || v_minfree < 0 || r_align < 0)
    return file_of(ncid) == nullptr ? NC_EBADID : NC_EINVAL;
  const int code = serve::ncmpi_enddef(ncid);
  return code;
}

int ncmpi_sync(int ncid) {
  return answer(ncid, [](File& file) {
    if (file.defining) return NC_EINDEFINE;
    return meet(file, true, "ncmpi_sync");
  });
}

int ncmpi_flush(int ncid) {
  return answer(ncid, [](File& file) { return file.defining ? NC_EINDEFINE : NC_NOERR; });
}

int ncmpi_sync_numrecs(int ncid) {
  return answer(ncid, [](File& file) {
    if (file.defining) return NC_EINDEFINE;
    return meet(file, false, "ncmpi_sync_numrecs");
  });
}

int ncmpi_begin_indep_data(int ncid) {
  return answer(ncid, [](File& file) {
    if (file.defining) return NC_EINDEFINE;
    if (file.alone) return NC_NOERR;
    // What ranks put together lies with the ranks that store it; alone each of them reads the file.
    const int code = file.together ? commit(file, "ncmpi_begin_indep_data") : NC_NOERR;
    file.alone = true;
    return code;
  });
}

int ncmpi_end_indep_data(int ncid) {
  return answer(ncid, [](File& file) {
    if (file.defining) return NC_EINDEFINE;
    if (!file.alone) return NC_NOERR;
    const int code = meet(file, false, "ncmpi_end_indep_data");
    file.alone = false;
    return code;
  });
}

}  // namespace serve

}  // namespace door::pnetcdf
