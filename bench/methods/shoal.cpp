// SPDX-License-Identifier: BSD-3-Clause
// Everything through Shoal's C interface: any driver, access and layout. A variant adds settings,
// native+writers=1+slot_bytes=1MiB, and chunks=50x270x360, the shape of chunks without the record dimension.
// native+packed=true: the program copies its interior to an array without halo before each call, as programs
// of other libraries do.
#include <shoal/shoal.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "json.hpp"
#include "methods/packed_method.hpp"
#include "methods/shoal_calls.hpp"

namespace shoal::bench {

namespace {

std::string in_one_text(const Settings& settings) {
  std::string text;
  for (const auto& [key, value] : settings)
    text += (text.empty() ? "" : ", ") + key + "=\"" + value + "\"";
  return text;
}

// Settings of new files alone, and the benchmark's own: not for opening.
bool only_for_new_files(const std::string& key) {
  for (const char* name : {"chunks", "io_layout", "header_reserve", "exists", "fill", "reference", "master",
                           "compression", "packed"})
    if (key == name) return true;
  return false;
}

std::vector<std::int64_t> numbers_of(const std::string& text) {
  std::vector<std::int64_t> numbers;
  for (const char* at = text.c_str();;) {
    char* end = nullptr;
    numbers.push_back(std::strtoll(at, &end, 10));
    if (end == at || numbers.back() < 1 || (*end != 'x' && *end != '\0'))
      throw Refused("chunks is '" + text +
                    "'; lengths with x between are needed, slowest dimension first, as 50x270x360");
    if (*end == '\0') return numbers;
    at = end + 1;
  }
}

bool is_packed_by_program(const Run& run) {
  const auto own = run.settings.find("packed");
  if (own == run.settings.end() || own->second == "false") return false;
  if (own->second != "true")
    throw Refused("packed is '" + own->second + "'; true or false is needed: whether the program packs");
  return true;
}

class Shoal : public Method {
 public:
  explicit Shoal(const MethodEntry& entry) : entry_(entry) {}
  ~Shoal() override { shoal_abandon(&file_); }

  // One decomposition for each of the staggered grids, as a model has them.
  void prepare(Run& run) override {
    decompositions_.clear();
    packs_ = is_packed_by_program(run);
    if (packs_ && entry_.access == "nonblocking")
      throw Refused("packed=true is for calls that are done when they return, not for nonblocking ones");
    std::int64_t most = 0;
    for (const auto& array : run.arrays) {
      auto& slot = decompositions_[array.field().cut_shape()];
      if (!slot) slot = make_decomposition(run.comm, array, packs_ ? Halo::no : Halo::yes);
      most = std::max(most, array.owned_bytes());
    }
    packed_.assign(packs_ ? static_cast<std::size_t>(most) : 0, k_spoilt);
  }

  void create(Run& run) override {
    run.phases.time(Phase::open, [&] {
      const auto settings = in_one_text(settings_to_create(run, entry_));
      check_shoal(shoal_create(run.comm, run.path.c_str(), settings.c_str(), &file_), "creation");
    });
    run.phases.time(Phase::write_meta, [&] { define(run); });
  }

  void put(Run& run, std::int64_t record) override {
    for_fields(run, record, [&](std::size_t, const Field& field, LocalField* array) {
      moving_.time(Phase::store, [&] {
        if (array == nullptr)
          put_replicated(field, record);
        else if (entry_.access == "nonblocking")
          put_distributed(run, *array, record);  // only queued: its time is not the field's
        else
          run.phases.time_field(field, [&] { put_distributed(run, *array, record); });
      });
    });
  }

  void sync(Run& run) override {
    moving_.time(Phase::store, [&] { check_shoal(shoal_sync(file_, run.flush ? 1 : 0), "sync"); });
  }

  void finish(Run& run) override {
    if (!run.content.define_only) run.phases.time(Phase::sync, [&] { sync(run); });
    const double pack = take_report(run);
    run.at_peak();
    run.phases.time(Phase::close, [&] {
      moving_.time(Phase::store, [&] { check_shoal(shoal_close(&file_, run.flush ? 1 : 0), "close"); });
    });
    // The report's own time of storing is that of this rank's calls of the system, and with ranks that take
    // turns at storing it would be a part of the time in which bytes move. Calls of libraries are timed from
    // outside as well, waiting for others included.
    if (!run.content.define_only) run.phases.add(Phase::store, std::max(moving_[Phase::store] - pack, 0.0));
  }

  void open(Run& run) override {
    run.phases.time(Phase::open, [&] {
      const auto settings = settings_to_open(run);
      check_shoal(shoal_open(run.comm, run.path.c_str(), SHOAL_READ, settings.c_str(), &file_), "opening");
    });
    run.phases.time(Phase::read_meta, [&] {
      int index = 0;
      for (const auto& field : run.content.fields)
        check_shoal(shoal_find_var(file_, field.name.c_str(), &index), "variable " + field.name);
    });
  }

  // Owned cells alone, as every other method reads them: the halo is left out by strides.
  void get(Run& run, std::int64_t record) override {
    for (auto& local : run.arrays) {
      const auto& field = local.field();
      if (field.record != (record >= 0)) continue;
      const auto extents = local.extents(), strides = local.strides();
      const shoal_array view{sizeof(shoal_array),
                             local.interior(0),
                             static_cast<int>(field.type),
                             0,
                             static_cast<int>(extents.size()),
                             extents.data(),
                             strides.data()};
      check_shoal(shoal_read(file_, field.name.c_str(), decomposition(field), &view,
                             SHOAL_RECORD(record_of(field, record))),
                  "reading of " + field.name);
    }
  }

