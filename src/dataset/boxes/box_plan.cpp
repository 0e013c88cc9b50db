// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/boxes/box_plan.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <span>

namespace shoal {

namespace {

// Boxes of a rank, one after another in its call, in a range of records that is the same for all pieces of a
// field.
struct Piece {
  int rank = 0;
  FieldBoxes own;
  std::int64_t record = 0, records = 1;
  const BoxList* boxes = nullptr;
};

// One of them.
struct RankBox {
  int rank = 0;
  std::size_t piece = 0;
  ListedBox cells;
};

// The dimension behind `lead` in which most boxes begin at places of their own.
int most_places(const BoxList& boxes, int lead) {
  int along = lead;
  std::ptrdiff_t most = 0;
  std::vector<std::int64_t> starts(static_cast<std::size_t>(boxes.count()));
  for (int d = lead; d < boxes.rank(); ++d) {
    for (int i = 0; i < boxes.count(); ++i)
      starts[static_cast<std::size_t>(i)] = boxes[i].start(d);
    std::sort(starts.begin(), starts.end());
    const auto n = std::unique(starts.begin(), starts.end()) - starts.begin();
    if (n > most) along = d;
    most = std::max(most, n);
  }
  return along;
}

// Calls work(a, b), a < b, for each two boxes whose surroundings meet. Those that lie at one place of the
// first dimensions, in which none has more than one cell, meet others of this place alone: along the
// dimension in which most begin at places of their own, in the order of these.
template <class Work>
void for_each_meeting(const BoxList& boxes, Work&& work) {
  if (boxes.count() < 2) return;
  std::vector<int> order(static_cast<std::size_t>(boxes.count()));
  std::iota(order.begin(), order.end(), 0);
  int lead = 0;
  while (lead < boxes.rank() - 1 &&
         std::all_of(order.begin(), order.end(), [&](int i) { return boxes[i].count(lead) == 1; }))
    ++lead;
  const int along = most_places(boxes, lead);
  const auto compare = [&](int a, int b) {
    for (int d = 0; d < lead; ++d)
      if (boxes[a].start(d) != boxes[b].start(d)) return boxes[a].start(d) < boxes[b].start(d) ? -1 : 1;
    return 0;
  };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const int place = compare(a, b);
    return place != 0 ? place < 0 : boxes[a].start(along) < boxes[b].start(along);
  });
  std::vector<int> open;  // that may meet what comes
  for (const int i : order) {
    if (!open.empty() && compare(open.back(), i) != 0) open.clear();
    std::erase_if(open, [&](int j) { return boxes[j].end(along) <= boxes[i].start(along); });
    for (const int j : open)
      if (boxes[i].meets(boxes[j])) work(std::min(i, j), std::max(i, j));
    open.push_back(i);
  }
}

