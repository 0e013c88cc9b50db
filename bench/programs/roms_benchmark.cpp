// SPDX-License-Identifier: BSD-3-Clause
#include "programs/roms_benchmark.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "dataset_check.hpp"
#include "files.hpp"
#include "inject_error.hpp"
#include "programs/ocean.hpp"
#include "programs/switches.hpp"

namespace shoal::bench {

namespace {

constexpr double k_step_seconds = 200.0;

// What a file should hold of one rank's cells: record by record, the packed record fields in their order.
using Expected = std::vector<std::vector<std::vector<std::byte>>>;

void remember(const std::vector<LocalField>& arrays, Expected& records) {
  auto& fields = records.emplace_back();
  for (const auto& array : arrays) {
    if (!array.field().record) continue;
    fields.emplace_back(static_cast<std::size_t>(array.owned_bytes()));
    array.pack(0, fields.back().data());
  }
}

Tile common_part(const Tile& a, const Tile& b) {
  Tile c;
  c.first_row = std::max(a.first_row, b.first_row);
  c.rows = std::max<std::int64_t>(std::min(a.first_row + a.rows, b.first_row + b.rows) - c.first_row, 0);
  c.first_column = std::max(a.first_column, b.first_column);
  c.columns = std::max<std::int64_t>(
      std::min(a.first_column + a.columns, b.first_column + b.columns) - c.first_column, 0);
  return c;
}

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
      remember(state_, history_);
      remember(means_, averages_);
    };
    compute(session, unused, remember_record);
  }

  void turn(Session& session, const Case& c) override {
    const bool output = c.method.entry->does != MethodEntry::Does::nothing;
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
    if (output && session.setup().options.inject_error && session.rank() == 0) inject_error(his_path);
    quiet_barrier(session.comm());
    if (output) {
      result.file_bytes = session.bytes_in_files(his_path) + session.bytes_in_files(avg_path);
      result.wrong =
          wrong_in(session, *his_file, his, history_) + wrong_in(session, *avg_file, avg, averages_);
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

  void inject_error(const std::string& path) const {
    const auto& array = state_.back();
    const auto size = size_of(array.field().type);
    const auto& values = history_.back().back();
    const auto bytes = std::min<std::int64_t>(8, array.tile().columns) * size;
    inject_error_in(path, {values.begin(), values.begin() + bytes}, size);
  }

  // Of this rank; rank 0 looks at what is replicated. By other code than what wrote the file, where there is
  // some.
  std::int64_t wrong_in(Session& session, Method& method, Run& run, const Expected& expected) const {
    const auto pieces = pieces_of(run.path);
    if (pieces.empty()) throw std::runtime_error("there is no file " + run.path);
    if (method_has_own_file(run) || !open_plain(pieces.front()))
      return wrong_by_reading(session, method, run, expected);
    std::int64_t wrong = 0, cells = 0;
    for (const auto& array : state_)
      cells += array.owned() * (array.field().record ? run.records : 1);
    for (const auto& piece : pieces) {
      const auto file = open_plain(piece);
      std::size_t at = 0;
      for (const auto& array : state_) {
        const auto part = common_part(array.tile(), Piece::box_of(*file, run.content, array.field()));
        const std::size_t field = array.field().record ? at++ : 0;
        if (part.empty()) continue;
        for (std::int64_t r = 0; r < (array.field().record ? run.records : 1); ++r) {
          wrong += wrong_part(*file, run.content, array, part, r,
                              array.field().record ? &expected[static_cast<std::size_t>(r)][field] : nullptr);
          cells -= part.cells() * array.field().levels();
        }
      }
    }
    wrong += std::abs(cells);
    if (session.rank() == 0) wrong += wrong_replicated(*open_plain(pieces.front()), run);
    return wrong + wrong_switches(session, run);
  }

  static bool method_has_own_file(const Run& run) {
    return run.format == "raw" && !std::filesystem::exists(pieces_of(run.path).front() + ".json");
  }

  // The part of a tile that a file has; expected: the tile's packed cells, nullptr for what the workload
  // makes up.
  static std::int64_t wrong_part(PlainFile& file, const Content& content, const LocalField& array,
                                 const Tile& part, std::int64_t record,
                                 const std::vector<std::byte>* expected) {
    const auto& field = array.field();
    const auto box = Piece::box_of(file, content, field);
    auto start = std::vector<std::int64_t>(field.shape.size(), 0), count = field.shape;
    const auto n = start.size();
    start[n - 2] = part.first_row - box.first_row;
    start[n - 1] = part.first_column - box.first_column;
    count[n - 2] = part.rows;
    count[n - 1] = part.columns;
    if (field.record) {
      start.insert(start.begin(), record);
      count.insert(count.begin(), 1);
    }
    const auto size = size_of(field.type);
    std::vector<std::byte> found(static_cast<std::size_t>(field.levels() * part.cells() * size));
    file.read(field.name, start, count, found.data());
    if (expected == nullptr) return wrong_in_box(field, part, 0, field.levels(), found.data());
    std::int64_t wrong = 0;
    const auto& tile = array.tile();
    const auto* at = found.data();
    for (std::int64_t k = 0; k < field.levels(); ++k)
      for (std::int64_t j = part.first_row - tile.first_row; j < part.first_row - tile.first_row + part.rows;
           ++j) {
        const auto* row = expected->data() +
                          ((k * tile.rows + j) * tile.columns + part.first_column - tile.first_column) * size;
        for (std::int64_t i = 0; i < part.columns; ++i, at += size, row += size)
          wrong += std::memcmp(at, row, static_cast<std::size_t>(size)) != 0;
      }
    return wrong;
  }

  static std::int64_t wrong_replicated(PlainFile& file, const Run& run) {
    std::int64_t wrong = 0;
    for (const auto& field : run.content.fields) {
      if (field.distributed) continue;
      for (std::int64_t r = 0; r < (field.record ? run.records : 1); ++r) {
        auto start = std::vector<std::int64_t>(field.shape.size(), 0), count = field.shape;
        if (field.record) {
          start.insert(start.begin(), r);
          count.insert(count.begin(), 1);
        }
        const auto expected = replicated_values(field, r);
        std::vector<std::byte> found(expected.size());
        file.read(field.name, start, count, found.data());
        wrong += found != expected;
      }
    }
    return wrong;
  }

  // As a model reads them when it starts from a history: 0 and 1, or texts.
  static std::int64_t wrong_switches(const Session& session, const Run& run) {
    std::int64_t wrong = 0;
    for (const auto& field : run.content.fields)
      if (is_switch(field)) wrong += read_switch(session.comm(), run.path, field) != field.given;
    return session.rank() == 0 ? wrong : 0;
  }

  std::int64_t wrong_by_reading(Session& session, Method& method, const Run& written,
                                const Expected& expected) const {
    const auto& setup = session.setup();
    auto arrays = make_arrays(session.content(), setup.grid, setup.tiling, session.rank(), 1, Purpose::read);
    for (auto& array : arrays)
      array.spoil();
    Phases unused;
    Run run{.comm = written.comm,
            .rank = written.rank,
            .ranks = written.ranks,
            .path = written.path,
            .format = written.format,
            .records = written.records,
            .in_place = true,
            .content = written.content,
            .settings = written.settings,
            .hints = written.hints,
            .arrays = arrays,
            .phases = unused};
    std::int64_t wrong = 0;
    method.open(run);
    for (std::int64_t r = -1; r < run.records; ++r) {
      method.get(run, r);
      std::size_t at = 0;
      for (const auto& array : arrays) {
        if (array.field().record != (r >= 0)) continue;
        wrong +=
            r < 0 ? array.wrong_cells(0, 0) : different(array, expected[static_cast<std::size_t>(r)][at++]);
      }
    }
    method.close(run);
    return wrong;
  }

  static std::int64_t different(const LocalField& array, const std::vector<std::byte>& expected) {
    std::vector<std::byte> packed(expected.size());
    array.pack(0, packed.data());
    const auto size = static_cast<std::size_t>(size_of(array.field().type));
    std::int64_t wrong = 0;
    for (std::size_t at = 0; at < packed.size(); at += size)
      wrong += std::memcmp(packed.data() + at, expected.data() + at, size) != 0;
    return wrong;
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
