// SPDX-License-Identifier: BSD-3-Clause
#include "cases.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <stdexcept>

#include "arrays.hpp"
#include "shoal_check.hpp"

namespace shoal::bench::e3sm {

namespace {

const std::vector<Case>& cases() {
  static const std::vector<Case> all{
      {"f",
       {{37}, {37}, {5, 37}},
       {{0, 1, Type::dbl, false}, {1, 2, Type::dbl, false}, {1, 321, Type::real}, {2, 63, Type::real}}},
      {"g",
       {{19}, {41}, {19, 4}, {41, 4}, {31, 4}, {19, 5}},
       {{0, 1, Type::integer, false},
        {0, 1, Type::dbl, false},
        {1, 2, Type::integer, false},
        {2, 1, Type::integer, false},
        {3, 1, Type::integer, false},
        {4, 1, Type::integer, false},
        {0, 4, Type::dbl},
        {2, 24, Type::dbl},
        {3, 1, Type::dbl},
        {4, 1, Type::dbl},
        {5, 4, Type::dbl}}}};
  return all;
}

std::vector<std::int64_t> tiled(std::vector<std::int64_t> cells, std::int64_t size, std::int64_t times) {
  const auto n = cells.size();
  cells.reserve(n * static_cast<std::size_t>(times));
  for (std::int64_t k = 1; k < times; ++k)
    for (std::size_t i = 0; i < n; ++i)
      cells.push_back(cells[i] + k * size);
  return cells;
}

Map load_map(MPI_Comm comm, const std::string& path, const std::string& name, std::int64_t times) {
  shoal_decomposition* loaded = nullptr;
  check_shoal(shoal_decomposition_load(comm, path.c_str(), name.c_str(), &loaded), name);
  const ShoalDecomposition owner(loaded);
  int dims = 0;
  std::int64_t global[SHOAL_MAX_DIMS - 1] = {};
  check_shoal(shoal_decomposition_inquire(loaded, &dims, global, nullptr, nullptr, nullptr, nullptr), name);
  if (dims > 2)
    throw std::runtime_error(path + ": " + name + " has " + std::to_string(dims) +
                             " dimensions; maps of one or two are needed");
  shoal_map_info info = SHOAL_MAP_INFO_INIT;
  check_shoal(shoal_decomposition_map_info(loaded, &info), name);
  Map map{{global, global + dims}, std::vector<std::int64_t>(static_cast<std::size_t>(info.ncells))};
  check_shoal(shoal_decomposition_cells(loaded, map.cells.data()), name);
  std::erase(map.cells, SHOAL_HOLE);
  std::sort(map.cells.begin(), map.cells.end());
  const auto size = map.global_cells();
  auto owned = static_cast<std::int64_t>(map.cells.size());
  MPI_Allreduce(MPI_IN_PLACE, &owned, 1, MPI_INT64_T, MPI_SUM, comm);
  if (owned != size)
    throw std::runtime_error(path + ": " + name + " has " + std::to_string(owned) + " of " +
                             std::to_string(size) + " cells; files are compared whole, so all are needed");
  map.cells = tiled(std::move(map.cells), size, times);
  map.shape[0] *= times;
  return map;
}

}  // namespace

const Case& find_case(const std::string& name) {
  for (const auto& c : cases())
    if (c.name == name) return c;
  throw std::invalid_argument("there is no case '" + name + "'; there are f and g");
}

std::int64_t Map::global_cells() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

RunList runs_of(const Map& map, bool record) {
  RunList list;
  const auto row = map.shape.back();
  const auto add = [&](std::int64_t first, std::int64_t length) {
    if (record) list.starts.push_back(0), list.counts.push_back(1);
    if (map.shape.size() == 2) list.starts.push_back(first / row), list.counts.push_back(1);
    list.starts.push_back(first % row);
    list.counts.push_back(length);
    ++list.runs;
  };
  for (std::size_t i = 0; i < map.cells.size();) {
    std::size_t end = i + 1;
    while (end < map.cells.size() && map.cells[end] == map.cells[end - 1] + 1 && map.cells[end] % row != 0)
      ++end;
    add(map.cells[i], static_cast<std::int64_t>(end - i));
    i = end;
  }
  return list;
}

std::vector<Map> load_maps(MPI_Comm comm, const Case& c, const std::string& path, std::int64_t times) {
  std::vector<Map> maps;
  for (std::size_t i = 0; i < c.toy.size(); ++i)
    maps.push_back(load_map(comm, path, "D" + std::to_string(i + 1), times));
  return maps;
}

std::vector<Map> toy_maps(const Case& c, std::int64_t times, int rank, int ranks) {
  std::vector<Map> maps;
  std::mt19937 random(5);
  for (const auto& shape : c.toy) {
    Map map{shape, {}};
    const auto size = map.global_cells();
    for (std::int64_t i = 0; i < size; ++i)
      if (static_cast<int>(random() % static_cast<unsigned>(ranks)) == rank) map.cells.push_back(i);
    map.cells = tiled(std::move(map.cells), size, times);
    map.shape[0] *= times;
    maps.push_back(std::move(map));
  }
  return maps;
}

std::vector<Variable> variables_of(const Case& c, const std::vector<Map>& maps) {
  std::vector<Variable> variables;
  for (const auto& g : c.groups)
    for (int i = 0; i < g.count; ++i) {
      Variable v{"v" + std::to_string(variables.size()) + "_D" + std::to_string(g.map + 1),
                 g.map,
                 g.type,
                 g.record,
                 {}};
      const auto& cells = maps[static_cast<std::size_t>(g.map)].cells;
      v.values.resize(cells.size() * static_cast<std::size_t>(size_of(g.type)));
      variables.push_back(std::move(v));
    }
  return variables;
}

void fill(Variable& variable, const Map& map) {
  const auto seed = seed_of(variable.name);
  with_type(variable.type, [&](auto t) {
    auto* out = reinterpret_cast<decltype(t)*>(variable.values.data());
    for (const auto cell : map.cells)
      *out++ = static_cast<decltype(t)>(cell_value(seed, 0, 0, cell));
  });
}

std::int64_t wrong_values(const Variable& variable, std::int64_t first, const std::vector<std::byte>& found) {
  const auto seed = seed_of(variable.name);
  return with_type(variable.type, [&](auto t) {
    using T = decltype(t);
    const auto* value = reinterpret_cast<const T*>(found.data());
    const auto n = static_cast<std::int64_t>(found.size() / sizeof(T));
    std::int64_t wrong = 0;
    for (std::int64_t i = 0; i < n; ++i)
      wrong += value[i] != static_cast<T>(cell_value(seed, 0, 0, first + i));
    return wrong;
  });
}

}  // namespace shoal::bench::e3sm
