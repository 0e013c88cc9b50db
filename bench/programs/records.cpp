// SPDX-License-Identifier: BSD-3-Clause
// The usual program: one file, all records back to back, then read back if that is asked for. Sets of files
// are joined to one file, where the experiment wants to know what that costs.
#include <algorithm>
#include <filesystem>
#include <map>

#include "files.hpp"
#include "join.hpp"
#include "runner.hpp"
#include "verify.hpp"

namespace shoal::bench {

namespace {

class Records : public Program {
 public:
  explicit Records(Session& session) {
    const auto& setup = session.setup();
    const auto& content = session.content();
    if (content.define_only) {
      make_tiles_only(session);
      return;
    }
    arrays_ = make_arrays(content, setup.grid, setup.tiling, session.rank(),
                          std::max<std::int64_t>(setup.records, 1), Purpose::write);
    for (auto& a : arrays_)
      if (a.field().same_as.empty()) a.fill();
    if (setup.options.read)
      targets_ = make_arrays(content, setup.grid, setup.tiling, session.rank(), 1, Purpose::read);
  }

  void turn(Session& session, const Case& c) override {
    const auto& content = session.content();
    const auto& setup = session.setup();
    const std::string path = session.path_of(c);
    session.remove(path);
    auto method = c.method.entry->make(*c.method.entry);
    const std::string operation = content.define_only ? "define" : "write";
    session.announce(c, operation);
    auto result = session.make_result(c, operation, session.bytes_of(c));
    Run run = session.make_run(c, path, arrays_, result.phases);
    session.measure(
        run, result, [&] { method->prepare(run); }, [&] { write(*method, run, setup.sync_every); });
    if (setup.options.inject_error && session.rank() == 0) inject_error(run);
    quiet_barrier(session.comm());
    result.files = session.files_in(path);
    result.file_bytes = session.bytes_in_files(path);
    result.wrong = wrong_in_stored(session, c, *method, run);
    if (setup.experiment.joins && c.method.layout() != "one") join(session, c, path, run, result);
    session.keep(result);
    method.reset();
    if (setup.options.read && c.method.entry->reads) read_back(session, c, path);
    quiet_barrier(session.comm());
    if (!setup.options.keep || session.round() < setup.options.repetitions) session.remove(path);
  }

 private:
  // Definitions need to know how fields are cut, but no cells.
  void make_tiles_only(const Session& session) {
    const auto& content = session.content();
    arrays_.reserve(content.fields.size());
    for (const auto& field : content.fields)
      if (field.distributed)
        arrays_.emplace_back(field,
                             tile_of(field, session.setup().grid, session.setup().tiling, session.rank()), 1,
                             LocalField::Memory::none);
  }

  static void write(Method& method, Run& run, std::int64_t sync_every) {
    method.create(run);
    if (!run.content.define_only) {
      run.phases.time(Phase::write, [&] {
        for (std::int64_t r = -1; r < run.records; ++r) {
          method.put(run, r);
          if (sync_every > 0 && r >= 0 && (r + 1) % sync_every == 0)
            run.phases.time(Phase::sync, [&] { method.sync(run); });
        }
      });
    }
    method.finish(run);
  }

  static std::int64_t wrong_in_stored(const Session& session, const Case& c, Method& method, Run& run) {
    const auto& other = session.setup().options.check_in;
    if (other.empty()) return wrong_in_file(method, run);
    const std::string written = run.path;
    run.path = (std::filesystem::path(other) / c.file).string();
    const auto wrong = wrong_in_file(method, run);
    run.path = written;
    return wrong;
  }

  void read_back(Session& session, const Case& c, const std::string& path) {
    const auto& setup = session.setup();
    const auto method = c.method.entry->make(*c.method.entry);
    for (auto& t : targets_)
      t.spoil();
    session.announce(c, "read");
    auto result = session.make_result(c, "read", session.content().distributed_bytes(setup.records));
    if (setup.options.cold) result.cache = drop(session, path);
    Run run = session.make_run(c, path, targets_, result.phases);
    run.reads = true;
    const auto look_at = [&](std::int64_t record) {
      const auto own = method->wrong_in_memory(run, record);
      result.wrong += own >= 0 ? own : wrong_in_arrays(targets_, record);
    };
    // In the first repetition, which is not counted as a rule, there is time to look at every record.
    const bool all = session.first_round();
    const auto read = [&] {
      method->open(run);
      for (std::int64_t r = -1; r < run.records; ++r) {
        run.phases.time(Phase::read, [&] { method->get(run, r); });
        if (all) look_at(r);
      }
      method->close(run);
    };
    session.measure(
        run, result, [&] { method->prepare(run); }, read);
    if (!all) {
      look_at(-1);
      if (setup.records > 0) look_at(setup.records - 1);
    }
    result.wrong = summed(session.comm(), result.wrong);
    // A method that read a record wrongly there is not right for the last record's sake.
    auto& before = wrong_in_warm_up_[path];
    if (all) before = result.wrong;
    result.wrong = std::max(result.wrong, before);
    session.keep(result);
  }

  // Returns where the bytes are then.
  std::string drop(Session& session, const std::string& path) {
    quiet_barrier(session.comm());
    double left = 0;
    for (const auto& file : files_of(path))
      left = std::max(left, drop_from_cache(file));
    MPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_DOUBLE, MPI_MAX, session.comm());
    constexpr double k_little = 0.05;
    if (left <= k_little) return "cold";
    if (!warned_)
      session.note("--cold: this file system keeps files in memory; what is read comes from there");
    warned_ = true;
    return "page cache";
  }

  // The time of the slowest rank, beside the result's own.
  static void join(Session& session, const Case& c, const std::string& path, Run& run, Result& result) {
    if (pieces_of(path).size() == 1) {
      // All on one node: the one file is whole.
      result.phases.add(Phase::total_joined, result.phases[Phase::total]);
      return;
    }
    const std::string whole = session.path_of(c, "joined");
    session.remove(whole);
    Phases phases;
    quiet_barrier(session.comm());
    phases.time(Phase::join, [&] { join_set(session.comm(), path, whole, c.format, run.flush); });
    double seconds = phases[Phase::join];
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, session.comm());
    result.phases.add(Phase::join, seconds);
    result.phases.add(Phase::total_joined, result.phases[Phase::total] + seconds);
    quiet_barrier(session.comm());
    // A byte that was spoilt in the set is wrong here too, and counts once.
    if (!session.setup().options.inject_error) result.wrong += wrong_in_joined(run, whole);
    session.remove(whole);
  }

  static std::int64_t summed(MPI_Comm comm, std::int64_t value) {
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM, comm);
    return value;
  }

  std::vector<LocalField> arrays_, targets_;
  std::map<std::string, std::int64_t> wrong_in_warm_up_;  ///< of reading, by path
  bool warned_ = false;
};

}  // namespace

std::unique_ptr<Program> make_records(Session& session) {
  return std::make_unique<Records>(session);
}

}  // namespace shoal::bench
