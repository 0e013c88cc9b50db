// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/boxes/box_plan.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

namespace shoal {

namespace {

// A box of a rank in a range of records that is the same for all pieces of a field.
struct Piece {
  int rank = 0;
  FieldBox own;
  std::int64_t record = 0, records = 1;
  const StridedBox* cells = nullptr;  // of the call's box
};

// Calls work(a, b), a < b, for each two boxes whose surroundings meet: along the dimension in which most of
// them begin at places of their own, in the order of these.
template <class Work>
void for_each_meeting(const std::vector<StridedBox>& boxes, Work&& work) {
  if (boxes.size() < 2) return;
  std::vector<Box> around;
  for (const auto& box : boxes)
    around.push_back(box.around());
  std::vector<std::size_t> order(boxes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  int along = 0;
  std::size_t most = 0;
  for (int d = 0; d < around.front().rank(); ++d) {
    std::vector<std::int64_t> starts;
    for (const auto& box : around)
      starts.push_back(box.first[d]);
    std::sort(starts.begin(), starts.end());
    const auto n = static_cast<std::size_t>(std::unique(starts.begin(), starts.end()) - starts.begin());
    if (n > most) along = d;
    most = std::max(most, n);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return around[a].first[along] < around[b].first[along];
  });
  std::vector<std::size_t> open;  // that may meet what comes
  for (const std::size_t i : order) {
    std::erase_if(open, [&](std::size_t j) { return around[j].end(along) <= around[i].first[along]; });
    for (const std::size_t j : open)
      if (!intersection(around[i], around[j]).empty()) work(std::min(i, j), std::max(i, j));
    open.push_back(i);
  }
}

bool same_as(const StridedBox& a, const StridedBox& b, int d) {
  return a.start[d] == b.start[d] && a.count[d] == b.count[d] && a.stride[d] == b.stride[d];
}

// Pieces by variable, each with records that follow each other.
std::map<int, std::vector<Piece>> pieces_of(const std::vector<std::vector<CallBox>>& ranks) {
  std::map<int, std::vector<Piece>> out;
  for (int r = 0; r < static_cast<int>(ranks.size()); ++r) {
    const auto& boxes = ranks[static_cast<std::size_t>(r)];
    for (int b = 0; b < static_cast<int>(boxes.size()); ++b) {
      const CallBox& box = boxes[static_cast<std::size_t>(b)];
      if (box.records == 0 || box.cells.cells() == 0) continue;
      auto& pieces = out[box.variable];
      if (box.record_step == 1 || box.records == 1) {
        pieces.push_back({r, {b, 0}, box.record, box.records, &box.cells});
        continue;
      }
      for (std::int64_t i = 0; i < box.records; ++i)
        pieces.push_back({r, {b, i}, box.record + i * box.record_step, 1, &box.cells});
    }
  }
  return out;
}

// The same pieces in groups of equal records, in their order: where records of two begin or end, both are
// cut.
std::vector<std::vector<Piece>> by_records(std::vector<Piece> pieces) {
  const Piece& front = pieces.front();
  if (std::all_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
        return piece.record == front.record && piece.records == front.records;
      })) {
    std::vector<std::vector<Piece>> one;
    one.push_back(std::move(pieces));
    return one;
  }
  std::set<std::int64_t> ends;
  for (const auto& piece : pieces)
    ends.insert({piece.record, piece.record + piece.records});
  std::map<std::int64_t, std::vector<Piece>> groups;
  for (const auto& piece : pieces) {
    const std::int64_t end = piece.record + piece.records;
    for (auto at = ends.find(piece.record); *at != end; ++at) {
      Piece part = piece;
      part.own.record += *at - piece.record;
      part.record = *at;
      part.records = *std::next(at) - *at;
      groups[*at].push_back(part);
    }
  }
  std::vector<std::vector<Piece>> out;
  for (auto& [record, group] : groups)
    out.push_back(std::move(group));
  return out;
}

class Planner {
 public:
  Planner(const Schema& schema, Direction direction, int ranks, CutNumbers& known)
      : schema_(schema), writes_(direction == Direction::to_file), known_(known), parts_(ranks) {}

  void add(int variable, std::vector<Piece> pieces);
  std::vector<BoxPlanPart> take() { return std::move(parts_); }

