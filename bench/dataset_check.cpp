// SPDX-License-Identifier: BSD-3-Clause
#include "dataset_check.hpp"

#include <algorithm>
#include <stdexcept>

#include "arrays.hpp"
#include "files.hpp"

namespace shoal::bench {

namespace {

constexpr std::int64_t k_slab = std::int64_t{16} << 20;

std::unique_ptr<PlainFile> opened(const std::string& path) {
  auto file = open_plain(path);
  if (!file) throw std::runtime_error(path + " cannot be checked: this build has no netCDF-C");
  return file;
}

bool overlap(const Tile& a, const Tile& b) {
  const auto intersect = [](std::int64_t f, std::int64_t n, std::int64_t g, std::int64_t m) {
    return f < g + m && g < f + n;
  };
  return intersect(a.first_row, a.rows, b.first_row, b.rows) &&
         intersect(a.first_column, a.columns, b.first_column, b.columns);
}

// Cells of distributed fields that are in no file or in two; by headers alone.
std::int64_t wrong_cover(const std::vector<std::string>& pieces, const Content& content) {
  std::vector<std::vector<Tile>> boxes(content.fields.size());
  for (const auto& piece : pieces) {
    const auto file = opened(piece);
    for (std::size_t i = 0; i < boxes.size(); ++i)
      if (content.fields[i].distributed) boxes[i].push_back(Piece::box_of(*file, content, content.fields[i]));
  }
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    if (!content.fields[i].distributed) continue;
    std::int64_t cells = 0;
    for (std::size_t a = 0; a < boxes[i].size(); ++a) {
      cells += boxes[i][a].cells();
      for (std::size_t b = 0; b < a; ++b)
        wrong += overlap(boxes[i][a], boxes[i][b]);
    }
    wrong += cells != content.fields[i].rows() * content.fields[i].columns();
  }
  return wrong;
}

// One of `shares` ranks that look at a file together.
class PieceCheck {
 public:
  PieceCheck(const std::string& path, const Content& content, std::int64_t records, int share, int shares)
      : file_(opened(path)), content_(content), records_(records), share_(share), shares_(shares) {}

  std::int64_t wrong() {
    std::int64_t wrong = share_ == 0 ? wrong_dimensions() : 0;
    for (const auto& field : content_.fields) {
      PlainVariable found;
      if (!file_->find(field.name, found)) {
        // Cells of distributed fields are looked for by wrong_cover.
        wrong += share_ == 0 && !field.distributed && dims_are_there(field);
        continue;
      }
      if (found.type != static_cast<int>(field.type) || found.dims != field.dims) {
        wrong += share_ == 0;
        continue;
      }
      for (std::int64_t r = 0; r < (field.record ? records_ : 1); ++r) {
        if (field.distributed)
          wrong += wrong_cells(field, r);
        else if (share_ == 0)
          wrong += wrong_replicated(field, r);
      }
    }
    return wrong;
  }

 private:
  std::int64_t wrong_dimensions() {
    std::int64_t wrong = 0;
    for (const auto& d : content_.dimensions) {
      if (d.length == 0)
        wrong += file_->length(d.name) != records_;
      else
        wrong += Piece::part_of(*file_, content_, d.name).wrong;
    }
    return wrong;
  }

  bool dims_are_there(const Field& field) {
    return std::all_of(field.dims.begin(), field.dims.end(),
                       [&](const std::string& d) { return file_->length(d) >= 0; });
  }

  // Whole rows where there are several, so that the share is a run of the file.
  Tile my_share(Tile box) const {
    const auto cut = [&](std::int64_t& first, std::int64_t& count) {
      const auto begin = count * share_ / shares_, end = count * (share_ + 1) / shares_;
      first += begin;
      count = end - begin;
    };
    if (box.rows > 1)
      cut(box.first_row, box.rows);
    else
      cut(box.first_column, box.columns);
    return box;
  }

