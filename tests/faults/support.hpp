// Faults: datasets over stores that fail, and how long an error may take.
#pragma once

#include <sys/mount.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "comm/nodes.hpp"
#include "conformance/support.hpp"
#include "dataset/dataset.hpp"
#include "dataset/settings/settings.hpp"
#include "support/faulty_store.hpp"

namespace shoal::testing {

/// The outcome of a call on the C++ side, to compare over ranks.
struct Outcome {
  Code code = Code::ok;
  std::string message;
};

template <class Work>
Outcome outcome_of(Work&& work) {
  const Status status = caught(work);
  return {status.code, status.text()};
}

inline void alike(const Outcome& outcome) {
  std::uint64_t hash = std::hash<std::string>{}(outcome.message) ^ static_cast<std::uint64_t>(outcome.code);
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  MPI_Allreduce(&hash, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&hash, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  CHECK_MESSAGE(least == most, "ranks got different outcomes; this one: ", outcome.message);
}

/// All ranks got this error, with these words.
inline void all_got(const Outcome& outcome, Code code, const std::vector<std::string>& words) {
  CHECK_MESSAGE(outcome.code == code, std::string(name_of(outcome.code)), " instead of ",
                std::string(name_of(code)), ": ", outcome.message);
  for (const auto& word : words)
    CHECK_MESSAGE(outcome.message.find(word) != std::string::npos, "'", outcome.message, "' does not say '",
                  word, "'");
  alike(outcome);
}

inline void all_ok(const Outcome& outcome) {
  CHECK_MESSAGE(outcome.code == Code::ok, outcome.message);
}

/// Do all ranks share memory? Collective.
inline bool on_one_node() {
  const auto ranks_per_node = resolve_settings("", {}).count("ranks_per_node");
  return Nodes(Comm(MPI_COMM_WORLD), static_cast<int>(ranks_per_node)).single();
}

/// Fails if a test case took more than the seconds that an error may take.
class Quick {
 public:
  ~Quick() {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start_;
    CHECK(took.count() < 60.0);  // seconds of a machine that has much else to do, and no wait_seconds
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The store fails on one rank only; -1: on none.
inline DatasetOptions options_with(const std::string& settings, int rank, const Fault& fault) {
  DatasetOptions options;
  options.settings = settings;
  if (world_rank() == rank) options.open_store = with_fault(open_posix_store, fault);
  return options;
}

/// Of a new file, all that is no header fails.
inline StoreOpener with_fault_in_data(const Fault& fault) {
  return [faulty = with_fault(open_posix_store, fault)](const std::string& path, StoreMode mode) {
    return mode == StoreMode::write ? faulty(path, mode) : open_posix_store(path, mode);
  };
}

/// A line of n cells cut evenly, or nearly.
struct Line {
  explicit Line(std::int64_t n) : comm(MPI_COMM_WORLD), length(n) {
    const std::int64_t from = n * world_rank() / world_size();
    const std::int64_t to = n * (world_rank() + 1) / world_size();
    cut = Decomposition::block(comm, {n}, Box({from}, {to - from}), Dims{1}, Dims{1});
    values.resize(static_cast<std::size_t>(to - from));
  }
  void define(Dataset& file) {
    file.def_dim("time", 0);
    file.def_dim("x", length);
    file.def_var("v", Type::double_, "time x", cut);
  }
  DataCall call(std::int64_t record, const std::string& variable = "v") {
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(1000 * record + cut->tile().first[0]) + static_cast<double>(i);
    DataCall out;
    out.variable = variable;
    out.array.cells = ArrayView::contiguous(values.data(), Type::double_, cut->tile().count);
    out.section.record = record;
    return out;
  }
  /// Every cell of the record as it was written.
  void check(Dataset& file, std::int64_t record) {
    DataCall in = call(record);
    std::vector<double> found(values.size(), -1.0);
    in.decomposition = cut;
    in.array.cells = ArrayView::contiguous(found.data(), Type::double_, cut->tile().count);
    file.read(in);
    CHECK(found == values);
  }

  Comm comm;
  std::int64_t length;
  std::shared_ptr<const Decomposition> cut;
  std::vector<double> values;
};

/// The file has so many records, each as the line wrote it.
inline void check_records(Line& line, const std::string& path, std::int64_t records) {
  all_ok(outcome_of([&] {
    const auto file = Dataset::open(MPI_COMM_WORLD, path, false, {});
    CHECK(file->schema().dims[0].length == records);
    for (std::int64_t record = 0; record < records; ++record)
      line.check(*file, record);
    file->close(false);
  }));
}

/// A file system of one megabyte: the folder that is given, or a tmpfs for this test alone.
class SmallFolder {
 public:
  explicit SmallFolder(const std::string& name, const char* given = nullptr) : mounted_(given == nullptr) {
    path_ = given != nullptr ? given : std::filesystem::absolute(name).string();
    int there = given != nullptr ? 1 : 0;
    if (world_rank() == 0 && mounted_) {
      std::filesystem::create_directories(path_);
      there = mount("none", path_.c_str(), "tmpfs", 0, "size=1m") == 0 ? 1 : 0;
    }
    MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
    there_ = there == 1 && all_see_it();
    if (!there_) MESSAGE("skipped: no tmpfs can be mounted here that all ranks see");
    if (there == 1 && !there_ && mounted_ && world_rank() == 0) umount2(path_.c_str(), MNT_DETACH);
  }
  SmallFolder(const SmallFolder&) = delete;
  SmallFolder& operator=(const SmallFolder&) = delete;
  ~SmallFolder() {
    if (!there_) return;
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() != 0) return;
    CHECK(std::filesystem::remove(file()));
    // (HDF5 keeps a file open that it could not close.)
    if (mounted_) CHECK(umount2(path_.c_str(), MNT_DETACH) == 0);
  }
  bool is_there() const { return there_; }
  /// The device gets room. Collective.
  void grow() const {
    if (world_rank() == 0) CHECK(mount("none", path_.c_str(), "tmpfs", MS_REMOUNT, "size=16m") == 0);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  std::string file() const { return path_ + "/small.nc"; }

 private:
  // Ranks of other nodes do not see what rank 0 mounts.
  bool all_see_it() const {
    const std::string mark = path_ + "/seen";
    if (world_rank() == 0) std::ofstream(mark).put('x');
    MPI_Barrier(MPI_COMM_WORLD);
    int seen = std::filesystem::exists(mark) ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &seen, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (world_rank() == 0) std::filesystem::remove(mark);
    return seen == 1;
  }

  std::string path_;
  bool mounted_, there_ = false;
};

}  // namespace shoal::testing