 private:
  bool is_one_for_all(const std::vector<Piece>& pieces) const;
  void add_whole(BoxField field, const std::vector<Piece>& pieces);
  void add_cut(BoxField field, std::vector<Piece> pieces);
  Dims length_of(int variable, const std::vector<Piece>& pieces) const;
  bool make_disjoint(const Dims& global, int lead, std::vector<Piece>& pieces) const;
  bool overlap(const Dims& global, int lead, const std::vector<Piece>& pieces) const;
  int number_of(const NewCut& common, int lead, const std::vector<Piece>& pieces);
  void add_field(const BoxField& field, const std::vector<Piece>& pieces);

  const Schema& schema_;
  bool writes_;
  CutNumbers& known_;
  Numbered<BoxPlanPart> parts_;
};

void Planner::add(int variable, std::vector<Piece> pieces) {
  BoxField field;
  field.variable = variable;
  field.record = pieces.front().record;
  field.records = schema_.has_record(variable) ? pieces.front().records : 0;
  const bool is_string = schema_.variable(variable).type == Type::string;
  if (pieces.front().cells->rank() == 0 || ((is_string || parts_.count() > 1) && is_one_for_all(pieces)))
    add_whole(field, pieces);
  else
    add_cut(field, std::move(pieces));
}

// Do all ranks have the same box?
bool Planner::is_one_for_all(const std::vector<Piece>& pieces) const {
  const int ranks = parts_.count();
  if (static_cast<int>(pieces.size()) != ranks || !pieces.front().cells->is_dense()) return false;
  for (int r = 0; r < ranks; ++r) {
    const Piece& piece = pieces[static_cast<std::size_t>(r)];
    if (piece.rank != r || !(*piece.cells == *pieces.front().cells)) return false;
  }
  return true;
}

// Of several boxes of the owner the last one counts.
void Planner::add_whole(BoxField field, const std::vector<Piece>& pieces) {
  field.kind = BoxField::Kind::whole;
  field.owner = pieces.front().rank;
  field.section = pieces.front().cells->around();
  add_field(field, pieces);
}

Dims Planner::length_of(int variable, const std::vector<Piece>& pieces) const {
  const int rank = pieces.front().cells->rank();
  Dims length = tail(schema_.shape(variable), rank);
  for (const auto& piece : pieces)
    for (int d = 0; d < rank; ++d)
      length[d] = std::max(length[d], piece.cells->end(d));
  return length;
}

// Dimensions in which all boxes are alike are a section of the field, and the others are cut.
void Planner::add_cut(BoxField field, std::vector<Piece> pieces) {
  const StridedBox& front = *pieces.front().cells;
  const auto alike = [&](int d) {
    return front.stride[d] == 1 && std::all_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
             return same_as(*piece.cells, front, d);
           });
  };
  int lead = 0;
  while (lead < front.rank() - 1 && alike(lead))
    ++lead;
  const Dims length = length_of(field.variable, pieces);
  field.section = Box::whole(length);
  for (int d = 0; d < lead; ++d) {
    field.section.first[d] = front.start[d];
    field.section.count[d] = front.count[d];
  }
  NewCut cut;
  cut.global = tail(length, length.size() - lead);
  cut.is_map = !make_disjoint(cut.global, lead, pieces);
  if (cut.is_map) {
    const int most = cut.global.size() - 1;
    const auto is_uncut = [&](int d) {
      return std::all_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
        return piece.cells->count[d] == length[d] && piece.cells->start[d] == 0;
      });
    };
    while (cut.uncut_dims < most && is_uncut(length.size() - 1 - cut.uncut_dims))
      ++cut.uncut_dims;
  }
  field.cut = number_of(cut, lead, pieces);
  add_field(field, pieces);
}

// Is the field cut into one tile a rank, at most? A rank's box within that of a rank before it has no cells
// to write.
bool Planner::make_disjoint(const Dims& global, int lead, std::vector<Piece>& pieces) const {
  for (std::size_t i = 0; i < pieces.size(); ++i)
    if (!pieces[i].cells->is_dense() || (i > 0 && pieces[i].rank == pieces[i - 1].rank)) return false;
  if (!overlap(global, lead, pieces)) return true;
  if (!writes_) return false;
  std::vector<Piece> left;
  for (auto& piece : pieces)
    if (std::none_of(left.begin(), left.end(), [&](const Piece& before) {
          return before.cells->around().contains(piece.cells->around());
        }))
      left.push_back(piece);
  if (left.size() == pieces.size() || overlap(global, lead, left)) return false;
  pieces = std::move(left);
  return true;
}

