// SPDX-License-Identifier: BSD-3-Clause
// Lists of runs by chance: the few boxes that are made of each have the same cells at the same places of the
// values, and where a list has a cell twice the later one stays the later.
//   door_lists [SEED]
#include "pnetcdf/lists.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

using door::pnetcdf::List;
using Place = std::vector<std::int64_t>;  // of a cell, in the variable

namespace {

// A list as a program gives it.
struct Given {
  std::vector<std::vector<MPI_Offset>> starts, counts;
  std::vector<MPI_Offset*> starts_to, counts_to;

  void add(const std::vector<MPI_Offset>& start, const std::vector<MPI_Offset>& count) {
    starts.push_back(start);
    counts.push_back(count);
  }
  door_call call() {
    starts_to.clear(), counts_to.clear();
    for (std::size_t i = 0; i < starts.size(); ++i)
      starts_to.push_back(starts[i].data()), counts_to.push_back(counts[i].data());
    door_call call{};
    call.num = static_cast<int>(starts.size());
    call.starts = starts_to.data();
    call.counts = counts_to.data();
    return call;
  }
};

// Boxes, some of which go on in the next one, at several places of the first dimensions; now and then one is
// missing or elsewhere.
Given by_chance(std::size_t ndims, std::mt19937& random) {
  const auto draw = [&](unsigned n) { return static_cast<MPI_Offset>(random() % n); };
  const auto dim = [&] { return static_cast<std::size_t>(random() % ndims); };
  const std::size_t lead = dim();
  Given base, given;
  const bool runs = draw(2) == 0, go_on = draw(2) == 0;
  for (MPI_Offset i = draw(4); i >= 0; --i) {
    std::vector<MPI_Offset> start(ndims), count(ndims);
    for (std::size_t d = 0; d < ndims; ++d) {
      start[d] = draw(6);
      count[d] = runs && d + 1 < ndims ? 1 : draw(8) == 0 ? 0 : 1 + draw(3);
    }
    if (go_on && !base.starts.empty()) {
      start = base.starts.back(), count = base.counts.back();
      const std::size_t d = dim();
      start[d] += count[d];
    }
    base.add(start, count);
  }
  std::vector<MPI_Offset> first(lead), at(lead), times(lead);
  for (std::size_t d = 0; d < lead; ++d)
    first[d] = draw(3), times[d] = 1 + draw(3);
  while (true) {
    for (std::size_t i = 0; i < base.starts.size(); ++i) {
      auto start = base.starts[i], count = base.counts[i];
      for (std::size_t d = 0; d < lead; ++d)
        start[d] = first[d] + at[d], count[d] = 1;
      if (draw(60) == 0) ++start[dim()];
      if (draw(80) != 0) given.add(start, count);
    }
    std::size_t d = lead;
    while (d-- > 0 && ++at[d] == times[d])
      at[d] = 0;
    if (d == static_cast<std::size_t>(-1)) return given;
  }
}

// work(place of a cell, its position in a box) for each cell of a box.
template <class Number, class Work>
void for_each_cell(std::size_t ndims, const Number* start, const Number* count, Work&& work) {
  Place in_box(ndims);
  for (std::size_t d = 0; d < ndims; ++d)
    if (count[d] == 0) return;
  while (true) {
    Place place = in_box;
    for (std::size_t d = 0; d < ndims; ++d)
      place[d] += start[d];
    work(place, in_box);
    std::size_t d = ndims;
    while (d-- > 0 && ++in_box[d] == count[d])
      in_box[d] = 0;
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

// Which cell each value is, and which value a cell has at last.
struct Cells {
  std::map<std::int64_t, Place> places;
  std::map<Place, std::int64_t> values;

  void add(std::int64_t value, const Place& place) {
    places[value] = place;
    values[place] = value;
  }
  friend bool operator==(const Cells&, const Cells&) = default;
};

bool is_right(const List& list, const Given& given, std::size_t ndims) {
  Cells expected, found;
  std::int64_t next = 0;
  for (std::size_t i = 0; i < given.starts.size(); ++i)
    for_each_cell(ndims, given.starts[i].data(), given.counts[i].data(),
                  [&](const Place& place, const Place&) { expected.add(next++, place); });
  for (std::size_t i = 0; i < list.size(); ++i) {
    std::int64_t position = 0;  // of contiguous cells
    for_each_cell(ndims, list.start(i), list.count(i), [&](const Place& place, const Place& in_box) {
      std::int64_t value = list.first(i);
      for (std::size_t d = 0; list.steps(i) != nullptr && d < ndims; ++d)
        value += in_box[d] * list.steps(i)[d];
      if (list.steps(i) == nullptr) value += position++;
      found.add(value, place);
    });
  }
  return list.cells() == next && found == expected;
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned seed = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 1;
  std::mt19937 random(seed);
  int folded = 0, joined = 0, wrong = 0;
  for (int round = 0; round < 5000; ++round) {
    const std::size_t ndims = 1 + random() % 4;
    Given given = by_chance(ndims, random);
    if (given.starts.empty()) continue;
    const std::vector<int> dims(ndims, 0), others(ndims, 1);
    const door_call call = given.call();
    const List list(dims, true, call);
    bool right = is_right(list, given, ndims) && list.is_of(dims, true, call) &&
                 !list.is_of(dims, false, call) && !list.is_of(others, true, call);
    ++given.starts.back().back();
    right = right && !list.is_of(dims, true, given.call());
    if (!right) std::printf("seed %u, round %d: %d boxes\n", seed, round, call.num);
    wrong += right ? 0 : 1;
    if (list.size() > 0 && list.steps(0) != nullptr)
      ++folded;
    else if (list.size() < given.starts.size())
      ++joined;
  }
  std::printf("%d lists wrong; %d with boxes along several places, %d with fewer boxes\n", wrong, folded,
              joined);
  return wrong > 0 || folded < 100 || joined < 100 ? 1 : 0;
}
