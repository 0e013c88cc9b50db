// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>
#include <shoal/shoal.h>

#include <cstdint>
#include <string>
#include <vector>

#include "content.hpp"

// Output of E3SM's atmosphere (F) and ocean (G), as the project's I/O benchmark has it: which variables there
// are, and on which of the published maps.
namespace shoal::bench::e3sm {

/// Like variables of a case.
struct Group {
  int map = 0;  ///< 0: D1
  int count = 0;
  Type type = Type::real;
  bool record = true;
};

struct Case {
  std::string name;                            ///< "f", "g"
  std::vector<std::vector<std::int64_t>> toy;  ///< shape of each map where it is made up
  std::vector<Group> groups;                   ///< variables in the order of definition
};
/// std::invalid_argument that names the cases if there is none.
const Case& find_case(const std::string& name);

/// What one rank has of one map.
struct Map {
  std::vector<std::int64_t> shape;  ///< global, one or two dimensions
  std::vector<std::int64_t> cells;  ///< ascending, each once
  std::int64_t global_cells() const;
};

/// How a map lies in a file: starts and counts in all dimensions, run after run, as libraries want them that
/// know no maps. A run ends with its row.
struct RunList {
  std::vector<MPI_Offset> starts, counts;
  std::int64_t runs = 0;
};
RunList runs_of(const Map& map, bool record);

/// The maps of a case from the file of the benchmark, `times` times as large: the cells i + k * size, k from
/// 0 to times - 1, belong to the rank that has i. On another number of ranks than the file's, lists of
/// neighbours are joined. Errors: those of Shoal; std::runtime_error for a map that leaves cells out.
/// Collective.
std::vector<Map> load_maps(MPI_Comm comm, const Case& c, const std::string& path, std::int64_t times);
/// Maps of the shapes of the case, small, of which the cells are dealt out at random. Local.
std::vector<Map> toy_maps(const Case& c, std::int64_t times, int rank, int ranks);

/// A variable of a case, and this rank's values.
struct Variable {
  std::string name;
  int map = 0;
  Type type = Type::real;
  bool record = true;
  std::vector<std::byte> values;
};
std::vector<Variable> variables_of(const Case& c, const std::vector<Map>& maps);
/// Gives the cells their values.
void fill(Variable& variable, const Map& map);
/// Values, as read, of the cells from `first` on that differ from what they should be.
std::int64_t wrong_values(const Variable& variable, std::int64_t first, const std::vector<std::byte>& found);

}  // namespace shoal::bench::e3sm