bool Planner::overlap(const Dims& global, int lead, const std::vector<Piece>& pieces) const {
  const Box none{Dims(global.size()), Dims(global.size())};
  Numbered<Box> tiles(parts_.count(), none);
  for (const auto& piece : pieces)
    tiles[piece.rank] = piece.cells->from(lead).around();
  std::vector<std::int64_t> numbers;
  for (const auto& tile : tiles)
    for (const auto n : numbers_of_tile(tile))
      numbers.push_back(n);
  const Status status = caught([&] { unowned_by_tiles(global, std::move(numbers)); });
  if (status.ok()) return false;
  if (status.code != Code::overlap) throw Error(status);
  return true;
}

// Those of ranks before each piece's that may have cells of it.
int Planner::number_of(const NewCut& common, int lead, const std::vector<Piece>& pieces) {
  Hash first, second;
  second.add(1);
  const auto add = [&](const auto& value) {
    for (Hash* const hash : {&first, &second})
      hash->add(value);
  };
  add(Box::whole(common.global));
  add(std::uint64_t{common.is_map ? 1U : 0U} + (common.is_map && writes_ ? 2 : 0));
  for (const auto& piece : pieces) {
    add(static_cast<std::uint64_t>(piece.rank));
    const StridedBox cells = piece.cells->from(lead);
    for (Hash* const hash : {&first, &second})
      shoal::add(*hash, cells);
  }
  const int next = static_cast<int>(known_.size());
  const auto [at, is_new] = known_.try_emplace({first.value(), second.value()}, next);
  if (!is_new) return at->second;
  for (auto& part : parts_)
    part.new_cuts.push_back(common);
  std::vector<StridedBox> cells;
  cells.reserve(pieces.size());
  for (const auto& piece : pieces) {
    cells.push_back(piece.cells->from(lead));
    parts_[piece.rank].new_cuts.back().mine.push_back(cells.back());
  }
  if (common.is_map && writes_)
    for_each_meeting(cells, [&](std::size_t before, std::size_t piece) {
      if (pieces[before].rank == pieces[piece].rank) return;
      auto& others = parts_[pieces[piece].rank].new_cuts.back().others;
      if (std::find(others.begin(), others.end(), cells[before]) == others.end())
        others.push_back(cells[before]);
    });
  return next;
}

void Planner::add_field(const BoxField& field, const std::vector<Piece>& pieces) {
  for (auto& part : parts_) {
    part.fields.push_back(field);
    part.mine.emplace_back();
  }
  for (const auto& piece : pieces)
    parts_[piece.rank].mine.back().push_back(piece.own);
}

// The places along a dimension of a box, counted in it, that another box has too.
std::vector<std::int64_t> common_places(const StridedBox& box, const StridedBox& other, int d) {
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < box.count[d]; ++i) {
    const std::int64_t from = box.start[d] + i * box.stride[d] - other.start[d];
    if (from >= 0 && from % other.stride[d] == 0 && from / other.stride[d] < other.count[d])
      places.push_back(i);
  }
  return places;
}

// Calls work with the position of each cell that both have, in a row-major array of the box's cells.
template <class Work>
void for_each_common(const StridedBox& box, const StridedBox& other, Work&& work) {
  const int rank = box.rank();
  const Dims strides = row_major_strides(box.count);
  std::vector<std::vector<std::int64_t>> places;
  for (int d = 0; d < rank; ++d) {
    places.push_back(common_places(box, other, d));
    if (places.back().empty()) return;
  }
  Numbered<std::size_t> at(rank);
  while (true) {
    std::int64_t position = 0;
    for (int d = 0; d < rank; ++d)
      position += places[static_cast<std::size_t>(d)][at[d]] * strides[d];
    work(position);
    int d = rank - 1;
    while (d >= 0 && ++at[d] == places[static_cast<std::size_t>(d)].size())
      at[d--] = 0;
    if (d < 0) return;
  }
}

