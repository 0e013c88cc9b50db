// SPDX-License-Identifier: BSD-3-Clause
#include "pnetcdf/hints.hpp"

#include <pnetcdf.h>
#include <strings.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "file/served.hpp"

namespace door::pnetcdf {

namespace {

std::string trimmed(std::string_view text) {
  constexpr const char* blanks = " \t";
  const std::size_t begin = text.find_first_not_of(blanks), end = text.find_last_not_of(blanks);
  return begin == std::string_view::npos ? "" : std::string(text.substr(begin, end - begin + 1));
}

// Set, and not to a 0.
bool is_on(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '0';
}

void set(MPI_Info info, const char* name, const std::string& value) {
  MPI_Info_set(info, const_cast<char*>(name), const_cast<char*>(value.c_str()));
}

}  // namespace

MPI_Info hints_of(MPI_Info given) {
  MPI_Info info = MPI_INFO_NULL;
  if (given != MPI_INFO_NULL) MPI_Info_dup(given, &info);
  const char* more = std::getenv("PNETCDF_HINTS");
  std::string_view rest = more == nullptr ? "" : more;
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(';'));
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
    const std::size_t equals = one.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string name = trimmed(one.substr(0, equals)), value = trimmed(one.substr(equals + 1));
    if (name.empty() || value.empty() || name.size() > MPI_MAX_INFO_KEY || value.size() > MPI_MAX_INFO_VAL)
      continue;
    if (info == MPI_INFO_NULL) MPI_Info_create(&info);
    set(info, name.c_str(), value);
  }
  return info;
}

MPI_Info told_hints(MPI_Info of_file, bool ended) {
  MPI_Info info = MPI_INFO_NULL;
  if (of_file == MPI_INFO_NULL)
    MPI_Info_create(&info);
  else
    MPI_Info_dup(of_file, &info);
  for (const char* name : {"nc_header_align_size", "nc_var_align_size", "nc_record_align_size"}) {
    const long long asked = std::max(std::atoll(hint(info, name).c_str()), 0LL);
    const long long usual = std::strcmp(name, "nc_header_align_size") == 0 ? 512 : 4;
    const long long aligned = ((asked > 0 ? asked : usual) + 3) / 4 * 4;
    set(info, name, std::to_string(ended ? aligned : asked));
  }
  const struct {
    const char *name, *usual;
  } others[] = {
      {"nc_header_read_chunk_size", "262144"}, {"nc_in_place_swap", "auto"}, {"nc_ibuf_size", "16777216"}};
  for (const auto& other : others)
    if (hint(info, other.name).empty()) set(info, other.name, other.usual);
  set(info, "pnetcdf_subfiling", "disable");
  set(info, "nc_num_subfiles", "0");
  return info;
}

const char* own_work(MPI_Info hints) {
  if (is_on("PNETCDF_SAFE_MODE")) return "PNETCDF_SAFE_MODE asks for its checks";
  if (strcasecmp(hint(hints, "pnetcdf_subfiling").c_str(), "enable") == 0 &&
      std::atoi(hint(hints, "nc_num_subfiles").c_str()) > 1)
    return "the hint pnetcdf_subfiling asks for its files";
  return nullptr;
}

bool is_strict() {
  return std::getenv("PNETCDF_RELAX_COORD_BOUND") != nullptr ? !is_on("PNETCDF_RELAX_COORD_BOUND")
                                                             : PNETCDF_RELAX_COORD_BOUND == 0;
}

}  // namespace door::pnetcdf
