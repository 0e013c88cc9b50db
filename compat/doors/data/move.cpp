// SPDX-License-Identifier: BSD-3-Clause
#include "data/move.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "data/cells.hpp"
#include "data/convert.hpp"
#include "data/kept.hpp"
#include "data/quantize.hpp"

namespace door {

namespace {

// What a call asks for, checked.
struct Request {
  const Variable& var;
  nc_type memory;
  Box box;  // its steps are those of the program's array
  std::size_t cells;
  ConversionRules rules;
  bool waits;  // it has to do with cells that this rank keeps
};

// Does every value fit, so that Shoal may convert them on the way?
bool all_fit(const double* values, std::size_t count) {
  constexpr double most = std::numeric_limits<float>::max();
  bool fit = true;
  for (std::size_t i = 0; i < count; ++i)
    fit &= !(std::fabs(values[i]) > most);
  return fit;
}

// Shoal's conversions are netCDF's for floating point that fits.
bool shoal_converts(const Request& request, const void* values, Direction direction) {
  const auto is_real = [](nc_type type) { return type == NC_FLOAT || type == NC_DOUBLE; };
  if (!is_real(request.memory) || !is_real(request.var.type)) return false;
  const bool narrows =
      direction == Direction::put ? request.var.type == NC_FLOAT : request.memory == NC_FLOAT;
  if (!narrows) return true;
  const bool aligned = reinterpret_cast<std::uintptr_t>(values) % alignof(double) == 0;
  return direction == Direction::put && request.box.steps.empty() && aligned &&
         all_fit(static_cast<const double*>(values), request.cells);
}

int move_as_it_is(File& file, int varid, Request& request, void* values, Direction direction) {
  request.box.values = values;
  request.box.type =
      converts(request.memory, request.var.type, request.rules) ? request.memory : request.var.type;
  return code_of_move(file, direction, move_box(file, varid, &request.box, direction));
}

// By way of an array of the variable's own type.
int put_converted(File& file, int varid, Request& request, const void* values) {
  const std::size_t size = size_of(request.memory);
  std::vector<char> packed;
  if (!request.box.steps.empty()) {
    packed.resize(request.cells * size);
    copy(request.box.count, size, static_cast<const char*>(values), request.box.steps, packed.data(),
         contiguous(request.box.count, size));
    values = packed.data();
  }
  std::vector<char> converted(request.cells * size_of(request.var.type));
  const int code =
      convert(request.memory, values, request.var.type, converted.data(), request.cells, request.rules);
  Box box = request.box;
  box.steps.clear();
  quantize(request.var, converted.data(), request.cells);
  box.values = converted.data();
  box.type = request.var.type;
  if (request.waits) {
    keep(file, varid, box, std::move(converted));
    return code;
  }
  const int moved = code_of_move(file, Direction::put, move_box(file, varid, &box, Direction::put));
  return moved != NC_NOERR ? moved : code;
}

int get_converted(File& file, int varid, Request& request, void* values) {
  std::vector<char> stored(request.cells * size_of(request.var.type));
  Box box = request.box;
  box.steps.clear();
  box.values = stored.data();
  box.type = request.var.type;
  const int shoal =
      request.waits ? read_over_kept(file, varid, box) : move_box(file, varid, &box, Direction::get);
  if (shoal != SHOAL_OK) return code_of_move(file, Direction::get, shoal);
  const std::size_t size = size_of(request.memory);
  std::vector<char> packed(request.box.steps.empty() ? 0 : request.cells * size);
  void* out = packed.empty() ? values : packed.data();
  const int code =
      convert(request.var.type, stored.data(), request.memory, out, request.cells, request.rules);
  if (!packed.empty())
    copy(request.box.count, size, packed.data(), contiguous(request.box.count, size),
         static_cast<char*>(values), request.box.steps);
  return code;
}

Steps steps_of(const Selection& selection, std::size_t ndims, std::size_t size) {
  Steps steps;
  for (std::size_t i = 0; selection.imap != nullptr && i < ndims; ++i)
    steps.push_back(selection.imap[i] * static_cast<std::int64_t>(size));
  return steps;
}

// Would other ranks wait for this one in its call? Where the variable is not known, all of them would have
// to agree.
bool is_collective(const File& file, const Variable* var) {
  if (var != nullptr) return file.moves_together(*var);
  const auto& vars = file.definitions.vars;
  return !vars.empty() && std::all_of(vars.begin(), vars.end(),
                                      [](const Variable& one) { return one.access == NC_COLLECTIVE; });
}

// Takes its part with nothing; the code is the rank's own.
int refuse(File& file, int varid, int code, Direction direction) {
  if (is_collective(file, file.variable(varid)) && !(direction == Direction::put && !file.writable))
    move_box(file, std::max(varid, 0), nullptr, direction);
  return code;
}

}  // namespace

int move(File& file, int varid, const Selection& selection, nc_type memory, void* values,
         Direction direction) {
  const Variable* var = file.variable(varid);
  if (var == nullptr) return refuse(file, varid, NC_ENOTVAR, direction);
  if (direction == Direction::put && !file.writable) return NC_EPERM;
  if (memory == NC_NAT) memory = var->type;
  if ((memory == NC_CHAR) != (var->type == NC_CHAR) || memory == NC_STRING)
    return refuse(file, varid, NC_ECHAR, direction);
  Box box;
  if (const int code = select_cells(file, *var, selection, direction, box); code != NC_NOERR)
    return refuse(file, varid, code, direction);
  const std::size_t cells = cells_of(box);
  if (cells == 0) {
    // The other ranks' plan is of this variable.
    box.type = var->type;
    return is_collective(file, var) ? code_of_move(file, direction, move_box(file, varid, &box, direction))
                                    : NC_NOERR;
  }
  if (values == nullptr) return refuse(file, varid, NC_EINVAL, direction);
  box.steps = steps_of(selection, var->dims.size(), size_of(memory));
  const bool fills = direction == Direction::put && !file.netcdf4();  // what does not fit
  const std::vector<char> fill = fills ? fill_of(*var) : std::vector<char>();
  const bool bits = file.format == NC_FORMAT_CLASSIC || file.format == NC_FORMAT_64BIT_OFFSET;
  const bool waits = meets_kept(file, *var, varid, box);
  Request request{*var, memory, std::move(box), cells, {bits, fills ? fill.data() : nullptr}, waits};
  const bool changes = direction == Direction::put && var->quantize != NC_NOQUANTIZE;
  if (!waits && !changes &&
      (!converts(memory, var->type, request.rules) || shoal_converts(request, values, direction)))
    return move_as_it_is(file, varid, request, values, direction);
  return direction == Direction::put ? put_converted(file, varid, request, values)
                                     : get_converted(file, varid, request, values);
}

}  // namespace door
