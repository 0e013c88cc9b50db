// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataset/dataset.hpp"
#include "streams/checksum.hpp"
#include "streams/streams.hpp"

namespace shoal::streams {

/// The attribute that says that a file is a checkpoint, and of which form.
inline constexpr const char* k_checkpoint_version = "shoal_streams_checkpoint";
inline constexpr std::int32_t k_version = 2;

/// Of the attribute with the start of the window of steps that goes on.
std::string window_name(const Clock& clock);
/// "mean, maximum".
std::string names_of(const std::vector<Operation>& operations);

/// The windows of a run that are not finished, as an ordinary NetCDF file: for each accumulator and state a
/// variable without dimensions, whose attributes say what it is ("temp.1_day"), and the arrays of its moments
/// behind it ("temp.1_day.weighted_sum"), cut as the field is. Any number of ranks reads them.
///
/// What is in the file is not believed: numbers are held against the configuration, the model and the clock,
/// all of it against checksums, and the file names no other one.
class Checkpoint {
 public:
  explicit Checkpoint(Streams& streams) : streams_(streams) {}
  /// Collective, both.
  void save(const std::string& path);
  void load(const std::string& path);

 private:
  /// A state with what says which one it is.
  struct Entry {
    std::string name;
    std::size_t collector;
    int state;
  };
  /// An accumulator in the file: what it is of, what for, and the variable of each of its states.
  struct Saved {
    std::string key, about;
    std::vector<Operation> operations;
    std::map<std::int64_t, std::string> states;
    std::vector<Operation> taken;
  };

  Collector& collector_of(const Entry& entry) const { return streams_.plan_.collectors[entry.collector]; }
  WindowState& state_of(const Entry& entry) const {
    return collector_of(entry).accumulator->state(entry.state);
  }
  std::vector<Entry> entries() const;
  std::string key_of(const Collector& collector) const;
  std::string about(const Collector& collector) const;
  /// Calls use(variable, view) for each array of a state, all of 8 bytes a cell; name: of its variable.
  template <class Use>
  void for_each_array(const Entry& entry, const std::string& name, Use&& use) const;

  void agree_on_holes(std::vector<Entry>& entries) const;
  void put_run(Dataset& file) const;
  void define(Dataset& file, const Entry& entry);
  std::string dims_of(Dataset& file, const Part& part);
  void write(Dataset& file, const Entry& entry);

  void read_run(const Schema& schema);
  void read_files(const Schema& schema);
  std::vector<Saved> saved_in(const Schema& schema) const;
  std::vector<std::string> take_states(EvenReader& even, std::vector<Saved>& saved);
  std::size_t part_with(std::size_t collector, const std::vector<Operation>& operations);
  void take(EvenReader& even, std::size_t collector, const Saved& saved);
  void read_window(const Schema& schema, const std::string& variable, const Entry& entry) const;
  void read_arrays(EvenReader& even, const Entry& entry, const std::string& name);
  void check_counts(const Entry& entry) const;
  void compare_sums() const;
  void tell_changes(const std::vector<Saved>& saved, const std::vector<std::string>& begun) const;

  Streams& streams_;
  std::string path_;
  std::map<std::string, std::int64_t> dims_;
  /// Of arrays: the variable with the checksum, what it says, and this rank's share of what was read.
  struct Sum {
    std::string variable;
    std::uint64_t said = 0, share = 0;
  };
  std::vector<Sum> sums_;
  Status problem_;  // of this rank's cells
};

template <class Use>
void Checkpoint::for_each_array(const Entry& entry, const std::string& name, Use&& use) const {
  const Collector& collector = collector_of(entry);
  const Accumulator& accumulator = *collector.accumulator;
  WindowState& state = state_of(entry);
  const Dims& shape = collector.part->local_shape();
  for (int m = 0; m < k_moments; ++m)
    if (const auto moment = static_cast<Moment>(m); accumulator.moments().has(moment))
      use(name + "." + name_of(moment), ArrayView::contiguous(state.of(moment).data(), Type::double_, shape));
  for (int m = 0; m < k_moments; ++m)
    if (const auto moment = static_cast<Moment>(m); accumulator.whole_moments().has(moment))
      use(name + "." + name_of(moment),
          ArrayView::contiguous(state.whole_of(moment).data(), accumulator.type(), shape));
  if (accumulator.counts_cells())
    use(name + ".cell_weights", ArrayView::contiguous(state.cell_weights.data(), Type::int64, shape));
  if (accumulator.counts_values())
    use(name + ".cell_counts", ArrayView::contiguous(state.cell_counts.data(), Type::int64, shape));
}

}  // namespace shoal::streams
