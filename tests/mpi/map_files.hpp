// What tests of files of decompositions share.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "dataset/dataset.hpp"
#include "dataset/maps/map_file.hpp"

namespace shoal::testing {

using Numbers = std::vector<std::int64_t>;
using Shared = std::shared_ptr<const Decomposition>;

inline const Comm& world() {
  static const Comm* const k_comm = new Comm(MPI_COMM_WORLD);  // MPI is gone when statics are destroyed
  return *k_comm;
}

/// A file of this test, the same name on all ranks; gone at the end.
struct Scratch {
  explicit Scratch(const std::string& name) : path("map_file_" + name) {}
  ~Scratch() {
    world().barrier();
    if (world().rank() == 0) std::remove(path.c_str());
    world().barrier();
  }
  std::string path;
};

inline void write_text(const std::string& path, const std::string& text) {
  if (world().rank() == 0) std::ofstream(path) << text;
  world().barrier();
}

/// Ranks of part: those that take part in `work` with a communicator of their own; the others wait.
inline void on_ranks(int count, const std::function<void(const Comm&)>& work) {
  const bool mine = world().rank() < count;
  const Comm part = world().split(mine ? 0 : 1);
  Status status;
  if (mine) status = caught([&] { work(part); });
  CHECK_MESSAGE(status.ok(), status.text());
  world().barrier();
}

/// The lists of all ranks, one after the other, on every rank.
inline Numbers all_lists(const Comm& comm, const Numbers& mine) {
  ByteWriter out;
  out.put(mine);
  Numbers all;
  for (const auto& part : comm.all_gather(out.take())) {
    ByteReader in(part);
    const auto list = in.get<Numbers>();
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

inline DatasetOptions quietly() {
  DatasetOptions options;
  options.settings = "quiet=true";
  return options;
}

inline Numbers without_holes(Numbers cells) {
  std::erase(cells, k_hole);
  return cells;
}

/// Loading fails with the same code and text on all ranks.
inline void fails(const Comm& comm, const std::string& path, const std::string& name, Code code,
                  const std::vector<std::string>& words) {
  const Status status = caught([&] { load_decomposition(comm.handle(), path, name); });
  CHECK_MESSAGE(status.code == code, name_of(status.code), ": ", status.text());
  for (const auto& word : words)
    CHECK_MESSAGE(status.text().find(word) != std::string::npos, "'", status.text(), "' does not say '", word,
                  "'");
  const auto hash = static_cast<std::int64_t>(std::hash<std::string>{}(status.text()) >> 1);
  CHECK(comm.max(hash) == comm.min(hash));
}

/// A random share of the cells 0 .. n - 1 for each rank, in random order with holes; some ranks have none.
/// stretch: cells that follow each other.
inline Numbers random_list(std::int64_t n, int seed, std::int64_t stretch) {
  std::mt19937 random(static_cast<unsigned>(seed));  // the same on all ranks
  Numbers blocks(static_cast<std::size_t>((n + stretch - 1) / stretch));
  std::iota(blocks.begin(), blocks.end(), 0);
  std::shuffle(blocks.begin(), blocks.end(), random);
  Numbers mine;
  for (const std::int64_t block : blocks) {
    const int owner = static_cast<int>(random() % static_cast<unsigned>(world().size() + 1)) - 1;
    const bool hole = random() % 5 == 0;
    if (owner != world().rank() || owner == 1) continue;  // rank 1 has none
    for (std::int64_t i = block * stretch; i < std::min(n, (block + 1) * stretch); ++i)
      mine.push_back(i);
    if (hole) mine.insert(mine.end(), 3, k_hole);
  }
  return mine;
}

inline void check_same(const Decomposition& a, const Decomposition& b) {
  CHECK(a.global() == b.global());
  CHECK(a.uncut_dims() == b.uncut_dims());
  CHECK((a.map() == nullptr) == (b.map() == nullptr));
  CHECK(local_cells(a) == local_cells(b));
  CHECK(a.owned_cells() == b.owned_cells());
}

}  // namespace shoal::testing
