// SPDX-License-Identifier: BSD-3-Clause
// A scenario by Shoal's own calls.
#include <stdexcept>

#include "workload.hpp"

namespace crash {
namespace {

std::string failure(int code) {
  return code == SHOAL_OK ? "" : std::string(shoal_error_name(code)) + ": " + shoal_error_message();
}

class ShoalFile : public File {
 public:
  ShoalFile(MPI_Comm comm, const Options& options, const Plan& plan)
      : comm_(comm), options_(options), plan_(plan) {
    const std::int64_t global[] = {options.ny, options.nx};
    const auto mine = cells(comm, options, plan.map);
    const auto count = static_cast<std::int64_t>(mine.size());
    int code = SHOAL_OK;
    if (plan.map) {
      code = shoal_map(comm, 2, global, 0, count, mine.data(), &cut_);
    } else {
      const std::int64_t first[] = {mine.empty() ? 0 : mine[0] / options.nx, 0};
      const std::int64_t counts[] = {count / options.nx, options.nx};
      code = shoal_block(comm, 2, global, first, counts, nullptr, nullptr, &cut_);
    }
    if (code != SHOAL_OK) throw std::runtime_error(shoal_error_message());
  }
  ~ShoalFile() override {
    shoal_abandon(&file_);
    shoal_decomposition_free(&cut_);
  }
  ShoalFile(const ShoalFile&) = delete;
  ShoalFile& operator=(const ShoalFile&) = delete;

  bool is_open() const override { return file_ != nullptr; }
  std::string create() override {
    const auto settings = "quiet=true, format=" + options_.format + more();
    auto failed = failure(shoal_create(comm_, options_.path.c_str(), settings.c_str(), &file_));
    for (const auto& [name, length] : plan_.dims)
      if (failed.empty()) failed = failure(shoal_def_dim(file_, name.c_str(), length));
    return failed;
  }
  std::string open() override {
    const auto settings = "quiet=true" + more();
    return failure(shoal_open(comm_, options_.path.c_str(), SHOAL_WRITE, settings.c_str(), &file_));
  }
  std::string define(const Variable& v, bool again) override {
    const char* name = v.name.c_str();
    int code = shoal_def_var(file_, name, v.type, v.dims.c_str(), v.field ? cut_ : nullptr);
    if (code == SHOAL_EXISTS && again) return "";
    if (code == SHOAL_OK && !v.filters.empty()) code = shoal_def_compression(file_, name, v.filters.c_str());
    if (code == SHOAL_OK && !v.chunks.empty()) code = shoal_def_chunks(file_, name, v.chunks.data());
    return failure(code);
  }
  std::string put(const Attribute& a, const std::string& text) override {
    const char* owner = a.variable.empty() ? nullptr : a.variable.c_str();
    return failure(shoal_put_att(file_, owner, a.name.c_str(), SHOAL_CHAR,
                                 static_cast<std::int64_t>(text.size()), text.data()));
  }
  std::string rename(const Rename& rename, bool again) override {
    const int code = shoal_rename_var(file_, rename.from.c_str(), rename.to.c_str());
    return code == SHOAL_NOT_FOUND && again ? "" : failure(code);
  }
  std::string end_define() override { return failure(shoal_end_define(file_)); }
  std::string write(const Variable& v, std::int64_t record, void* values,
                    const std::vector<std::int64_t>& extents) override {
    const shoal_array array =
        shoal_array_of(values, v.type, static_cast<int>(extents.size()), extents.data());
    return failure(v.field ? shoal_write(file_, v.name.c_str(), cut_, &array, SHOAL_RECORD(record))
                           : shoal_put(file_, v.name.c_str(), &array, SHOAL_RECORD(record)));
  }
  std::string sync(bool durable) override { return failure(shoal_sync(file_, durable)); }
  std::string close(bool durable) override { return failure(shoal_close(&file_, durable)); }

 private:
  std::string more() const {
    std::string all;
    for (const auto& settings : {plan_.settings, options_.settings})
      if (!settings.empty()) all += ", " + settings;
    return all;
  }

  MPI_Comm comm_;
  const Options& options_;
  const Plan& plan_;
  shoal_decomposition* cut_ = nullptr;
  shoal_dataset* file_ = nullptr;
};

}  // namespace

std::unique_ptr<File> make_file(MPI_Comm comm, const Options& options, const Plan& plan) {
  return std::make_unique<ShoalFile>(comm, options, plan);
}

MPI_Comm computing_ranks(const Plan& plan) {
  MPI_Comm computing = MPI_COMM_WORLD;
  if (plan.servers && shoal_serve(MPI_COMM_WORLD, 1, &computing) != SHOAL_OK)
    throw std::runtime_error(shoal_error_message());
  return computing;
}

}  // namespace crash
