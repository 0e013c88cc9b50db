// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "format/catalog.hpp"
#include "memory_store.hpp"

namespace shoal::test {

inline std::unique_ptr<Catalog> create(const std::shared_ptr<MemoryFile>& file, Format format,
                                       const CatalogOptions& options = {}) {
  return create_classic_catalog(format, std::make_unique<MemoryStore>(file), options);
}
inline std::unique_ptr<Catalog> open(const std::shared_ptr<MemoryFile>& file, bool writable = false,
                                     const CatalogOptions& options = {}) {
  return open_classic_catalog(std::make_unique<MemoryStore>(file), writable, options);
}
inline CatalogOptions compact() {
  CatalogOptions options;
  options.header_reserve = 0;
  options.alignment = 1;
  return options;
}

inline int add_dim(Schema& schema, const std::string& name, std::int64_t length) {
  schema.dims.push_back({name, length, length == 0});
  return static_cast<int>(schema.dims.size()) - 1;
}
inline int add_variable(Schema& schema, const std::string& name, Type type, std::vector<int> dims,
                        bool distributed = false) {
  VariableDef variable;
  variable.name = name;
  variable.type = type;
  variable.dims = std::move(dims);
  variable.distributed = distributed;
  schema.variables.push_back(variable);
  return static_cast<int>(schema.variables.size()) - 1;
}

template <class T>
void put(Catalog& catalog, int variable, const Box& box, const std::vector<T>& values) {
  REQUIRE(static_cast<std::int64_t>(values.size()) == box.cells());
  catalog.put(variable, box, reinterpret_cast<const std::byte*>(values.data()));
}
template <class T>
std::vector<T> get(Catalog& catalog, int variable, const Box& box) {
  std::vector<T> values(static_cast<std::size_t>(box.cells()));
  catalog.get(variable, box, reinterpret_cast<std::byte*>(values.data()));
  return values;
}
template <class T>
std::vector<T> get_all(Catalog& catalog, int variable) {
  return get<T>(catalog, variable, Box::whole(catalog.schema().shape(variable)));
}

/// The Error that work throws; a failed check if it throws none.
template <class Work>
Status error_of(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.status();
  }
  FAIL_CHECK("no error");
  return {};
}
inline bool mentions(const Status& status, const std::string& words) {
  return status.text().find(words) != std::string::npos;
}

}  // namespace shoal::test
