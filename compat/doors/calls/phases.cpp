// SPDX-License-Identifier: BSD-3-Clause
// Define mode and data mode; what ends in a file that others can read.
#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "calls/phases.hpp"

#include "calls/calls.hpp"
#include "data/kept.hpp"
#include "data/quantize.hpp"
#include "handback/handback.hpp"
#include "handback/report.hpp"

namespace door {

namespace {

std::string filters_of(const Variable& var) {
  std::string filters;
  const auto take = [&](bool wanted, const std::string& filter) {
    if (wanted) filters += (filters.empty() ? "" : "+") + filter;
  };
  take(var.shuffle, "shuffle");
  take(var.deflate != 0, "deflate:" + std::to_string(var.deflate));
  take(var.has_zstandard, "zstd:" + std::to_string(var.zstandard));
  take(var.fletcher32, "fletcher32");
  return filters;
}

// A field that all ranks write: it gets what Shoal's settings say of fields (chunks, compression).
bool is_field(const File& file, const Variable& var) {
  const auto grows = [&](int id) { return file.definitions.dims[static_cast<std::size_t>(id)].unlimited; };
  const auto fixed =
      static_cast<long>(var.dims.size()) - std::count_if(var.dims.begin(), var.dims.end(), grows);
  return fixed >= 2 && var.type != NC_CHAR;
}

// What comes with a new variable beside its definition. The code is Shoal's.
int define_storage(const File& file, const Variable& var) {
  const char* name = var.name.c_str();
  int code = SHOAL_OK;
  if (code == SHOAL_OK && !var.chunks.empty()) {
    const std::vector<std::int64_t> chunks(var.chunks.begin(), var.chunks.end());
    code = shoal_def_chunks(file.dataset, name, chunks.data());
  }
  if (const char* quantized = quantize_attribute(var.quantize); code == SHOAL_OK && quantized != nullptr)
    code = shoal_put_att(file.dataset, name, quantized, NC_INT, 1, &var.digits);
  if (code == SHOAL_OK && var.filtered())
    code = shoal_def_compression(file.dataset, name, filters_of(var).c_str());
  if (code == SHOAL_OK && var.no_fill != 0) code = shoal_def_fill(file.dataset, name, 0, nullptr);
  if (code == SHOAL_OK && is_field(file, var)) code = shoal_def_cut(file.dataset, name);
  // Ranks may go on to write it alone. Compressed variables, of which that is refused, are written together.
  // On one rank, too: parallel HDF5 fails to read records that were never written, as they have no chunks
  // then.
  if (code == SHOAL_OK && var.access == NC_INDEPENDENT) shoal_def_independent(file.dataset, name);
  return code;
}

// Brings Shoal's definitions to the file's. Local; the code is Shoal's.
int define_in_shoal(const File& file) {
  if (const int code = define_steps(file); code != SHOAL_OK) return code;
  for (const Variable& var : file.definitions.vars)
    if (!var.made)
      if (const int code = define_storage(file, var); code != SHOAL_OK) return code;
  return SHOAL_OK;
}

// An attribute that netCDF makes itself.
void tell(Attributes& attributes, const char* name, int value) {
  if (find(attributes, name) >= 0) return;
  Attribute attribute{name, NC_INT, 1, std::vector<char>(sizeof value), {}};
  std::memcpy(attribute.bytes.data(), &value, sizeof value);
  attributes.push_back(std::move(attribute));
}

// What netCDF says of variables that are in the file.
void note_storage(File& file) {
  for (Variable& var : file.definitions.vars) {
    if (const char* quantized = quantize_attribute(var.quantize); quantized != nullptr)
      tell(var.attributes, quantized, var.digits);
    shoal_var_info info = SHOAL_VAR_INFO_INIT;
    if (shoal_inq_var(file.dataset, var.number, &info) != SHOAL_OK || info.chunks == nullptr) continue;
    var.storage = NC_CHUNKED;
    var.chunks.assign(info.chunks, info.chunks + info.ndims);
  }
}

// Collective.
DefinitionsEnd end_in_shoal(File& file) {
  if (file.in_place)
    if (const int code = write_kept(file); code != SHOAL_OK) return {code};
  return end_in_shoal(file, "nc_enddef", [&] { return define_in_shoal(file); });
}

}  // namespace

int begin_definition(File& file) {
  if (!file.writable) return NC_EPERM;
  if (file.defining) return NC_NOERR;
  if (file.strict()) return NC_ENOTINDEFINE;
  file.defining = true;
  return NC_NOERR;
}

int end_definitions(File& file) {
  if (file.in_place && file.steps.empty()) {
    file.defining = false;
    return NC_NOERR;
  }
  const bool is_new = !file.in_place;
  const auto [code, of_definitions] = end_in_shoal(file);
  if (of_definitions && is_refusal(code)) {
    if (file.is_store) return file.failure = report_error(file, "nc_enddef", code);
    throw HandBack{shoal_error_message()};
  }
  if (code != SHOAL_OK) return report_error(file, "nc_enddef", code);
  settle(file);
  note_storage(file);
  // Others look for the file then, which takes its name in a commit.
  return is_new ? sync_file(file, "nc_enddef") : NC_NOERR;
}

int sync_file(File& file, const char* call) {
  const int kept = write_kept(file);
  const int failed = kept == SHOAL_OK ? NC_NOERR : report_error(file, call, kept);
  file.together = false;
  const int code = shoal_sync(file.dataset, 0);
  return code == SHOAL_OK ? failed : report_error(file, call, code);
}

int begin_data(File& file) {
  if (!file.defining) return NC_NOERR;
  if (file.strict()) return NC_EINDEFINE;
  try {
    return end_definitions(file);
  } catch (const HandBack& back) {
    const int code = hand_back(file, back.reason);
    return code != NC_NOERR ? code : library().nc_enddef(file.library_id);
  }
}

namespace serve {

namespace {

// A file that goes; the code of what could not be stored.
int close_in_shoal(File& file, const char* call) {
  if (const int code = end_definitions(file); code != NC_NOERR) return code;
  note_served(file);
  const int kept = write_kept(file);
  const int failed = kept == SHOAL_OK ? NC_NOERR : report_error(file, call, kept);
  const int code = shoal_close(&file.dataset, 0);
  return code == SHOAL_OK ? failed : report_error(file, call, code);
}

}  // namespace

int nc_redef(File& file) {
  if (!file.writable) return NC_EPERM;
  if (file.defining) return file.strict() ? NC_EINDEFINE : NC_NOERR;
  file.defining = true;
  return NC_NOERR;
}

int nc_enddef(File& file) {
  return file.defining ? end_definitions(file) : NC_ENOTINDEFINE;
}

int nc__enddef(File& file, size_t, size_t, size_t, size_t) {
  return nc_enddef(file);
}

int nc_sync(File& file) {
  if (file.defining && file.strict()) return NC_EINDEFINE;
  if (!file.writable) return NC_NOERR;
  if (const int code = end_definitions(file); code != NC_NOERR) return code;
  return sync_file(file, "nc_sync");
}

int nc_close(File& file) {
  return close_in_shoal(file, "nc_close");
}

int nc_abort(File& file) {
  if (!file.defining) return close_in_shoal(file, "nc_abort");
  if (file.is_new && !file.in_place)
    drop_new(file);
  else if (write_kept(file) == SHOAL_OK)
    shoal_close(&file.dataset, 0);
  return NC_NOERR;
}

int nc_close_memio(File&, NC_memio*) {
  return NC_EINMEMORY;
}

}  // namespace serve

}  // namespace door
