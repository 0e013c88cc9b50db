// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dataset/dataset.hpp"
#include "streams/streams.hpp"

namespace shoal::streams {

/// The windows of a run that are not finished, as an ordinary NetCDF file: for each accumulator and state a
/// variable without dimensions, whose attributes say what it is ("temp.1_day"), and the arrays of its moments
/// behind it ("temp.1_day.weighted_sum"), cut as the field is. Any number of ranks reads them.
class Checkpoint {
 public:
  explicit Checkpoint(Streams& streams) : streams_(streams) {}
  /// Collective, both.
  void save(const std::string& path);
  void load(const std::string& path);

 private:
  /// A state with what says which one it is.
  struct Entry {
    std::string name, key;
    Collector* collector;
    WindowState* state;
  };
  std::vector<Entry> entries() const;
  std::string key_of(const Collector& collector, int state) const;
  void agree_on_holes(std::vector<Entry>& entries) const;
  void define(Dataset& file, const Entry& entry);
  std::string dims_of(Dataset& file, const Part& part);
  void write(Dataset& file, const Entry& entry);
  void read(Dataset& file, const Entry& entry, const std::string& name);
  template <class Use>
  void for_each_array(const Entry& entry, const std::string& name, Use&& use) const;

  Streams& streams_;
  std::map<std::string, std::int64_t> dims_;
};

}  // namespace shoal::streams
