// SPDX-License-Identifier: BSD-3-Clause
// A model that runs, and sends 20 fields after each step: daily means of all, instants of those without
// levels, daily extremes of some. By hand, or through Shoal's streams.
#include <algorithm>
#include <memory>

#include "programs/day_sums.hpp"
#include "programs/expected.hpp"
#include "programs/ocean.hpp"
#include "programs/stream_files.hpp"
#include "programs/stream_outputs.hpp"
#include "workloads/streams.hpp"

namespace shoal::bench {

namespace {

/// The ocean of roms-benchmark, and what follows from its state.
class Model {
 public:
  Model(const Session& session, std::vector<LocalField>& arrays)
      : ocean_(session.comm(), session.setup().tiling, session.setup().grid, arrays) {
    const auto named = [&](const std::string& name) {
      return std::find_if(arrays.begin(), arrays.end(),
                          [&](const LocalField& array) { return array.field().name == name; });
    };
    for (const auto& derived : derived_fields())
      derived_.push_back({&*named(derived.name), &*named(derived.of), &derived});
  }
  void begin() { ocean_.begin(); }
  void step() {
    ocean_.step();
    for (const auto& derived : derived_)
      derive(derived);
  }
  double halo_seconds() const { return ocean_.halo_seconds(); }

 private:
  struct Derived {
    LocalField* into;
    const LocalField* of;
    const DerivedField* how;
  };
  static void derive(const Derived& derived) {
    auto& into = *derived.into;
    const bool surface = derived.how->from == DerivedField::From::surface;
    const auto first = surface ? derived.of->field().levels() - 1 : 0;
    for (std::int64_t k = 0; k < into.field().levels(); ++k)
      for (std::int64_t j = 0; j < into.tile().rows; ++j) {
        const auto at = k * into.level_pitch() + j * into.row_pitch();
        const float* x =
            reinterpret_cast<const float*>(derived.of->interior(0)) + first * into.level_pitch() + at;
        float* out = reinterpret_cast<float*>(into.interior(0)) + at;
        for (std::int64_t i = 0; i < into.tile().columns; ++i)
          out[i] = derived.how->squared ? x[i] * x[i] : x[i];
      }
  }

  Ocean ocean_;
  std::vector<Derived> derived_;
};

class Streams : public Program {
 public:
  explicit Streams(Session& session)
      : state_(make_arrays(session.content(), session.setup().grid, session.setup().tiling, session.rank(), 1,
                           Purpose::read)),
        model_(session, state_),
        expected_(session.files().size()) {
    for (auto& array : state_)
      array.fill();
    const auto& setup = session.setup();
    for (const auto& file : session.files()) {
      auto& shapes = shapes_.emplace_back();
      for (const auto& field : file.content.fields)
        if (field.distributed)
          shapes.emplace_back(field, tile_of(field, setup.grid, setup.tiling, session.rank()), 1,
                              LocalField::Memory::none);
    }
    find_expected(session);
  }

  void turn(Session& session, const Case& c) override {
    const auto& entry = *c.method.entry;
    remove_files(session, c);
    session.announce(c, "run");
    auto result = session.make_result(c, "run", session.bytes_of(c));
    give_back_memory();  // of the turn before, as memory is compared
    std::vector<Run> runs;
    for (std::size_t f = 0; f < session.files().size(); ++f)
      runs.push_back(session.make_run(c, session.files()[f], shapes_[f], result.phases));
    auto output = make_output({session, c, state_, runs.front()});
    session.measure(
        runs.front(), result, [&] { output->prepare(); },
        [&] {
          output->create();
          run(session.setup(), result.phases, [&](std::int64_t step) { output->step(step); });
          output->finish();
        });
    output.reset();
    if (entry.writes()) check(session, entry, runs, result);
    session.keep(result);
    quiet_barrier(session.comm());
    if (!session.setup().options.keep || session.round() < session.setup().options.repetitions)
      remove_files(session, c);
  }

 private:
  // All files by other code than what wrote them, where there is some.
  void check(Session& session, const MethodEntry& entry, std::vector<Run>& runs, Result& result) {
    if (session.setup().options.inject_error && session.rank() == 0)
      inject_error_in_last(runs.front(), expected_.front());
    quiet_barrier(session.comm());
    for (std::size_t f = 0; f < runs.size(); ++f) {
      result.files += session.files_in(runs[f].path);
      result.file_bytes += session.bytes_in_files(runs[f].path);
      result.wrong += wrong_in_run(session, entry, runs[f], expected_[f]);
    }
    MPI_Allreduce(MPI_IN_PLACE, &result.wrong, 1, MPI_INT64_T, MPI_SUM, session.comm());
  }

  static void remove_files(Session& session, const Case& c) {
    for (const auto& file : session.files())
      session.remove(session.path_of(c, file.which));
  }

  static std::unique_ptr<StreamOutput> make_output(const StreamRun& run) {
    switch (run.choice.method.entry->does) {
      case MethodEntry::Does::nothing:
        return std::make_unique<StreamOutput>();
      case MethodEntry::Does::fields:
        return make_through_streams(run);
      default:
        return make_by_hand(run);
    }
  }

  template <class Output>
  void run(const Setup& setup, Phases& phases, Output&& output) {
    model_.begin();
    const double halo_before = model_.halo_seconds();
    for (std::int64_t step = 1; step <= setup.steps; ++step) {
      phases.time(Phase::compute, [&] { model_.step(); });
      output(step);
    }
    phases.add(Phase::halo, model_.halo_seconds() - halo_before);
  }

  // Once without files.
  void find_expected(const Session& session) {
    DaySums sums(session, state_);
    Phases unused;
    run(session.setup(), unused, [&](std::int64_t step) {
      sums.step(step);
      sums.for_records(step,
                       [&](std::size_t file, std::int64_t) { expected_[file].remember(sums.arrays(file)); });
    });
  }

  std::vector<LocalField> state_;
  Model model_;
  std::vector<std::vector<LocalField>> shapes_;  ///< of the files' fields, without cells
  std::vector<Expected> expected_;               ///< of the files
};

}  // namespace

std::unique_ptr<Program> make_streams(Session& session) {
  return std::make_unique<Streams>(session);
}

}  // namespace shoal::bench
