// SPDX-License-Identifier: BSD-3-Clause
// Define mode, data mode of all ranks and of one alone; what ranks kept until they meet; the way to the
// library.
#include <algorithm>
#include <climits>

#include "handback/lines.hpp"
#include "pnetcdf/file.hpp"

namespace door::pnetcdf {

namespace {

// Brings Shoal's definitions to the file's. Local; the code is Shoal's.
int define_in_shoal(const File& file) {
  if (const int code = define_steps(file); code != SHOAL_OK) return code;
  for (const Variable& var : file.definitions.vars) {
    if (var.made) continue;
    const char* name = var.name.c_str();
    const std::size_t fixed = var.dims.size() - (file.grows(var) ? 1 : 0);
    if (fixed < 2 || var.type == NC_CHAR) continue;
    if (const int code = shoal_def_cut(file.dataset, name); code != SHOAL_OK) return code;
  }
  return SHOAL_OK;
}

int commit(File& file, const char* call) {
  file.together = false;
  const int code = shoal_sync(file.dataset, 0);
  return code == SHOAL_OK ? NC_NOERR : report_error(file.comm, file.path, call, code);
}

}  // namespace

// Bytes of a variable, or of one of its records, do not exceed `most`.
bool fits(const File& file, const Variable& var, std::int64_t most) {
  std::int64_t left = most / static_cast<std::int64_t>(size_of(var.type));
  for (std::size_t i = file.grows(var) ? 1 : 0; i < var.dims.size(); ++i) {
    const std::int64_t length = file.length(var.dims[i]);
    if (length > left) return false;
    if (length > 0) left /= length;
  }
  return true;
}

namespace {

// One large variable may be the last of its kind, and then alone: records come behind all fixed ones.
bool sizes_fit(const File& file) {
  if (file.format == NC_FORMAT_CDF5) return true;
  const std::int64_t most =
      (file.format == NC_FORMAT_CDF2 ? std::int64_t{UINT_MAX} : std::int64_t{INT_MAX}) - 3;
  int large_fixed = 0, large_records = 0, records = 0;
  bool last_fixed = true, last_record = true;
  for (const Variable& var : file.definitions.vars) {
    const bool is_record = file.grows(var), is_large = !fits(file, var, most);
    records += is_record ? 1 : 0;
    (is_record ? large_records : large_fixed) += is_large ? 1 : 0;
    (is_record ? last_record : last_fixed) = is_large;
  }
  if (large_fixed > 1 || (large_fixed == 1 && (!last_fixed || records > 0))) return false;
  return large_records == 0 || (large_records == 1 && last_record);
}

}  // namespace

int end_definitions(File& file) {
  if (file.in_place && file.steps.empty()) {
    file.defining = false;
    return NC_NOERR;
  }
  if (!sizes_fit(file)) throw HandBack{"a variable is larger than PnetCDF has in such a file"};
  const bool is_new = !file.in_place;
  const auto [code, of_definitions] =
      end_in_shoal(file, "ncmpi_enddef", [&] { return define_in_shoal(file); });
  // Where ranks define different things PnetCDF has its own way: rank 0's are in the file.
  if (of_definitions && (is_refusal(code) || code == SHOAL_OUT_OF_STEP)) {
    if (file.is_store) return file.failure = report_error(file.comm, file.path, "ncmpi_enddef", code);
    throw HandBack{shoal_error_message()};
  }
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
  if (file.is_store) {
    say_store_stays(file, reason);
    return NC_ENOTSUPPORT;
  }
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
    if (!file.defining) return NC_ENOTINDEFINE;
    const bool adds = file.in_place && !file.steps.empty();
    const int code = end_definitions(file);
    return code == NC_NOERR && adds ? commit(file, "ncmpi_enddef")
                                    : code;  // each rank may look at the header
  });
}

int ncmpi__enddef(int ncid, MPI_Offset h_minfree, MPI_Offset v_align, MPI_Offset v_minfree,
                  MPI_Offset r_align) {
  if (h_minfree < 0 || v_align < 0 || v_minfree < 0 || r_align < 0)
    return file_of(ncid) == nullptr ? NC_EBADID : NC_EINVAL;
  return answer(ncid, [&](File& file) {
    // Space that PnetCDF may refuse, and Shoal does not leave.
    constexpr MPI_Offset large = INT_MAX / 2;
    if (file.writable && file.defining &&
        (h_minfree > large || v_align > large || v_minfree > large || r_align > large))
      throw HandBack{"ncmpi__enddef asks for much space"};
    return serve::ncmpi_enddef(ncid);
  });
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
