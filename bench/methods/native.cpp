// SPDX-License-Identifier: BSD-3-Clause
// Shoal's own way, through its C interface. A variant adds settings: native+writers=1+slot_bytes=1MiB.
#include <shoal/shoal.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "method.hpp"

namespace shoal::bench {

namespace {

void check(int code, const std::string& what) {
  if (code != SHOAL_OK) throw std::runtime_error("Shoal: " + what + ": " + shoal_error_message());
}

// A number of a report: the first "key": after each of the keys before it. The report's keys are unique
// within their object.
double number_in(const std::string& json, std::initializer_list<const char*> keys) {
  std::size_t at = 0;
  for (const char* key : keys) {
    const std::string quoted = std::string("\"") + key + "\":";
    at = json.find(quoted, at);
    if (at == std::string::npos) throw std::runtime_error(std::string("Shoal: the report has no ") + key);
    at += quoted.size();
  }
  return std::strtod(json.c_str() + at, nullptr);
}

struct FreeDecomposition {
  void operator()(shoal_decomposition* d) const { shoal_decomposition_free(&d); }
};
using Decomposition = std::unique_ptr<shoal_decomposition, FreeDecomposition>;

class Native : public Method {
 public:
  // One decomposition for each of the staggered grids, as a model has them.
  void prepare(Run& run) override {
    decompositions_.clear();
    for (const auto& array : run.arrays) {
      const auto& field = array.field();
      const auto global = field.cut_shape(), first = array.first(), count = array.count(),
                 halo = array.halo();
      auto& slot = decompositions_[global];
      if (slot) continue;
      shoal_decomposition* made = nullptr;
      check(shoal_block(run.comm, field.cut, global.data(), first.data(), count.data(), halo.data(),
                        halo.data(), &made),
            "decomposition");
      slot.reset(made);
    }
  }

  void write(Run& run) override {
    run.phases.time(Phase::open, [&] {
      const std::string settings = "format=" + run.format + ", fill=false" + variant(run);
      check(shoal_create(run.comm, run.path.c_str(), settings.c_str(), &file_), "creation");
    });
    run.phases.time(Phase::write_meta, [&] { define(run); });
    if (!run.content.define_only) {
      run.phases.time(Phase::write, [&] {
        for (std::int64_t r = -1; r < run.records; ++r)
          put_fields(run, r);
      });
      run.phases.time(Phase::sync, [&] { check(shoal_sync(file_, run.flush ? 1 : 0), "sync"); });
    }
    take_report(run);
    run.at_peak();
    run.phases.time(Phase::close, [&] { check(shoal_close(&file_, run.flush ? 1 : 0), "close"); });
  }

  void read(Run& run) override {
    run.phases.time(Phase::open, [&] {
      const auto settings = variant(run);
      check(shoal_open(run.comm, run.path.c_str(), SHOAL_READ, settings.empty() ? "" : settings.c_str() + 2,
                       &file_),
            "opening");
    });
    for (std::int64_t r = -1; r < run.records; ++r) {
      run.phases.time(Phase::read, [&] { get_fields(run, r); });
      run.after_read(r);
    }
    take_report(run);
    run.at_peak();
    run.phases.time(Phase::close, [&] { check(shoal_close(&file_, 0), "close"); });
  }

 private:
  static std::string variant(const Run& run) {
    std::string text;
    for (const auto& [key, value] : run.settings)
      text += ", " + key + "=" + value;
    return text;
  }

  shoal_decomposition* decomposition(const Field& field) {
    return decompositions_.at(field.cut_shape()).get();
  }

  void define(Run& run) {
    for (const auto& d : run.content.dimensions)
      check(shoal_def_dim(file_, d.name.c_str(), d.length), "dimension " + d.name);
    for (const auto& field : run.content.fields) {
      std::string dims;
      for (const auto& name : field.dims)
        dims += name + " ";
      check(shoal_def_var(file_, field.name.c_str(), static_cast<int>(field.type), dims.c_str(),
                          field.distributed ? decomposition(field) : nullptr),
            "variable " + field.name);
      for (const auto& [key, value] : field.attributes)
        check(shoal_put_att(file_, field.name.c_str(), key.c_str(), SHOAL_CHAR,
                            static_cast<std::int64_t>(value.size()), value.data()),
              "attribute " + key);
    }
    check(shoal_end_define(file_), "end of definitions");
  }

  void put_fields(Run& run, std::int64_t record) {
    std::size_t at = 0;
    for (const auto& field : run.content.fields) {
      const std::size_t array = field.distributed ? at++ : 0;
      if (field.record != (record >= 0)) continue;
      const auto r = std::max<std::int64_t>(record, 0);
      if (field.distributed) {
        auto& local = run.arrays[array];
        const auto extents = local.extents_with_halo();
        const shoal_array view{local.record(r),
                               static_cast<int>(field.type),
                               0,
                               static_cast<int>(extents.size()),
                               extents.data(),
                               nullptr};
        check(shoal_write(file_, field.name.c_str(), nullptr, &view, record_of(field, record), nullptr,
                          nullptr),
              "writing of " + field.name);
      } else {
        auto values = replicated_values(field, r);
        const shoal_array view{values.data(),
                               static_cast<int>(field.type),
                               0,
                               static_cast<int>(field.shape.size()),
                               field.shape.data(),
                               nullptr};
        check(shoal_put(file_, field.name.c_str(), &view, record_of(field, record), nullptr, nullptr),
              "putting of " + field.name);
      }
    }
  }

  // Owned cells alone, as every other method reads them: the halo is left out by strides.
  void get_fields(Run& run, std::int64_t record) {
    for (auto& local : run.arrays) {
      const auto& field = local.field();
      if (field.record != (record >= 0)) continue;
      const auto extents = local.extents(), strides = local.strides();
      const shoal_array view{local.interior(0),
                             static_cast<int>(field.type),
                             0,
                             static_cast<int>(extents.size()),
                             extents.data(),
                             strides.data()};
      check(shoal_read(file_, field.name.c_str(), decomposition(field), &view, record_of(field, record),
                       nullptr, nullptr),
            "reading of " + field.name);
    }
  }

  static std::int64_t record_of(const Field& field, std::int64_t record) {
    return field.record ? record : SHOAL_NO_RECORD;
  }

  void take_report(Run& run) {
    const std::string report = shoal_report(file_);
    run.phases[Phase::pack] = number_in(report, {"seconds", "pack", "max"});
    run.phases[Phase::store] = number_in(report, {"seconds", "store", "max"});
    run.phases[Phase::blocked] = number_in(report, {"seconds", "blocked", "max"});
    run.stage_bytes = static_cast<std::int64_t>(number_in(report, {"stage", "high_water"}));
  }

  shoal_dataset* file_ = nullptr;
  std::map<std::vector<std::int64_t>, Decomposition> decompositions_;
};

}  // namespace

std::unique_ptr<Method> make_native() {
  return std::make_unique<Native>();
}

}  // namespace shoal::bench
