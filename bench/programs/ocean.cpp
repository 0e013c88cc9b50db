// SPDX-License-Identifier: BSD-3-Clause
#include "ocean.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace shoal::bench {

namespace {

// In units of cells and steps; small enough that nothing grows beyond bounds.
constexpr float k_gravity = 0.05F;  // change of currents by the slope of the surface
constexpr float k_depth = 0.20F;    // change of the surface by the divergence of currents
constexpr float k_carry = 0.10F;    // cells that a current of 1 carries a tracer in a step
constexpr float k_spread = 0.02F;   // horizontal mixing
constexpr float k_mix = 0.01F;      // vertical mixing
constexpr int k_tag = 23;

float wave(std::int64_t at, std::int64_t length, double waves) {
  return static_cast<float>(
      std::sin(2.0 * 3.14159265358979 * waves * static_cast<double>(at) / static_cast<double>(length)));
}

}  // namespace

Ocean::Ocean(MPI_Comm comm, const Tiling& tiling, const Grid& grid, std::vector<LocalField>& arrays)
    : comm_(comm), arrays_(arrays), levels_(grid.s), grid_rows_(grid.eta), grid_columns_(grid.xi) {
  int rank = 0;
  MPI_Comm_rank(comm_, &rank);
  // Ranks count along xi first, as tile_of() has it.
  const int i = rank % tiling.xi, j = rank / tiling.xi;
  west_ = i > 0 ? rank - 1 : MPI_PROC_NULL;
  east_ = i + 1 < tiling.xi ? rank + 1 : MPI_PROC_NULL;
  south_ = j > 0 ? rank - tiling.xi : MPI_PROC_NULL;
  north_ = j + 1 < tiling.eta ? rank + tiling.xi : MPI_PROC_NULL;
  zeta_ = view("zeta");
  ubar_ = view("ubar");
  vbar_ = view("vbar");
  u_ = view("u");
  v_ = view("v");
  w_ = view("w");
  temp_ = view("temp");
  salt_ = view("salt");
  rho_ = view("rho");
  next_.resize(static_cast<std::size_t>(temp_.rows * temp_.columns * levels_));
  for (std::int64_t k = 0; k < levels_; ++k)
    profile_.push_back(0.5F + static_cast<float>(k + 1) / static_cast<float>(levels_));
}

Ocean::View Ocean::view(const std::string& name) {
  for (auto& array : arrays_) {
    if (array.field().name != name) continue;
    first_row_ = array.tile().first_row;
    first_column_ = array.tile().first_column;
    return {reinterpret_cast<float*>(array.interior(0)),
            array.row_pitch(),
            array.level_pitch(),
            array.tile().rows,
            array.tile().columns,
            array.field().levels()};
  }
  throw std::logic_error("ocean: no field '" + name + "'");
}

void Ocean::begin() {
  for (const auto* field : {&ubar_, &vbar_, &u_, &v_, &w_, &rho_})
    for (std::int64_t k = 0; k < field->levels; ++k)
      for (std::int64_t j = -1; j <= field->rows; ++j)
        std::fill_n(field->at(k, j) - 1, field->columns + 2, 0.0F);
  for (std::int64_t j = 0; j < zeta_.rows; ++j)
    for (std::int64_t i = 0; i < zeta_.columns; ++i)
      zeta_.at(0, j)[i] = wave(first_row_ + j, grid_rows_, 1.5) * wave(first_column_ + i, grid_columns_, 2.5);
  for (std::int64_t k = 0; k < levels_; ++k)
    for (std::int64_t j = 0; j < temp_.rows; ++j)
      for (std::int64_t i = 0; i < temp_.columns; ++i) {
        const auto depth = static_cast<float>(levels_ - k) / static_cast<float>(levels_);
        temp_.at(k, j)[i] = 20.0F - 15.0F * depth + 2.0F * wave(first_row_ + j, grid_rows_, 3.0);
        salt_.at(k, j)[i] = 35.0F + depth + 0.5F * wave(first_column_ + i, grid_columns_, 4.0);
      }
  density();
}