// Pieces by variable, each with records that follow each other.
std::map<int, std::vector<Piece>> pieces_of(const std::vector<CallBoxes>& ranks) {
  std::map<int, std::vector<Piece>> out;
  for (int r = 0; r < static_cast<int>(ranks.size()); ++r) {
    const CallBoxes& boxes = ranks[static_cast<std::size_t>(r)];
    for (const auto& part : boxes.parts()) {
      const auto& of = part.of;
      const BoxList& list = boxes.list(part);
      auto& pieces = out[of.variable];
      if (of.record_step == 1 || of.records == 1) {
        pieces.push_back({r, {part.first, list.count(), 0}, of.record, of.records, &list});
        continue;
      }
      for (std::int64_t i = 0; i < of.records; ++i)
        pieces.push_back({r, {part.first, list.count(), i}, of.record + i * of.record_step, 1, &list});
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

  void add(int variable, const std::vector<Piece>& pieces);
  std::vector<BoxPlanPart> take() { return std::move(parts_); }

 private:
  using Boxes = std::vector<RankBox>;
  // What was found for pieces: the field, but for its variable and records, and which have cells in it.
  struct Found {
    BoxField field;
    std::vector<std::size_t> pieces;
  };

  TwoHashes hash_of(int variable, const std::vector<Piece>& pieces) const;
  Found find(int variable, const std::vector<Piece>& pieces);
  bool is_one_for_all(const Boxes& boxes) const;
  BoxField whole(const Boxes& boxes) const;
  BoxField cut(int variable, Boxes& boxes);
  Dims length_of(int variable, const Boxes& boxes) const;
  bool make_disjoint(const Dims& global, int lead, Boxes& boxes) const;
  bool overlap(const Dims& global, int lead, const Boxes& boxes) const;
  int number_of(const NewCut& common, int lead, const Boxes& boxes);
  void add_others(const Boxes& boxes, const BoxList& cells);
  void add_field(const BoxField& field, const std::vector<Piece>& pieces, const Found& found);

  const Schema& schema_;
  bool writes_;
  CutNumbers& known_;
  Numbered<BoxPlanPart> parts_;
  std::map<TwoHashes, Found> found_;
};

// Of all that `find` looks at.
TwoHashes Planner::hash_of(int variable, const std::vector<Piece>& pieces) const {
  return two_hashes([&](Hash& hash) {
    hash.add(schema_.variable(variable).type == Type::string ? 1 : 0);
    hash.add(Box::whole(tail(schema_.shape(variable), pieces.front().boxes->rank())));
    for (const auto& piece : pieces) {
      hash.add(static_cast<std::uint64_t>(piece.rank));
      hash.add(reinterpret_cast<std::uintptr_t>(piece.boxes));  // a rank has each list once
    }
  });
}

void Planner::add(int variable, const std::vector<Piece>& pieces) {
  const TwoHashes hash = hash_of(variable, pieces);
  auto at = found_.find(hash);
  if (at == found_.end()) at = found_.emplace(hash, find(variable, pieces)).first;
  BoxField field = at->second.field;
  field.variable = variable;
  field.record = pieces.front().record;
  field.records = schema_.has_record(variable) ? pieces.front().records : 0;
  add_field(field, pieces, at->second);
}

Planner::Found Planner::find(int variable, const std::vector<Piece>& pieces) {
  Boxes boxes;
  for (std::size_t p = 0; p < pieces.size(); ++p)
    for (int i = 0; i < pieces[p].boxes->count(); ++i)
      boxes.push_back({pieces[p].rank, p, (*pieces[p].boxes)[i]});
  const bool is_string = schema_.variable(variable).type == Type::string;
  const bool is_whole =
      boxes.front().cells.rank() == 0 || ((is_string || parts_.count() > 1) && is_one_for_all(boxes));
  Found found{is_whole ? whole(boxes) : cut(variable, boxes), {}};
  for (const auto& box : boxes)
    if (found.pieces.empty() || found.pieces.back() != box.piece) found.pieces.push_back(box.piece);
  return found;
}

// Do all ranks have the same box?
bool Planner::is_one_for_all(const Boxes& boxes) const {
  const int ranks = parts_.count();
  const ListedBox& front = boxes.front().cells;
  if (static_cast<int>(boxes.size()) != ranks || !front.is_dense()) return false;
  for (int r = 0; r < ranks; ++r) {
    const RankBox& box = boxes[static_cast<std::size_t>(r)];
    if (box.rank != r) return false;
    for (int d = 0; d < front.rank(); ++d)
      if (!box.cells.is_like(front, d)) return false;
  }
  return true;
}

// Of several boxes of the owner the last one counts.
BoxField Planner::whole(const Boxes& boxes) const {
  BoxField field;
  field.kind = BoxField::Kind::whole;
  field.owner = boxes.front().rank;
  field.section = boxes.front().cells.around();
  return field;
}

Dims Planner::length_of(int variable, const Boxes& boxes) const {
  const int rank = boxes.front().cells.rank();
  Dims length = tail(schema_.shape(variable), rank);
  for (const auto& box : boxes)
    for (int d = 0; d < rank; ++d)
      length[d] = std::max(length[d], box.cells.end(d));
  return length;
}

// Dimensions in which all boxes are alike are a section of the field, and the others are cut.
BoxField Planner::cut(int variable, Boxes& boxes) {
  const ListedBox& front = boxes.front().cells;
  const auto alike = [&](int d) {
    return front.stride(d) == 1 && std::all_of(boxes.begin(), boxes.end(), [&](const RankBox& box) {
             return box.cells.is_like(front, d);
           });
  };
  int lead = 0;
  while (lead < front.rank() - 1 && alike(lead))
    ++lead;
  const Dims length = length_of(variable, boxes);
  BoxField field;
  field.section = Box::whole(length);
  for (int d = 0; d < lead; ++d) {
    field.section.first[d] = front.start(d);
    field.section.count[d] = front.count(d);
  }
  NewCut cut;
  cut.global = tail(length, length.size() - lead);
  cut.is_map = !make_disjoint(cut.global, lead, boxes);
  if (cut.is_map) {
    const int most = cut.global.size() - 1;
    const auto is_uncut = [&](int d) {
      return std::all_of(boxes.begin(), boxes.end(), [&](const RankBox& box) {
        return box.cells.count(d) == length[d] && box.cells.start(d) == 0;
      });
    };
    while (cut.uncut_dims < most && is_uncut(length.size() - 1 - cut.uncut_dims))
      ++cut.uncut_dims;
  }
  field.cut = number_of(cut, lead, boxes);
  return field;
}

// Is the field cut into one tile a rank, at most? A rank's box within that of a rank before it has no cells
// to write.
bool Planner::make_disjoint(const Dims& global, int lead, Boxes& boxes) const {
  for (std::size_t i = 0; i < boxes.size(); ++i)
    if (!boxes[i].cells.is_dense() || (i > 0 && boxes[i].rank == boxes[i - 1].rank)) return false;
  if (!overlap(global, lead, boxes)) return true;
  if (!writes_) return false;
  Boxes left;
  for (const auto& box : boxes)
    if (std::none_of(left.begin(), left.end(), [&](const RankBox& before) {
          return before.cells.around().contains(box.cells.around());
        }))
      left.push_back(box);
  if (left.size() == boxes.size() || overlap(global, lead, left)) return false;
  boxes = std::move(left);
  return true;
}

bool Planner::overlap(const Dims& global, int lead, const Boxes& boxes) const {
  const Box none{Dims(global.size()), Dims(global.size())};
  Numbered<Box> tiles(parts_.count(), none);
  for (const auto& box : boxes)
    tiles[box.rank] = box.cells.box().from(lead).around();
  std::vector<std::int64_t> numbers;
  for (const auto& tile : tiles)
    for (const auto n : numbers_of_tile(tile))
      numbers.push_back(n);
  const Status status = caught([&] { unowned_by_tiles(global, std::move(numbers)); });
  if (status.ok()) return false;
  if (status.code != Code::overlap) throw Error(status);
  return true;
}

int Planner::number_of(const NewCut& common, int lead, const Boxes& boxes) {
  BoxList cells(common.global.size());
  for (const auto& box : boxes)
    cells.push_back(box.cells, lead);
  const TwoHashes hash = two_hashes([&](Hash& all) {
    all.add(Box::whole(common.global));
    all.add(std::uint64_t{common.is_map ? 1U : 0U} + (common.is_map && writes_ ? 2 : 0));
    for (const auto& box : boxes)
      all.add(static_cast<std::uint64_t>(box.rank));
    cells.add_to(all);
  });
  const int next = static_cast<int>(known_.size());
  const auto [at, is_new] = known_.try_emplace(hash, next);
  if (!is_new) return at->second;
  for (auto& part : parts_) {
    part.new_cuts.push_back(common);
    part.new_cuts.back().mine = part.new_cuts.back().others = BoxList(cells.rank());
  }
  for (int i = 0; i < cells.count(); ++i)
    parts_[boxes[static_cast<std::size_t>(i)].rank].new_cuts.back().mine.push_back(cells[i]);
  if (common.is_map && writes_) add_others(boxes, cells);
  return next;
}

// Those of ranks before each box's that may have cells of it.
void Planner::add_others(const Boxes& boxes, const BoxList& cells) {
  const auto rank_of = [&](int box) { return boxes[static_cast<std::size_t>(box)].rank; };
  std::vector<std::pair<int, int>> met;  // a rank, and a box
  for_each_meeting(cells, [&](int before, int box) {
    if (rank_of(before) != rank_of(box)) met.emplace_back(rank_of(box), before);
  });
  std::sort(met.begin(), met.end());
  met.erase(std::unique(met.begin(), met.end()), met.end());
  for (const auto& [rank, box] : met)
    parts_[rank].new_cuts.back().others.push_back(cells[box]);
}

void Planner::add_field(const BoxField& field, const std::vector<Piece>& pieces, const Found& found) {
  for (auto& part : parts_) {
    part.fields.push_back(field);
    part.mine.emplace_back();
  }
  for (const std::size_t p : found.pieces) {
    auto& mine = parts_[pieces[p].rank].mine.back();
    FieldBoxes own = pieces[p].own;
    if (field.kind == BoxField::Kind::cut) {
      mine.push_back(own);
      continue;
    }
    for (int i = 0; i < pieces[p].own.count; ++i)  // each is the whole
      mine.push_back({own.first + i, 1, own.record});
  }
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

// The cells of a box in an array of the shape, row by row.
void append_cells(const StridedBox& box, const Dims& shape, std::vector<std::int64_t>& cells) {
  if (box.empty()) return;
  const Dims strides = row_major_strides(shape);
  const int last = box.rank() - 1;
  Box rows = Box::whole(box.count);
  rows.count[last] = 1;
  for_each_index(rows, [&](const Dims& row) {
    std::int64_t cell = 0;
    for (int d = 0; d <= last; ++d)
      cell += (box.start[d] + row[d] * box.stride[d]) * strides[d];
    for (std::int64_t i = 0; i < box.count[last]; ++i, cell += box.stride[last])
      cells.push_back(cell);
  });
}

}  // namespace

std::vector<BoxPlanPart> plan_boxes(const Schema& schema, Direction direction,
                                    const std::vector<CallBoxes>& ranks, CutNumbers& known) {
  Planner planner(schema, direction, static_cast<int>(ranks.size()), known);
  for (auto& [variable, pieces] : pieces_of(ranks))
    for (const auto& group : by_records(std::move(pieces)))
      planner.add(variable, group);
  return planner.take();
}

std::vector<std::int64_t> listed_cells(const NewCut& cut, Direction direction) {
  const int cut_dims = cut.global.size() - cut.uncut_dims;
  const Dims shape(std::span(cut.global.begin(), cut.global.begin() + cut_dims));
  std::vector<std::int64_t> cells;
  BoxList boxes(cut_dims);  // of this rank, then the others'
  std::vector<std::size_t> begins;
  for (int i = 0; i < cut.mine.count(); ++i) {
    const StridedBox box = cut.mine[i].box().before(cut_dims);
    boxes.push_back(box);
    begins.push_back(cells.size());
    append_cells(box, shape, cells);
  }
  if (direction == Direction::from_file) return cells;
  for (int i = 0; i < cut.others.count(); ++i)
    boxes.push_back(cut.others[i].box().before(cut_dims));
  for_each_meeting(boxes, [&](int box, int later) {
    if (box >= cut.mine.count()) return;
    for_each_common(boxes[box].box(), boxes[later].box(), [&](std::int64_t position) {
      cells[begins[static_cast<std::size_t>(box)] + static_cast<std::size_t>(position)] = k_hole;
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
    out.put(field.section);
    out.put(mine[i]);
  }
  out.put(static_cast<std::uint64_t>(new_cuts.size()));
  for (const auto& cut : new_cuts) {
    out.put(cut.global);
    out.put(cut.is_map);
    out.put(cut.uncut_dims);
    cut.mine.pack(out);
    cut.others.pack(out);
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
    in.get(field.section);
    in.get(part.mine[i]);
  }
  in.get(n);
  part.new_cuts.resize(n);
  for (auto& cut : part.new_cuts) {
    in.get(cut.global);
    in.get(cut.is_map);
    in.get(cut.uncut_dims);
    cut.mine.unpack(in);
    cut.others.unpack(in);
  }
  return part;
}

}  // namespace shoal
