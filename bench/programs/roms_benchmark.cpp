// SPDX-License-Identifier: BSD-3-Clause
#include "programs/roms_benchmark.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

#include "programs/expected.hpp"
#include "programs/ocean.hpp"
#include "programs/switches.hpp"

namespace shoal::bench {

namespace {

constexpr double k_step_seconds = 200.0;

class RomsBenchmark : public Program {
 public:
  explicit RomsBenchmark(Session& session)
      : state_(make_arrays(session.content(), session.setup().grid, session.setup().tiling, session.rank(), 1,
                           Purpose::read)),
        means_(make_arrays(session.content(), session.setup().grid, session.setup().tiling, session.rank(), 1,
                           Purpose::read)),
        ocean_((fill(state_), session.comm()), session.setup().tiling, session.setup().grid, state_),
        mean_((fill(means_), state_), means_) {
    // Once without files, to know what they should hold.
    Phases unused;
    const auto remember_record = [&](std::int64_t) {
      history_.remember(state_);
      averages_.remember(means_);
    };
    compute(session, unused, remember_record);
  }

  void turn(Session& session, const Case& c) override {
    const bool output = c.method.entry->writes();
    const std::string his_path = session.path_of(c, "his"), avg_path = session.path_of(c, "avg");
    session.remove(his_path);
    session.remove(avg_path);
    session.announce(c, "run");
    auto result = session.make_result(c, "run", session.bytes_of(c));
    const auto his_file = c.method.entry->make(*c.method.entry),
               avg_file = c.method.entry->make(*c.method.entry);
    Run his = session.make_run(c, his_path, state_, result.phases);
    Run avg = session.make_run(c, avg_path, means_, result.phases);
    his.in_place = avg.in_place = true;
    const auto put = [&](std::int64_t record) {
      result.phases.time(Phase::write, [&] {
        his_file->put(his, record);
        avg_file->put(avg, record);
      });
    };
    const auto prepare = [&] {
      his_file->prepare(his);
      avg_file->prepare(avg);
    };
    session.measure(his, result, prepare, [&] {
      his_file->create(his);
      avg_file->create(avg);
      put(-1);
      compute(session, result.phases, put);
      his_file->finish(his);
      avg_file->finish(avg);
      his.stage_bytes += avg.stage_bytes;
      his.shared_stage_bytes += avg.shared_stage_bytes;
    });
    if (output && session.setup().options.inject_error && session.rank() == 0)
      inject_error_in_last(his, history_);
    quiet_barrier(session.comm());
    if (output) {
      result.files = session.files_in(his_path) + session.files_in(avg_path);
      result.file_bytes = session.bytes_in_files(his_path) + session.bytes_in_files(avg_path);
      result.wrong = wrong_in_run(session, *c.method.entry, his, history_) +
                     wrong_in_run(session, *c.method.entry, avg, averages_);
      MPI_Allreduce(MPI_IN_PLACE, &result.wrong, 1, MPI_INT64_T, MPI_SUM, session.comm());
    }
    session.keep(result);
    quiet_barrier(session.comm());
    if (session.setup().options.keep && session.round() == session.setup().options.repetitions) return;
    session.remove(his_path);
    session.remove(avg_path);
  }

 private:
  static void fill(std::vector<LocalField>& arrays) {
    for (auto& array : arrays)
      array.fill();
  }

  // The whole run; output is called whenever a record is due.
  template <class Output>
  void compute(const Session& session, Phases& phases, Output&& output) {
    const auto every = session.setup().steps / session.setup().records;
    ocean_.begin();
    mean_.begin();
    const double halo_before = ocean_.halo_seconds();
    for (std::int64_t step = 1; step <= session.setup().steps; ++step) {
      const bool due = step % every == 0;
      phases.time(Phase::compute, [&] {
        ocean_.step();
        mean_.add();
        if (due) mean_.finish();
      });
      if (due) output(step / every - 1);
    }
    phases.add(Phase::halo, ocean_.halo_seconds() - halo_before);
  }

  std::vector<LocalField> state_, means_;
  Ocean ocean_;
  Means mean_;
  Expected history_, averages_;
};

}  // namespace

std::unique_ptr<Program> make_roms_benchmark(Session& session) {
  return std::make_unique<RomsBenchmark>(session);
}

void give_run_values(MPI_Comm comm, const Setup& setup, Content& content) {
  bool found = setup.options.switches.empty();
  const double interval =
      k_step_seconds * static_cast<double>(setup.steps) / static_cast<double>(setup.records);
  for (auto& field : content.fields) {
    if (is_switch(field)) {
      if (!setup.options.switches.empty()) field.given = read_switch(comm, setup.options.switches, field);
      found = found || !field.given.empty();
      // Otherwise whatever the name makes of it.
      for (std::int64_t i = 0; field.given.size() < static_cast<std::size_t>(field.elements()); ++i)
        field.given.push_back(static_cast<double>((seed_of(field) >> static_cast<unsigned>(i)) & 1U));
    } else if (field.name == "ocean_time") {
      for (std::int64_t r = 0; r < setup.records; ++r)
        field.given.push_back(interval * static_cast<double>(r + 1));
    }
  }
  if (!found)
    throw std::invalid_argument("--switches is '" + setup.options.switches +
                                "', which has none of the model's switches");
}

}  // namespace shoal::bench