void append_cells(const StridedBox& box, const Dims& shape, std::vector<std::int64_t>& cells) {
  const Dims strides = row_major_strides(shape);
  const std::int64_t n = box.cells();
  for (std::int64_t i = 0; i < n; ++i) {
    const Dims place = unravel(i, box.count);
    std::int64_t cell = 0;
    for (int d = 0; d < box.rank(); ++d)
      cell += (box.start[d] + place[d] * box.stride[d]) * strides[d];
    cells.push_back(cell);
  }
}

void pack(ByteWriter& out, const std::vector<StridedBox>& shapes) {
  out.put(static_cast<std::uint64_t>(shapes.size()));
  for (const auto& shape : shapes)
    shoal::pack(out, shape);
}

std::vector<StridedBox> unpack_boxes(ByteReader& in) {
  std::uint64_t n = 0;
  in.get(n);
  std::vector<StridedBox> shapes;
  for (std::uint64_t i = 0; i < n; ++i)
    shapes.push_back(unpack_box(in));
  return shapes;
}

}  // namespace

std::vector<BoxPlanPart> plan_boxes(const Schema& schema, Direction direction,
                                    const std::vector<std::vector<CallBox>>& ranks, CutNumbers& known) {
  Planner planner(schema, direction, static_cast<int>(ranks.size()), known);
  for (auto& [variable, pieces] : pieces_of(ranks))
    for (auto& group : by_records(std::move(pieces)))
      planner.add(variable, std::move(group));
  return planner.take();
}

std::vector<std::int64_t> listed_cells(const NewCut& cut, Direction direction) {
  const int cut_dims = cut.global.size() - cut.uncut_dims;
  const Dims shape(std::span(cut.global.begin(), cut.global.begin() + cut_dims));
  std::vector<std::int64_t> cells;
  std::vector<StridedBox> boxes;  // of this rank, then the others'
  std::vector<std::size_t> begins;
  for (const auto& mine : cut.mine) {
    boxes.push_back(mine.before(cut_dims));
    begins.push_back(cells.size());
    append_cells(boxes.back(), shape, cells);
  }
  if (direction == Direction::from_file) return cells;
  for (const auto& other : cut.others)
    boxes.push_back(other.before(cut_dims));
  for_each_meeting(boxes, [&](std::size_t box, std::size_t later) {
    if (box >= begins.size()) return;
    for_each_common(boxes[box], boxes[later], [&](std::int64_t position) {
      cells[begins[box] + static_cast<std::size_t>(position)] = k_hole;
    });
  });
  return cells;
}

Bytes BoxPlanPart::packed() const {
  ByteWriter out;
  out.put(static_cast<std::uint64_t>(fields.size()));
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const BoxField& field = fields[i];
    out.put(field.kind);
    out.put(field.variable);
    out.put(field.record);
    out.put(field.records);
    out.put(field.owner);
    out.put(field.cut);
    shoal::pack(out, field.section.first);
    shoal::pack(out, field.section.count);
    out.put(mine[i]);
  }
  out.put(static_cast<std::uint64_t>(new_cuts.size()));
  for (const auto& cut : new_cuts) {
    shoal::pack(out, cut.global);
    out.put(cut.is_map);
    out.put(cut.uncut_dims);
    pack(out, cut.mine);
    pack(out, cut.others);
  }
  return out.take();
}

BoxPlanPart BoxPlanPart::unpacked(const Bytes& bytes) {
  BoxPlanPart part;
  ByteReader in(bytes);
  std::uint64_t n = 0;
  in.get(n);
  part.fields.resize(n);
  part.mine.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    BoxField& field = part.fields[i];
    in.get(field.kind);
    in.get(field.variable);
    in.get(field.record);
    in.get(field.records);
    in.get(field.owner);
    in.get(field.cut);
    field.section.first = unpack_dims(in);
    field.section.count = unpack_dims(in);
    in.get(part.mine[i]);
  }
  in.get(n);
  part.new_cuts.resize(n);
  for (auto& cut : part.new_cuts) {
    cut.global = unpack_dims(in);
    in.get(cut.is_map);
    in.get(cut.uncut_dims);
    cut.mine = unpack_boxes(in);
    cut.others = unpack_boxes(in);
  }
  return part;
}

}  // namespace shoal
