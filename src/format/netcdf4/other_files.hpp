// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/box.hpp"
#include "format/catalog.hpp"
#include "format/netcdf4/hdf5.hpp"

namespace shoal::netcdf4 {

/// Files besides its own that HDF5 would read or change for a file: those of external storage, and sources of
/// virtual data sets. Whoever made the file chose their names. All calls Local.
class OtherFiles {
 public:
  OtherFiles(const std::string& path, ExternalFiles allowed);

  /// Are values of a data set with this creation list in other files?
  static bool has(hid_t creation);
  /// Why HDF5 must not be asked for them; empty where it may. Names are looked for as HDF5 1.10 does, links
  /// resolved.
  std::string refusal(hid_t creation) const;
  /// May HDF5 open the file of that name as the source of a virtual data set?
  bool may_open(const std::string& name) const;
  /// What the sources of the cells of a virtual data set have in other files again is not looked for: throws
  /// Error(not_supported). open: opens such a file for reading.
  void check_sources(hid_t creation, const Box& cells, const std::function<Id(const std::string&)>& open);

 private:
  std::string refusal_of(const std::string& name, const std::string& where) const;
  bool is_inside(const std::string& where) const;
  std::string external(const std::string& name) const;
  std::string source(const std::string& name) const;

  std::string path_;
  ExternalFiles allowed_;
  std::vector<std::string> folders_;  // that the file is in, by its name and by the file itself
  std::set<std::pair<std::string, std::string>> known_;  // sources without others
};

}  // namespace shoal::netcdf4
