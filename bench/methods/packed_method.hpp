// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "method.hpp"

namespace shoal::bench {

/// f(number of the field, the field, its array), which is nullptr for a replicated one, for all fields with
/// records (record >= 0), or without.
template <class F>
void for_fields(Run& run, std::int64_t record, F&& f) {
  std::size_t at = 0;
  for (std::size_t i = 0; i < run.content.fields.size(); ++i) {
    const auto& field = run.content.fields[i];
    LocalField* const array = field.distributed ? &run.arrays[at++] : nullptr;
    if (field.record == (record >= 0)) f(i, field, array);
  }
}

/// A method of a library that takes fields packed, one by one. All that libraries have in common is here:
/// the order of calls, and what is timed as what.
class PackedMethod : public Method {
 public:
  void prepare(Run& run) override {
    std::int64_t most = 1;
    for (const auto& array : run.arrays)
      most = std::max(most, array.owned_bytes());
    packed_.assign(static_cast<std::size_t>(most), k_spoilt);
  }

  void create(Run& run) override {
    run.phases.time(Phase::open, [&] { create_file(run); });
    run.phases.time(Phase::write_meta, [&] { ids_ = define(run); });
  }

  void put(Run& run, std::int64_t record) override {
    for_fields(run, record, [&](std::size_t i, const Field& field, LocalField* array) {
      if (array == nullptr) return put_whole(run, i, record);
      run.phases.time_field(field, [&] {
        run.phases.time(Phase::pack, [&] { array->pack(run.in_memory(record), packed_.data()); });
        put_part(run, i, *array, record);
      });
    });
  }

  void sync(Run& run) override {
    run.phases.time(Phase::store, [&] { sync_file(run); });
  }

  void finish(Run& run) override {
    run.stage_bytes += static_cast<std::int64_t>(packed_.size());
    run.at_peak();
    run.phases.time(Phase::close, [&] { close_written(run); });
  }

  void open(Run& run) override {
    run.phases.time(Phase::open, [&] { open_file(run); });
    run.phases.time(Phase::read_meta, [&] {
      ids_.clear();
      for (const auto& field : run.content.fields)
        ids_.push_back(find(run, field));
    });
  }

  void get(Run& run, std::int64_t record) override {
    for_fields(run, record, [&](std::size_t i, const Field&, LocalField* array) {
      if (array == nullptr) return;
      get_part(run, i, *array, record);
      array->unpack(0, packed_.data());
    });
  }

  void close(Run& run) override {
    run.at_peak();
    run.phases.time(Phase::close, [&] { close_file(run); });
  }

 protected:
  virtual void create_file(Run& run) = 0;
  virtual void open_file(Run& run) = 0;
  /// Returns the ids of the variables.
  virtual std::vector<int> define(Run&) { return {}; }
  virtual int find(Run&, const Field&) { return -1; }
  /// From or to packed(), the time of storing taken.
  virtual void put_part(Run& run, std::size_t i, LocalField& array, std::int64_t record) = 0;
  virtual void get_part(Run& run, std::size_t i, LocalField& array, std::int64_t record) = 0;
  /// A replicated variable.
  virtual void put_whole(Run&, std::size_t /*i*/, std::int64_t /*record*/) {}
  virtual void sync_file(Run&) {}
  virtual void close_file(Run& run) = 0;
  /// The same, when all is on the device where that is asked for.
  virtual void close_written(Run& run) = 0;

  int id(std::size_t i) const { return ids_[i]; }
  std::vector<std::byte>& packed() { return packed_; }

 private:
  std::vector<int> ids_;
  std::vector<std::byte> packed_;
};

}  // namespace shoal::bench
