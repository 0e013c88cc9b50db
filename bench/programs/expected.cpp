// SPDX-License-Identifier: BSD-3-Clause
#include "programs/expected.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "dataset_check.hpp"
#include "files.hpp"
#include "inject_error.hpp"
#include "programs/switches.hpp"
#include "sections.hpp"

namespace shoal::bench {

namespace {

Tile common_part(const Tile& a, const Tile& b) {
  Tile c;
  c.first_row = std::max(a.first_row, b.first_row);
  c.rows = std::max<std::int64_t>(std::min(a.first_row + a.rows, b.first_row + b.rows) - c.first_row, 0);
  c.first_column = std::max(a.first_column, b.first_column);
  c.columns = std::max<std::int64_t>(
      std::min(a.first_column + a.columns, b.first_column + b.columns) - c.first_column, 0);
  return c;
}

bool method_has_own_file(const Run& run) {
  return run.format == "raw" && !std::filesystem::exists(pieces_of(run.path).front() + ".json");
}

// The part of a tile that a file has; expected: the tile's packed cells, nullptr for what the workload
// makes up.
std::int64_t wrong_part(PlainFile& file, const Content& content, const LocalField& array, const Tile& part,
                        std::int64_t record, const std::vector<std::byte>* expected) {
  const auto& field = array.field();
  const auto box = Piece::box_of(file, content, field);
  Tile in_file = part;
  in_file.first_row -= box.first_row;
  in_file.first_column -= box.first_column;
  const auto s = section_of_tile<std::int64_t>(field, in_file, record);
  const auto size = size_of(field.type);
  std::vector<std::byte> found(static_cast<std::size_t>(field.levels() * part.cells() * size));
  file.read(field.name, s.start, s.count, found.data());
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

std::int64_t wrong_replicated(PlainFile& file, const Run& run) {
  std::int64_t wrong = 0;
  for (const auto& field : run.content.fields) {
    if (field.distributed) continue;
    for (std::int64_t r = 0; r < (field.record ? run.records : 1); ++r) {
      const auto s = section_of_all<std::int64_t>(field, r);
      const auto expected = replicated_values(field, r);
      std::vector<std::byte> found(expected.size());
      file.read(field.name, s.start, s.count, found.data());
      wrong += found != expected;
    }
  }
  return wrong;
}

// As a model reads them when it starts from a history: 0 and 1, or texts.
std::int64_t wrong_switches(const Session& session, const Run& run) {
  std::int64_t wrong = 0;
  for (const auto& field : run.content.fields)
    if (is_switch(field)) wrong += read_switch(session.comm(), run.path, field) != field.given;
  return session.rank() == 0 ? wrong : 0;
}

std::int64_t different(const LocalField& array, const std::vector<std::byte>& expected) {
  std::vector<std::byte> packed(expected.size());
  array.pack(0, packed.data());
  const auto size = static_cast<std::size_t>(size_of(array.field().type));
  std::int64_t wrong = 0;
  for (std::size_t at = 0; at < packed.size(); at += size)
    wrong += std::memcmp(packed.data() + at, expected.data() + at, size) != 0;
  return wrong;
}

std::int64_t wrong_by_reading(Session& session, const MethodEntry& entry, const Run& written,
                              const Expected& expected) {
  const auto& setup = session.setup();
  auto arrays = make_arrays(written.content, setup.grid, setup.tiling, session.rank(), 1, Purpose::read);
  for (auto& array : arrays)
    array.spoil();
  Phases unused;
  Run run{.comm = written.comm,
          .rank = written.rank,
          .ranks = written.ranks,
          .path = written.path,
          .format = written.format,
          .records = written.records,
          .reads = true,
          .in_place = true,
          .content = written.content,
          .settings = written.settings,
          .hints = written.hints,
          .arrays = arrays,
          .phases = unused};
  std::int64_t wrong = 0;
  const auto method = entry.make(entry);
  method->prepare(run);
  method->open(run);
  for (std::int64_t r = -1; r < run.records; ++r) {
    method->get(run, r);
    std::size_t at = 0;
    for (const auto& array : arrays) {
      if (array.field().record != (r >= 0)) continue;
      wrong += r < 0 ? array.wrong_cells(0, 0) : different(array, expected.of(r, at++));
    }
  }
  method->close(run);
  return wrong;
}

}  // namespace

void Expected::remember(const std::vector<LocalField>& arrays) {
  auto& fields = records_.emplace_back();
  for (const auto& array : arrays) {
    if (!array.field().record) continue;
    fields.emplace_back(static_cast<std::size_t>(array.owned_bytes()));
    array.pack(0, fields.back().data());
  }
}

void inject_error_in_last(const Run& run, const Expected& expected) {
  const auto& array = run.arrays.back();
  const auto size = size_of(array.field().type);
  const auto& values = expected.last();
  const auto bytes = std::min<std::int64_t>(8, array.tile().columns) * size;
  inject_error_in(run.path, {values.begin(), values.begin() + bytes}, size);
}

std::int64_t wrong_in_run(Session& session, const MethodEntry& entry, Run& run, const Expected& expected) {
  const auto pieces = pieces_of(run.path);
  if (pieces.empty()) throw std::runtime_error("there is no file " + run.path);
  if (method_has_own_file(run) || !open_plain(pieces.front()))
    return wrong_by_reading(session, entry, run, expected);
  std::int64_t wrong = 0, cells = 0;
  for (const auto& array : run.arrays)
    cells += array.owned() * (array.field().record ? run.records : 1);
  for (const auto& piece : pieces) {
    const auto file = open_plain(piece);
    std::size_t at = 0;
    for (const auto& array : run.arrays) {
      const auto part = common_part(array.tile(), Piece::box_of(*file, run.content, array.field()));
      const std::size_t field = array.field().record ? at++ : 0;
      if (part.empty()) continue;
      for (std::int64_t r = 0; r < (array.field().record ? run.records : 1); ++r) {
        wrong += wrong_part(*file, run.content, array, part, r,
                            array.field().record ? &expected.of(r, field) : nullptr);
        cells -= part.cells() * array.field().levels();
      }
    }
  }
  wrong += std::abs(cells);
  if (session.rank() == 0) wrong += wrong_replicated(*open_plain(pieces.front()), run);
  return wrong + wrong_switches(session, run);
}

}  // namespace shoal::bench