  std::int64_t wrong_cells(const Field& field, std::int64_t record) {
    const auto whole = Piece::box_of(*file_, content_, field);
    const auto box = my_share(whole);
    if (box.empty()) return 0;
    const auto level_bytes = box.cells() * size_of(field.type);
    const auto leading = field.shape.size() - static_cast<std::size_t>(field.cut);
    // Fields of one level, or of levels in more dimensions than one, are read in one go.
    const auto step =
        leading == 1 ? std::clamp<std::int64_t>(k_slab / level_bytes, 1, field.levels()) : field.levels();
    packed_.resize(static_cast<std::size_t>(step * level_bytes));
    std::int64_t wrong = 0;
    for (std::int64_t k = 0; k < field.levels(); k += step) {
      const auto levels = std::min(step, field.levels() - k);
      std::vector<std::int64_t> start, count;
      if (field.record) start.push_back(record), count.push_back(1);
      for (std::size_t d = 0; d < leading; ++d) {
        start.push_back(leading == 1 ? k : 0);
        count.push_back(leading == 1 ? levels : field.shape[d]);
      }
      if (field.cut == 2) start.push_back(box.first_row - whole.first_row), count.push_back(box.rows);
      start.push_back(box.first_column - whole.first_column), count.push_back(box.columns);
      file_->read(field.name, start, count, packed_.data());
      wrong += wrong_in_box(field, box, k + record, levels, packed_.data());
    }
    return wrong;
  }

  // Variables along one dimension have of it what the file has; others are whole in every file.
  std::int64_t wrong_replicated(const Field& field, std::int64_t record) {
    const auto values = replicated_values(field, record);
    std::vector<std::int64_t> start, count = field.shape;
    std::int64_t first = 0, cells = field.elements();
    if (field.shape.size() == 1) {
      const auto part = Piece::part_of(*file_, content_, field.dims.back());
      first = part.first;
      count[0] = cells = part.count;
    }
    start.assign(count.size(), 0);
    if (field.record) start.insert(start.begin(), record), count.insert(count.begin(), 1);
    const auto size = size_of(field.type);
    std::vector<std::byte> found(static_cast<std::size_t>(cells * size));
    file_->read(field.name, start, count, found.data());
    return std::equal(found.begin(), found.end(), values.begin() + first * size) ? 0 : 1;
  }

  std::unique_ptr<PlainFile> file_;
  const Content& content_;
  std::int64_t records_;
  int share_, shares_;
  std::vector<std::byte> packed_;
};

}  // namespace

Piece::Part Piece::part_of(PlainFile& file, const Content& content, const std::string& dimension) {
  const auto whole = content.length_of(dimension);
  Part part{0, file.length(dimension), false};
  PlainVariable axis;
  const bool cut = file.find(dimension, axis);
  const auto reported = cut ? file.numbers(dimension, "domain_decomposition") : std::vector<std::int64_t>{};
  if (reported.empty()) {
    part.wrong = part.count >= 0 && part.count != whole;
    return part;
  }
  part.wrong = reported.size() != 4 || reported[0] != 1 || reported[1] != whole || reported[2] < 1 ||
               reported[3] > whole || reported[3] - reported[2] + 1 != part.count;
  if (!part.wrong) part.first = reported[2] - 1;
  return part;
}

Tile Piece::box_of(PlainFile& file, const Content& content, const Field& field) {
  PlainVariable found;
  if (!file.find(field.name, found)) return {};
  const auto n = field.dims.size();
  const auto along = part_of(file, content, field.dims[n - 1]);
  const auto across = field.cut == 2 ? part_of(file, content, field.dims[n - 2]) : Part{0, 1, false};
  if (along.wrong || across.wrong) return {};
  return {across.first, std::max<std::int64_t>(across.count, 0), along.first,
          std::max<std::int64_t>(along.count, 0)};
}

std::int64_t wrong_in_dataset(MPI_Comm comm, const std::string& path, const Content& content,
                              std::int64_t records) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const auto pieces = pieces_of(path);
  if (pieces.empty()) throw std::runtime_error("there is neither " + path + " nor " + path + ".0000");
  std::int64_t wrong = rank == 0 ? wrong_cover(pieces, content) : 0;
  // Either several files for each rank, or several ranks for each file.
  const int files = static_cast<int>(pieces.size());
  const int shares = std::max(1, ranks / files);
  for (int p = 0; p < files; ++p) {
    const int first = p * shares % (shares == 1 ? ranks : files * shares);
    if (rank >= first && rank < first + shares)
      wrong +=
          PieceCheck(pieces[static_cast<std::size_t>(p)], content, records, rank - first, shares).wrong();
  }
  return wrong;
}

}  // namespace shoal::bench
