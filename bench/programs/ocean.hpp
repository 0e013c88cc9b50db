// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "arrays.hpp"
#include "content.hpp"

namespace shoal::bench {

/// A small ocean on the model's own arrays (workloads/roms.cpp): a free surface that drives currents,
/// vertical velocity from continuity, temperature and salinity carried and spread by them, density from both.
/// Closed at the edges. It is no good ocean, but every field of a history changes everywhere with each step,
/// at the cost of a few dozen operations a cell, and a run repeats itself bit by bit on the same tiles.
class Ocean {
 public:
  /// arrays: of roms_content, with room for one record. They must outlive the ocean. Collective (Cartesian
  /// neighbours follow from the tiling alone).
  Ocean(MPI_Comm comm, const Tiling& tiling, const Grid& grid, std::vector<LocalField>& arrays);

  /// The state before the first step.
  void begin();
  /// One step of time, halo exchange included. Collective.
  void step();
  /// Spent so far with the exchange of halos, waiting for neighbours included.
  double halo_seconds() const { return halo_seconds_; }

 private:
  struct View {  // of a field: owned cells from (0, 0), halo cells at negative places and behind
    float* cells = nullptr;
    std::int64_t row = 0, level = 0;  // pitches
    std::int64_t rows = 0, columns = 0, levels = 0;
    float* at(std::int64_t k, std::int64_t j) const { return cells + k * level + j * row; }
  };
  View view(const std::string& name);
  /// Fills one cell of halo on each side: from neighbours, or at the edge of the ocean from the cell beside.
  void exchange(const std::vector<const View*>& fields);
  void side(const std::vector<const View*>& fields, bool columns, int low, int high);
  void surface();
  void currents();
  void profiles();
  void vertical();
  void carry(const View& tracer, std::vector<float>& next);
  void density();

  MPI_Comm comm_;
  std::vector<LocalField>& arrays_;
  std::int64_t levels_;
  std::int64_t first_row_ = 0, first_column_ = 0, grid_rows_ = 0, grid_columns_ = 0;
  int west_, east_, south_, north_;  // neighbours, MPI_PROC_NULL at the edges
  View zeta_, ubar_, vbar_, u_, v_, w_, temp_, salt_, rho_;
  std::vector<float> profile_;         // of currents over depth
  std::vector<float> next_;            // a tracer's values after the step
  std::vector<float> send_, receive_;  // of halos
  double halo_seconds_ = 0;
};

/// Means of the state over the steps of an interval, field by field.
class Means {
 public:
  /// into: arrays like those of the ocean; the record fields of them get the means.
  Means(const std::vector<LocalField>& from, std::vector<LocalField>& into);
  void begin();
  void add();
  /// The means of what was added are in the arrays; the next interval begins.
  void finish();

 private:
  struct Pair {
    const float* from;
    float* into;
    std::size_t cells;
  };
  std::vector<Pair> pairs_;
  std::int64_t added_ = 0;
};

}  // namespace shoal::bench
