// SPDX-License-Identifier: BSD-3-Clause
// The maps given to Shoal once, one call a variable.
#include "shoal_check.hpp"
#include "writers.hpp"

namespace shoal::bench::e3sm {

namespace {

class ShoalWriter : public Writer {
 public:
  ShoalWriter(const std::string& driver, const std::string& settings)
      : settings_("format=cdf5, fill=false, driver=" + driver + (settings.empty() ? "" : ", " + settings)) {}
  ~ShoalWriter() override { shoal_abandon(&file_); }

  void prepare(const Job& job) override {
    for (const auto& map : job.maps) {
      shoal_decomposition* made = nullptr;
      check_shoal(shoal_map(job.comm, static_cast<int>(map.shape.size()), map.shape.data(), 0,
                            static_cast<std::int64_t>(map.cells.size()), map.cells.data(), &made),
                  "map");
      decompositions_.emplace_back(made);
      shoal_map_info info = SHOAL_MAP_INFO_INIT;
      check_shoal(shoal_decomposition_map_info(made, &info), "map");
      runs_ += info.runs;
    }
  }

  std::int64_t runs() const override { return runs_; }

  void create(const Job& job) override {
    check_shoal(shoal_create(job.comm, job.path.c_str(), settings_.c_str(), &file_),
                "creation of " + job.path);
    check_shoal(shoal_def_dim(file_, "time", SHOAL_UNLIMITED), "time");
    std::vector<std::string> dims;
    for (std::size_t m = 0; m < job.maps.size(); ++m) {
      dims.emplace_back();
      for (std::size_t d = 0; d < job.maps[m].shape.size(); ++d) {
        const auto name = "D" + std::to_string(m + 1) + "_" + std::to_string(d);
        check_shoal(shoal_def_dim(file_, name.c_str(), job.maps[m].shape[d]), name);
        dims.back() += " " + name;
      }
    }
    for (const auto& v : job.variables) {
      const auto m = static_cast<std::size_t>(v.map);
      check_shoal(shoal_def_var(file_, v.name.c_str(), static_cast<int>(v.type),
                                ((v.record ? "time" : "") + dims[m]).c_str(), decompositions_[m].get()),
                  v.name);
    }
    check_shoal(shoal_end_define(file_), "end of definitions");
  }

  void post(const Job& job) override {
    for (auto& v : job.variables) {
      const auto n = static_cast<std::int64_t>(job.maps[static_cast<std::size_t>(v.map)].cells.size());
      const shoal_array values = shoal_array_of(v.values.data(), static_cast<int>(v.type), 1, &n);
      check_shoal(
          shoal_write(file_, v.name.c_str(), nullptr, &values, SHOAL_RECORD(v.record ? 0 : SHOAL_NO_RECORD)),
          v.name);
    }
  }

  void flush() override { check_shoal(shoal_sync(file_, 0), "sync"); }
  void close() override { check_shoal(shoal_close(&file_, 0), "close"); }

 private:
  std::string settings_;
  std::vector<ShoalDecomposition> decompositions_;
  std::int64_t runs_ = 0;
  shoal_dataset* file_ = nullptr;
};

}  // namespace

std::unique_ptr<Writer> make_shoal_writer(const std::string& driver, const std::string& settings) {
  return std::make_unique<ShoalWriter>(driver, settings);
}

}  // namespace shoal::bench::e3sm