  void close(Run& run) override {
    take_report(run);
    run.at_peak();
    run.phases.time(Phase::close, [&] { check_shoal(shoal_close(&file_, 0), "close"); });
  }

 private:
  // A set is read by Shoal alone, whatever wrote its files.
  std::string settings_to_open(const Run& run) const {
    const bool set = entry_.layout != "one" || run.settings.count("io_layout") != 0;
    if (set) return {};
    auto settings = settings_of_method(run, entry_);
    std::erase_if(settings, [](const auto& setting) { return only_for_new_files(setting.first); });
    settings.insert(settings.begin(), {"driver", entry_.driver});
    return in_one_text(settings);
  }

  shoal_decomposition* decomposition(const Field& field) {
    return decompositions_.at(field.cut_shape()).get();
  }

  void define(Run& run) {
    for (const auto& d : run.content.dimensions)
      check_shoal(shoal_def_dim(file_, d.name.c_str(), d.length), "dimension " + d.name);
    std::vector<std::int64_t> chunks;
    if (const auto own = run.settings.find("chunks");
        own != run.settings.end() && is_chunk_shape(own->second))
      chunks = numbers_of(own->second);
    for (const auto& field : run.content.fields) {
      std::string dims;
      for (const auto& name : field.dims)
        dims += name + " ";
      check_shoal(shoal_def_var(file_, field.name.c_str(), static_cast<int>(field.type), dims.c_str(),
                                field.distributed ? decomposition(field) : nullptr),
                  "variable " + field.name);
      if (!chunks.empty() && field.distributed) define_chunks(field, chunks);
      for (const auto& [key, value] : field.attributes)
        check_shoal(shoal_put_att(file_, field.name.c_str(), key.c_str(), SHOAL_CHAR,
                                  static_cast<std::int64_t>(value.size()), value.data()),
                    "attribute " + key);
    }
    check_shoal(shoal_end_define(file_), "end of definitions");
  }

  // Fields with fewer dimensions take the last lengths, those with more get 1 in front; no chunk is longer
  // than its dimension.
  void define_chunks(const Field& field, const std::vector<std::int64_t>& requested) {
    std::vector<std::int64_t> chunks(field.shape.size(), 1);
    for (std::size_t i = 0; i < std::min(chunks.size(), requested.size()); ++i)
      chunks[chunks.size() - 1 - i] =
          std::min(requested[requested.size() - 1 - i], field.shape[field.shape.size() - 1 - i]);
    if (field.record) chunks.insert(chunks.begin(), 1);
    check_shoal(shoal_def_chunks(file_, field.name.c_str(), chunks.data()), "chunks of " + field.name);
  }

  void put_distributed(Run& run, LocalField& local, std::int64_t record) {
    const auto& field = local.field();
    std::byte* cells = local.record(run.in_memory(record));
    if (packs_) {
      local.pack(run.in_memory(record), packed_.data());
      cells = packed_.data();
    }
    const auto extents = packs_ ? local.extents() : local.extents_with_halo();
    const shoal_array view =
        shoal_array_of(cells, static_cast<int>(field.type), static_cast<int>(extents.size()), extents.data());
    check_shoal(
        shoal_write(file_, field.name.c_str(), nullptr, &view, SHOAL_RECORD(record_of(field, record))),
        "writing of " + field.name);
  }

  void put_replicated(const Field& field, std::int64_t record) {
    auto values = replicated_values(field, std::max<std::int64_t>(record, 0));
    const shoal_array view = shoal_array_of(values.data(), static_cast<int>(field.type),
                                            static_cast<int>(field.shape.size()), field.shape.data());
    check_shoal(shoal_put(file_, field.name.c_str(), &view, SHOAL_RECORD(record_of(field, record))),
                "putting of " + field.name);
  }

  static std::int64_t record_of(const Field& field, std::int64_t record) {
    return field.record ? record : SHOAL_NO_RECORD;
  }

  // Of this rank. Added to what is there, as a program may have written another file before. Returns the
  // seconds of packing.
  double take_report(Run& run) const {
    const auto report = Json::parse(shoal_report(file_));
    const double pack = report.at("seconds").at("pack").at("max");
    if (!run.reads && !run.content.define_only) run.phases.add(Phase::pack, pack);
    const std::int64_t stage = report.at("stage").at("high_water");
    // Ranks of a node share native's stage, unless each has a file of its own.
    const bool shared = entry_.driver == "native" && entry_.layout != "process";
    (shared ? run.shared_stage_bytes : run.stage_bytes) += stage;
    return pack;
  }

  const MethodEntry& entry_;
  shoal_dataset* file_ = nullptr;
  Phases moving_;  ///< store: calls that move bytes to the file, packing included
  std::map<std::vector<std::int64_t>, ShoalDecomposition> decompositions_;
  bool packs_ = false;             ///< the program, before each call
  std::vector<std::byte> packed_;  ///< the interior of a field
};

}  // namespace

std::unique_ptr<Method> make_shoal(const MethodEntry& entry) {
  return std::make_unique<Shoal>(entry);
}

}  // namespace shoal::bench