void Ocean::step() {
  exchange({&zeta_});
  currents();
  exchange({&ubar_, &vbar_});
  surface();
  profiles();
  vertical();
  exchange({&temp_, &salt_});
  carry(temp_, next_);
  carry(salt_, next_);
  density();
}

void Ocean::exchange(const std::vector<const View*>& fields) {
  const auto begin = std::chrono::steady_clock::now();
  side(fields, true, west_, east_);
  side(fields, false, south_, north_);
  halo_seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Both directions of one dimension; all fields in one message.
void Ocean::side(const std::vector<const View*>& fields, bool columns, int low, int high) {
  std::int64_t cells = 0;
  for (const auto* f : fields)
    cells += f->levels * (columns ? f->rows : f->columns + 2);
  const auto count = static_cast<std::size_t>(cells);
  send_.resize(count);
  receive_.resize(count);
  // A place counted from the first owned row or column, or from behind the last.
  const auto for_cells = [&](std::int64_t first, bool from_end, auto&& f) {
    std::size_t at = 0;
    for (const auto* field : fields) {
      const std::int64_t place = from_end ? (columns ? field->columns : field->rows) + first : first;
      const std::int64_t inwards = from_end ? place - 1 : place + 1;
      for (std::int64_t k = 0; k < field->levels; ++k)
        for (std::int64_t n = columns ? 0 : -1; n < (columns ? field->rows : field->columns + 1); ++n)
          if (columns)
            f(at++, field->at(k, n)[place], field->at(k, n)[inwards]);
          else
            f(at++, field->at(k, place)[n], field->at(k, inwards)[n]);
    }
  };
  const auto move = [&](bool from_end, int to_rank, int from_rank) {
    for_cells(from_end ? -1 : 0, from_end, [&](std::size_t at, float& cell, float&) { send_[at] = cell; });
    MPI_Sendrecv(send_.data(), static_cast<int>(count), MPI_FLOAT, to_rank, k_tag, receive_.data(),
                 static_cast<int>(count), MPI_FLOAT, from_rank, k_tag, comm_, MPI_STATUS_IGNORE);
    // At the edge of the ocean the cell beside stands for what is not there.
    for_cells(from_end ? -1 : 0, !from_end, [&](std::size_t at, float& cell, float& beside) {
      cell = from_rank == MPI_PROC_NULL ? beside : receive_[at];
    });
  };
  move(true, high, low);
  move(false, low, high);
}

// Currents follow the slope of the surface.
void Ocean::currents() {
  for (std::int64_t j = 0; j < ubar_.rows; ++j)
    for (std::int64_t i = 0; i < ubar_.columns; ++i)
      ubar_.at(0, j)[i] -= k_gravity * (zeta_.at(0, j)[i + 1] - zeta_.at(0, j)[i]);
  for (std::int64_t j = 0; j < vbar_.rows; ++j)
    for (std::int64_t i = 0; i < vbar_.columns; ++i)
      vbar_.at(0, j)[i] -= k_gravity * (zeta_.at(0, j + 1)[i] - zeta_.at(0, j)[i]);
}

// The same over depth, halos included.
void Ocean::profiles() {
  for (std::int64_t k = 0; k < levels_; ++k) {
    const float p = profile_[static_cast<std::size_t>(k)];
    for (const auto& [from, into] : {std::pair{&ubar_, &u_}, {&vbar_, &v_}})
      for (std::int64_t j = -1; j <= into->rows; ++j) {
        const float* mean = from->at(0, j);
        float* out = into->at(k, j);
        for (std::int64_t i = -1; i <= into->columns; ++i)
          out[i] = p * mean[i];
      }
  }
}

// u[i] flows from cell i to i + 1; nothing flows over the edges.
void Ocean::surface() {
  for (std::int64_t j = 0; j < zeta_.rows; ++j)
    for (std::int64_t i = 0; i < zeta_.columns; ++i) {
      const bool first_i = first_column_ + i == 0, last_i = first_column_ + i + 1 == grid_columns_;
      const bool first_j = first_row_ + j == 0, last_j = first_row_ + j + 1 == grid_rows_;
      const float out = (last_i ? 0.0F : ubar_.at(0, j)[i]) + (last_j ? 0.0F : vbar_.at(0, j)[i]);
      const float in = (first_i ? 0.0F : ubar_.at(0, j)[i - 1]) + (first_j ? 0.0F : vbar_.at(0, j - 1)[i]);
      zeta_.at(0, j)[i] -= k_depth * (out - in);
    }
}

// What flows together must go up; w has a level more than the others.
void Ocean::vertical() {
  for (std::int64_t k = 0; k < levels_; ++k)
    for (std::int64_t j = 0; j < w_.rows; ++j) {
      const float *u = u_.at(k, j), *v = v_.at(k, j), *below = v_.at(k, j - 1), *w = w_.at(k, j);
      float* up = w_.at(k + 1, j);
      for (std::int64_t i = 0; i < w_.columns; ++i)
        up[i] = 0.98F * w[i] - 0.01F * (u[i] - u[i - 1] + v[i] - below[i]);
    }
}

void Ocean::carry(const View& tracer, std::vector<float>& next) {
  float* out = next.data();
  for (std::int64_t k = 0; k < levels_; ++k) {
    const std::int64_t under = std::max<std::int64_t>(k - 1, 0), over = std::min(k + 1, levels_ - 1);
    for (std::int64_t j = 0; j < tracer.rows; ++j, out += tracer.columns) {
      const float *t = tracer.at(k, j), *south = tracer.at(k, j - 1), *north = tracer.at(k, j + 1);
      const float *down = tracer.at(under, j), *up = tracer.at(over, j);
      const float *u = u_.at(k, j), *v = v_.at(k, j), *w = w_.at(k, j);
      for (std::int64_t i = 0; i < tracer.columns; ++i) {
        const float flow =
            u[i - 1] * (t[i + 1] - t[i - 1]) + v[i] * (north[i] - south[i]) + w[i] * (up[i] - down[i]);
        const float round = t[i - 1] + t[i + 1] + north[i] + south[i] - 4.0F * t[i];
        out[i] = t[i] - 0.5F * k_carry * flow + k_spread * round + k_mix * (up[i] + down[i] - 2.0F * t[i]);
      }
    }
  }
  const float* in = next.data();
  for (std::int64_t k = 0; k < levels_; ++k)
    for (std::int64_t j = 0; j < tracer.rows; ++j, in += tracer.columns)
      std::copy_n(in, tracer.columns, tracer.at(k, j));
}

void Ocean::density() {
  for (std::int64_t k = 0; k < levels_; ++k)
    for (std::int64_t j = 0; j < rho_.rows; ++j) {
      const float *t = temp_.at(k, j), *s = salt_.at(k, j);
      float* rho = rho_.at(k, j);
      for (std::int64_t i = 0; i < rho_.columns; ++i)
        rho[i] = 25.0F - 0.17F * (t[i] - 10.0F) - 0.005F * (t[i] - 10.0F) * (t[i] - 10.0F) +
                 0.76F * (s[i] - 35.0F);
    }
}

Means::Means(const std::vector<LocalField>& from, std::vector<LocalField>& into) {
  for (std::size_t a = 0; a < from.size(); ++a) {
    if (!from[a].field().record) continue;
    pairs_.push_back({reinterpret_cast<const float*>(from[a].record(0)),
                      reinterpret_cast<float*>(into[a].record(0)), from[a].memory_bytes() / sizeof(float)});
  }
}

void Means::begin() {
  added_ = 0;
}

// The first step of an interval takes the place of the means before.
void Means::add() {
  for (const auto& [from, into, cells] : pairs_) {
    if (added_ == 0)
      std::copy_n(from, cells, into);
    else
      for (std::size_t i = 0; i < cells; ++i)
        into[i] += from[i];
  }
  ++added_;
}

void Means::finish() {
  const float one = 1.0F / static_cast<float>(added_);
  for (const auto& [from, into, cells] : pairs_)
    for (std::size_t i = 0; i < cells; ++i)
      into[i] *= one;
  added_ = 0;
}

}  // namespace shoal::bench
