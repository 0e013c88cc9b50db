// SPDX-License-Identifier: BSD-3-Clause
#include "format/netcdf4/other_files.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <sstream>

#include "storage/below.hpp"
#include "storage/paths.hpp"

namespace shoal::netcdf4 {

namespace {

constexpr const char* k_origin = "${ORIGIN}";  // the folder of the file, in a prefix

std::string from_environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

// Text of any length by a function of HDF5's manner.
template <class Get>
std::string text_by(Get&& get) {
  const auto length = check(get(nullptr, std::size_t{0}), "read the name of another file");
  std::string text(static_cast<std::size_t>(length) + 1, '\0');
  check(get(text.data(), text.size()), "read the name of another file");
  text.resize(text.find('\0'));
  return text;
}

// The name of one source; empty for one of many blocks, which have their number in it ("%b"; "%%" is a "%").
std::string single_name(const std::string& name) {
  std::string single;
  for (std::size_t i = 0; i < name.size(); ++i) {
    single += name[i];
    if (name[i] == '%' && name.compare(i, 2, "%%") != 0) return "";
    if (name[i] == '%') ++i;
  }
  return single;
}

std::vector<std::string> external_names(hid_t creation) {
  std::vector<std::string> names;
  const int n = check(H5Pget_external_count(creation), "read which files have the values");
  constexpr std::size_t k_longest = 4096;
  for (int i = 0; i < n; ++i) {
    std::array<char, k_longest + 1> name{};
    check(H5Pget_external(creation, static_cast<unsigned>(i), k_longest, name.data(), nullptr, nullptr),
          "read which files have the values");
    names.emplace_back(name.data());
  }
  return names;
}

std::size_t number_of_sources(hid_t creation) {
  if (H5Pget_layout(creation) != H5D_VIRTUAL) return 0;
  std::size_t n = 0;
  check(H5Pget_virtual_count(creation, &n), "read the sources of a virtual data set");
  return n;
}

// File and data set number i of a virtual one.
std::pair<std::string, std::string> source_of(hid_t creation, std::size_t i) {
  return {text_by([&](char* to, std::size_t n) { return H5Pget_virtual_filename(creation, i, to, n); }),
          text_by([&](char* to, std::size_t n) { return H5Pget_virtual_dsetname(creation, i, to, n); })};
}

// May that source have some of the cells?
bool touches(hid_t creation, std::size_t i, const Box& cells) {
  const Id space(check(H5Pget_virtual_vspace(creation, i), "read the sources of a virtual data set"));
  std::array<hsize_t, H5S_MAX_RANK> first{}, last{};
  if (H5Sget_simple_extent_ndims(space) != cells.rank() ||
      H5Sget_select_bounds(space, first.data(), last.data()) < 0)
    return true;  // of any number of records
  for (int d = 0; d < cells.rank(); ++d)
    if (static_cast<std::int64_t>(last[static_cast<std::size_t>(d)]) < cells.first[d] ||
        static_cast<std::int64_t>(first[static_cast<std::size_t>(d)]) >= cells.end(d))
      return false;
  return true;
}

}  // namespace

OtherFiles::OtherFiles(const std::string& path, ExternalFiles allowed) : path_(path), allowed_(allowed) {
  folders_ = {resolved_path(folder_of(absolute_path(path_))), folder_of(resolved_path(path_))};
}

bool OtherFiles::has(hid_t creation) {
  if (H5Pget_layout(creation) == H5D_CONTIGUOUS && H5Pget_external_count(creation) > 0) return true;
  const std::size_t n = number_of_sources(creation);
  for (std::size_t i = 0; i < n; ++i)
    if (source_of(creation, i).first != ".") return true;
  return false;
}

bool OtherFiles::is_inside(const std::string& where) const {
  const std::string real = resolved_path(where);
  return std::any_of(folders_.begin(), folders_.end(),
                     [&](const std::string& folder) { return is_below(real, folder); });
}

// As HDF5 does: from the working directory, unless a variable of the environment says from where.
std::string OtherFiles::external(const std::string& name) const {
  std::string prefix = from_environment("HDF5_EXTFILE_PREFIX");
  if (prefix.starts_with(k_origin)) prefix = folder_of(absolute_path(path_)) + prefix.substr(9);
  return joined_path(prefix, name);
}

// Empty: there is none of that name, and HDF5 takes the fill value.
std::string OtherFiles::source(const std::string& name) const {
  std::vector<std::string> places;
  std::string rest = name;
  if (rest.starts_with('/')) {
    places.push_back(rest);
    rest = file_name_of(rest);
  }
  std::istringstream prefixes(from_environment("HDF5_VDS_PREFIX"));
  for (std::string prefix; std::getline(prefixes, prefix, ':');)
    if (!prefix.empty()) places.push_back(joined_path(prefix, rest));
  places.insert(places.end(),
                {path_beside(absolute_path(path_), rest), rest, joined_path(folders_.back(), rest)});
  for (const auto& place : places) {
    const PathKind kind = kind_of_name(place);
    if (kind != PathKind::nothing && kind != PathKind::unknown) return place;
  }
  return {};
}

std::string OtherFiles::refusal_of(const std::string& name, const std::string& where) const {
  if (allowed_ == ExternalFiles::allow) return "";
  if (allowed_ == ExternalFiles::refuse)
    return fmt::format("its values lie in the file '{}', and external_files=refuse", name);
  const PathKind kind = kind_of_path(where);
  const bool usual = kind == PathKind::file || kind == PathKind::nothing;
  if (usual && is_inside(where)) return "";
  return fmt::format(
      "its values lie in the file '{}' ({}), which is {}; if you trust whoever made this file, the setting "
      "external_files=allow lets it be read",
      name, resolved_path(where),
      usual ? "not in the folder " + folders_.front() + " of this file" : "no regular file");
}

std::string OtherFiles::refusal(hid_t creation) const {
  for (const auto& name : external_names(creation))
    if (auto why = refusal_of(name, external(name)); !why.empty()) return why;
  std::set<std::string> seen;
  const std::size_t n = number_of_sources(creation);
  for (std::size_t i = 0; i < n; ++i) {
    const std::string stored = source_of(creation, i).first, name = single_name(stored);
    if (stored == "." || !seen.insert(stored).second) continue;
    if (allowed_ == ExternalFiles::folder && name.empty())
      return fmt::format(
          "its values lie in files of the names '{}'; the setting external_files=allow lets them be read, if "
          "you "
          "trust whoever made this file",
          stored);
    const std::string where = source(name);
    if (where.empty() && allowed_ != ExternalFiles::refuse) continue;
    if (auto why = refusal_of(stored, where); !why.empty()) return why;
  }
  return "";
}

void OtherFiles::check_sources(hid_t creation, const Box& cells,
                               const std::function<Id(const std::string&)>& open) {
  if (allowed_ == ExternalFiles::allow) return;
  for (std::size_t i = 0; i < number_of_sources(creation); ++i) {
    auto name = source_of(creation, i);
    if (name.first == "." || known_.contains(name) || !touches(creation, i, cells)) continue;
    const std::string where = source(single_name(name.first));
    if (!where.empty()) {
      const Id file = open(where);
      const Id dataset(H5Dopen2(file, name.second.c_str(), H5P_DEFAULT));
      if (dataset.valid() && has(Id(check(H5Dget_create_plist(dataset), "read the properties of a source"))))
        throw Error(Code::not_supported,
                    "its values lie in '{}' of {}, which has them in other files again; the setting "
                    "external_files=allow lets them be read, if you trust whoever made these files",
                    name.second, where);
    }
    known_.insert(std::move(name));
  }
}

bool OtherFiles::may_open(const std::string& name) const {
  return refusal_of(name, name).empty();
}

}  // namespace shoal::netcdf4
