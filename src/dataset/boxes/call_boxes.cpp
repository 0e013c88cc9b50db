// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/boxes/call_boxes.hpp"

#include <algorithm>

namespace shoal {

namespace {

std::int64_t counted_from(const CallBoxes::Records& of, std::int64_t base) {
  return of.of_records ? of.record - base : of.record;
}

}  // namespace

void CallBoxes::add(const Records& of, const StridedBox& cells) {
  const int place = count_++;
  if (variables_.empty() || (variables_.back() != of.variable && place_of(of.variable) < 0))
    variables_.push_back(of.variable);
  if (of.records == 0 || cells.empty()) return;
  const bool follows = open_.count() > 0 && of == last_.of && place == last_.first + open_.count() &&
                       open_.rank() == cells.rank();
  if (!follows) {
    end();
    last_ = {of, place, 0};
    if (open_.rank() != cells.rank()) open_ = BoxList(cells.rank());
  }
  open_.push_back(cells);
}

// Most lists are the one before, of another variable.
void CallBoxes::end() {
  if (open_.count() == 0) return;
  if (parts_.empty() || !(list(parts_.back()) == open_)) {
    const auto [at, is_new] = numbers_of_lists_.try_emplace(open_.hashes(), static_cast<int>(lists_.size()));
    if (is_new) lists_.push_back(open_);
    last_.list = at->second;
  } else {
    last_.list = parts_.back().list;
  }
  parts_.push_back(last_);
  open_.clear();
}

Bytes CallBoxes::packed(std::int64_t base) const {
  ByteWriter out;
  pack_number(out, lists_.size());
  for (const auto& boxes : lists_)
    boxes.pack(out);
  pack_number(out, parts_.size());
  int before = 0;
  for (const auto& part : parts_) {
    out.put(part.of.variable);
    out.put(part.of.of_records);
    pack_difference(out, counted_from(part.of, base), 0);
    pack_number(out, static_cast<std::uint64_t>(part.of.records));
    pack_number(out, static_cast<std::uint64_t>(part.of.record_step));
    pack_difference(out, part.first, before);
    pack_number(out, static_cast<std::uint64_t>(part.list));
    before = part.first;
  }
  return out.take();
}

CallBoxes CallBoxes::unpacked(const Bytes& bytes) {
  CallBoxes boxes;
  ByteReader in(bytes);
  boxes.lists_.resize(unpack_number(in));
  for (auto& list : boxes.lists_)
    list.unpack(in);
  boxes.parts_.resize(unpack_number(in));
  std::int64_t before = 0;
  for (auto& part : boxes.parts_) {
    in.get(part.of.variable);
    in.get(part.of.of_records);
    part.of.record = unpack_difference(in, 0);
    part.of.records = static_cast<std::int64_t>(unpack_number(in));
    part.of.record_step = static_cast<std::int64_t>(unpack_number(in));
    before = unpack_difference(in, before);
    part.first = static_cast<int>(before);
    part.list = static_cast<int>(unpack_number(in));
  }
  return boxes;
}

int CallBoxes::place_of(int variable) const {
  const auto found = std::find(variables_.begin(), variables_.end(), variable);
  return found == variables_.end() ? -1 : static_cast<int>(found - variables_.begin());
}

template <class CodeOf>
void CallBoxes::add_to(Hash& hash, std::int64_t base, CodeOf&& code_of) const {
  for (const auto& part : parts_) {
    hash.add(static_cast<std::uint64_t>(code_of(part.of.variable)));
    hash.add(static_cast<std::uint64_t>(counted_from(part.of, base)));
    hash.add(static_cast<std::uint64_t>(part.of.records));
    hash.add(static_cast<std::uint64_t>(part.of.record_step));
    hash.add(static_cast<std::uint64_t>(part.first));
    hash.add(static_cast<std::uint64_t>(part.list));
  }
  for (const auto& boxes : lists_)
    boxes.add_to(hash);
}

void CallBoxes::add_to(Hash& hash, std::int64_t base) const {
  add_to(hash, base, [](int variable) { return variable; });
}

void CallBoxes::add_places_to(Hash& hash, std::int64_t base) const {
  add_to(hash, base, [&](int variable) { return place_of(variable); });
}

}  // namespace shoal
