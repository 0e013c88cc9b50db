// SPDX-License-Identifier: BSD-3-Clause
// Damaged netCDF-4 files are read in other processes, so that one that ends the program is seen.
#pragma once

#include <doctest/doctest.h>
#include <hdf5.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <memory>
#include <new>
#include <vector>

#include "base/error.hpp"
#include "format/catalog.hpp"
#include "memory_store.hpp"

namespace shoal::test {

constexpr unsigned k_seconds = 20;  // that reading may take; it takes some milliseconds

inline std::unique_ptr<Catalog> open_bytes(const Bytes& content, bool writable = false) {
  auto file = std::make_shared<MemoryFile>();
  file->content = content;
  return open_netcdf4_catalog(std::make_unique<MemoryStore>(file), writable, {});
}

/// As drivers do it: where the values lie, and then what they are.
inline void read_all(Catalog& catalog) {
  const Schema& schema = catalog.schema();
  for (int v = 0; v < static_cast<int>(schema.variables.size()); ++v) {
    const auto& def = schema.variable(v);
    const Dims shape = schema.shape(v);
    if (!def.fits_plainly || volume(shape) > 100000) continue;
    try {
      const Placement where = catalog.placement(v);
      const Box all = Box::whole(shape);
      if (where.kind == Placement::Kind::listed) catalog.find(v, chunks_of(all, where.chunk));
      if (where.kind == Placement::Kind::encoded) catalog.stored_chunks(v, chunks_of(all, where.chunk));
      if (def.type == Type::string) {
        catalog.get_strings(v, all);
      } else {
        Bytes values(static_cast<std::size_t>(volume(shape)) * size_of(def.type));
        catalog.get(v, all, values.data());
      }
    } catch (const Error&) {
    }
  }
}

enum class End { read, error, left_open, crash };

/// What reading of contents of files comes to: of_case(i) for 0 to n. One process reads them, and another one
/// goes on after each that ended it, or hung.
inline std::vector<End> ends_of_reading(std::size_t n, const std::function<Bytes(std::size_t)>& of_case,
                                        bool writable = false) {
  const auto is_open = [] { return H5Fget_obj_count(static_cast<hid_t>(H5F_OBJ_ALL), H5F_OBJ_ALL); };
  const auto end_of = [&](std::size_t i) {
    const auto open_before = is_open();  // by other tests
    End end = End::read;
    try {
      read_all(*open_bytes(of_case(i), writable));
    } catch (const Error&) {
      end = End::error;
    } catch (const std::bad_alloc&) {
      end = End::error;
    }
    return is_open() == open_before ? end : End::left_open;
  };
  std::vector<End> ends;
  while (ends.size() < n) {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      for (std::size_t i = ends.size(); i < n; ++i) {
        ::alarm(k_seconds);
        const End end = end_of(i);
        if (::write(pipe[1], &end, sizeof end) != sizeof end) break;
      }
      ::_exit(0);
    }
    ::close(pipe[1]);
    for (End end{}; ::read(pipe[0], &end, sizeof end) == sizeof end;)
      ends.push_back(end);
    ::close(pipe[0]);
    REQUIRE(::waitpid(child, nullptr, 0) == child);
    if (ends.size() < n) ends.push_back(End::crash);
  }
  return ends;
}

inline End end_of_reading(const Bytes& content) {
  return ends_of_reading(1, [&](std::size_t) { return content; }).front();
}

}  // namespace shoal::test
