// SPDX-License-Identifier: BSD-3-Clause
// A call on values becomes boxes of cells, by PnetCDF's rules of what is asked for.
#include <algorithm>
#include <climits>
#include <cmath>
#include <cstring>
#include <limits>

#include "data/convert.hpp"
#include "pnetcdf/file.hpp"
#include "pnetcdf/lists.hpp"
#include "pnetcdf/memory.hpp"

namespace door::pnetcdf {

namespace {

constexpr std::int64_t k_most = std::numeric_limits<std::int64_t>::max();

std::int64_t cells_of(const Box& box) {
  std::int64_t cells = 1;
  for (const std::int64_t count : box.count)
    cells *= count;
  return cells;
}

// Bytes of so many cells are a number: records that are put may be any.
bool can_count(const MPI_Offset* count, std::size_t ndims) {
  if (std::find(count, count + ndims, 0) != count + ndims) return true;
  std::int64_t cells = k_most / 8;
  for (std::size_t i = 0; i < ndims; ++i)
    cells /= count[i];
  return cells > 0;
}

// The box of a call is within the variable; records may be added where it is put. In the order of PnetCDF's
// checks: where it begins, how many cells it has, and how far they are apart.
int check(const File& file, const Variable& var, const MPI_Offset* start, const MPI_Offset* count,
          const MPI_Offset* stride, bool counted, bool puts) {
  const std::size_t ndims = var.dims.size();
  if (ndims == 0) return NC_NOERR;
  if (start == nullptr) return NC_EINVALCOORDS;
  const auto is_open = [&](std::size_t i) { return puts && i == 0 && file.grows(var); };
  for (std::size_t i = 0; i < ndims; ++i) {
    if (is_open(i)) {
      if (start[i] < 0 || (file.format != NC_FORMAT_CDF5 && start[i] > UINT_MAX)) return NC_EINVALCOORDS;
      continue;
    }
    const std::int64_t length = file.length(var.dims[i]), cells = count == nullptr ? 1 : count[i];
    if (start[i] < 0 || start[i] > length) return NC_EINVALCOORDS;
    if (start[i] == length && (cells > 0 || file.strict)) return NC_EINVALCOORDS;
  }
  if (count == nullptr) return counted ? NC_EEDGE : NC_NOERR;
  for (std::size_t i = 0; i < ndims; ++i) {
    const std::int64_t length = is_open(i) ? k_most : file.length(var.dims[i]);
    const std::int64_t step = stride == nullptr || stride[i] < 1 ? 1 : stride[i];
    if (count[i] < 0) return NC_ENEGATIVECNT;
    if (count[i] > 0 && count[i] - 1 > (length - 1 - start[i]) / step) return NC_EEDGE;
  }
  for (std::size_t i = 0; stride != nullptr && i < ndims; ++i)
    if (stride[i] <= 0) return NC_ESTRIDE;
  return can_count(count, ndims) ? NC_NOERR : NC_EEDGE;
}

Box box_of(int varid, std::size_t ndims, const MPI_Offset* start, const MPI_Offset* count,
           const MPI_Offset* stride) {
  Box box;
  box.varid = varid;
  box.start.assign(ndims, 0);
  box.count.assign(ndims, 1);
  box.stride.assign(ndims, 1);
  for (std::size_t i = 0; i < ndims; ++i) {
    if (start != nullptr) box.start[i] = start[i];
    if (count != nullptr) box.count[i] = count[i];
    if (stride != nullptr) box.stride[i] = stride[i];
  }
  return box;
}

// What a call asks for, before it is known that all of the call is right.
struct Selected {
  std::vector<Box> boxes;
  std::shared_ptr<const List> list;  // in place of boxes
};

// Those of varn.
int select_listed(File& file, int varid, const Variable& var, const door_call& call, bool puts,
                  Selected& selected) {
  std::vector<Box>& boxes = selected.boxes;
  const std::size_t ndims = var.dims.size();
  if (call.num == 0) return NC_NOERR;
  if (call.num < 0 || (ndims == 0 && call.num != 1)) return NC_EINVAL;
  if (ndims == 0) {
    boxes.push_back(box_of(varid, 0, nullptr, nullptr, nullptr));
    return NC_NOERR;
  }
  if (call.starts == nullptr) return NC_ENULLSTART;
  if (file.list == nullptr || !file.list->is_of(var.dims, puts, call)) {
    bool counted = call.counts != nullptr;
    for (int i = 0; i < call.num; ++i) {
      const MPI_Offset* count = call.counts == nullptr ? nullptr : call.counts[i];
      if (call.starts[i] == nullptr) return NC_ENULLSTART;
      if (const int code = check(file, var, call.starts[i], count, nullptr, false, puts); code != NC_NOERR)
        return code;
      counted &= count != nullptr;
    }
    if (!counted && call.counts != nullptr) {  // a NULL among them
      for (int i = 0; i < call.num; ++i)
        boxes.push_back(box_of(varid, ndims, call.starts[i], call.counts[i], nullptr));
      return NC_NOERR;
    }
    file.list = std::make_shared<const List>(var.dims, puts, call);
  }
  if (file.list->size() > 0) selected.list = file.list;
  return NC_NOERR;
}

// The boxes of a call, without where they lie in memory.
int select(File& file, int varid, const Variable& var, const door_call& call, bool puts, Selected& selected) {
  std::vector<Box>& boxes = selected.boxes;
  const std::size_t ndims = var.dims.size();
  if (call.form == door_var) {
    boxes.push_back(box_of(varid, ndims, nullptr, nullptr, nullptr));
    for (std::size_t i = 0; i < ndims; ++i)
      boxes[0].count[i] = file.length(var.dims[i]);
    return NC_NOERR;
  }
  if (call.form != door_varn) {
    boxes.push_back(box_of(varid, ndims, call.start, call.count, call.stride));
    return check(file, var, call.start, call.count, call.stride, call.form >= door_vara, puts);
  }
  return select_listed(file, varid, var, call, puts, selected);
}

// Shoal's conversions are PnetCDF's for floating point that fits.
bool shoal_converts(nc_type memory, nc_type type, const char* values, std::int64_t cells) {
  if (memory == NC_FLOAT && type == NC_DOUBLE) return true;
  if (memory != NC_DOUBLE || type != NC_FLOAT || reinterpret_cast<std::uintptr_t>(values) % 8 != 0)
    return false;
  constexpr double most = std::numeric_limits<float>::max();
  const auto* numbers = reinterpret_cast<const double*>(values);
  bool fit = true;
  for (std::int64_t i = 0; i < cells; ++i)
    fit &= !(std::fabs(numbers[i]) > most);
  return fit;
}

// Boxes lie one after the other, from `values` on.
void lay_out(Move& move, char* values, nc_type type) {
  move.of_list.values = values;
  move.of_list.type = type;
  for (Box& box : move.boxes) {
    box.values = values;
    box.type = type;
    values += cells_of(box) * static_cast<std::int64_t>(size_of(type));
  }
}

struct Asked {
  nc_type memory, type;
  Steps steps;  // of imap; empty: contiguous
  Memory mpi;
  ConversionRules rules;
};

int prepare_put(const File& file, const Variable& var, const door_call& call, const Asked& asked, bool copies,
                Move& move) {
  const auto cells = static_cast<std::size_t>(move.cells);
  const std::size_t size = size_of(asked.memory);
  const bool changes = converts(asked.memory, asked.type, asked.rules);
  auto* values = const_cast<char*>(static_cast<const char*>(call.values));
  if (asked.mpi.packed) {
    std::vector<char> packed(cells * size);
    int at = 0;
    MPI_Pack(call.values, static_cast<int>(call.bufcount), call.buftype, packed.data(),
             static_cast<int>(packed.size()), &at, file.comm);
    move.values.swap(packed);
    values = move.values.data();
  }
  if (!asked.steps.empty() && (changes || copies || asked.mpi.packed)) {
    std::vector<char> packed(cells * size);
    const auto& count = move.boxes[0].count;
    copy(count, size, values, asked.steps, packed.data(), contiguous(count, size));
    move.values.swap(packed);
    values = move.values.data();
  } else if (!asked.steps.empty()) {
    move.boxes[0].steps = asked.steps;
  }
  if (!changes) {
    if (copies && move.values.empty()) move.values.assign(values, values + cells * size);
    lay_out(move, move.values.empty() ? values : move.values.data(), asked.type);
    return NC_NOERR;
  }
  // What waits for others is of the variable's type: requests may be waited for alone, and read before.
  if (call.together != 0 && move.values.empty() && !copies &&
      shoal_converts(asked.memory, asked.type, values, move.cells)) {
    lay_out(move, values, asked.memory);
    return NC_NOERR;
  }
  std::vector<char> converted(cells * size_of(var.type));
  const std::vector<char> fill = fill_of(var);
  ConversionRules rules = asked.rules;
  rules.out_of_range = fill.data();
  move.code = convert(asked.memory, values, asked.type, converted.data(), cells, rules);
  move.values.swap(converted);
  lay_out(move, move.values.data(), asked.type);
  return move.code;
}

int prepare_get(const File& file, const door_call& call, const Asked& asked, Move& move) {
  auto* values = const_cast<char*>(static_cast<const char*>(call.values));
  const bool changes = converts(asked.memory, asked.type, asked.rules);
  if (!changes && !asked.mpi.packed) {
    if (!asked.steps.empty()) move.boxes[0].steps = asked.steps;
    lay_out(move, values, asked.type);
    return NC_NOERR;
  }
  move.values.resize(static_cast<std::size_t>(move.cells) * size_of(asked.type));
  lay_out(move, move.values.data(), asked.type);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  if (asked.mpi.packed) MPI_Type_dup(call.buftype, &type);
  move.deliver = [asked, values, type, bufcount = call.bufcount, comm = file.comm](Move& own) mutable {
    const std::size_t size = size_of(asked.memory), cells = static_cast<std::size_t>(own.cells);
    std::vector<char> converted(cells * size), mapped;
    const std::vector<char> fill = default_fill(asked.memory);
    ConversionRules rules = asked.rules;
    rules.out_of_range = fill.data();
    const int code = convert(asked.type, own.values.data(), asked.memory, converted.data(), cells, rules);
    if (!asked.mpi.packed && asked.steps.empty()) {
      std::memcpy(values, converted.data(), converted.size());
      return code;
    }
    if (!asked.steps.empty()) {
      const auto& count = own.boxes[0].count;
      if (!asked.mpi.packed) {
        copy(count, size, converted.data(), contiguous(count, size), values, asked.steps);
        return code;
      }
      mapped.resize(converted.size());
      copy(count, size, converted.data(), contiguous(count, size), mapped.data(), asked.steps);
      converted.swap(mapped);
    }
    int at = 0;
    MPI_Unpack(converted.data(), static_cast<int>(converted.size()), &at, values, static_cast<int>(bufcount),
               type, comm);
    MPI_Type_free(&type);
    return code;
  };
  return NC_NOERR;
}

}  // namespace

int prepare(File& file, int varid, const door_call& call, bool puts, bool copies, Move& move) {
  move.puts = puts;
  if (varid == NC_GLOBAL) return NC_EGLOBAL;
  const Variable* var = file.variable(varid);
  if (var == nullptr) return NC_ENOTVAR;
  Asked asked{call.memory, var->type, {}, {}, {file.format != NC_FORMAT_CDF5, nullptr}};
  const bool is_text = var->type == NC_CHAR;
  if (call.memory != NC_NAT && (call.memory == NC_CHAR) != is_text) return NC_ECHAR;
  Selected selected;
  if (const int code = select(file, varid, *var, call, puts, selected); code != NC_NOERR) return code;
  if (call.memory == NC_NAT) {
    // A list of a rank alone is held against its values, as are calls of all ranks.
    const bool compares = call.together != 0 || (call.form == door_varn && call.verb <= door_get);
    if (call.bufcount == 0 && call.buftype != MPI_DATATYPE_NULL && !compares) return NC_NOERR;
    if (const int code = memory_of(call.bufcount, call.buftype, var->type, asked.mpi); code != NC_NOERR)
      return code;
    asked.memory = asked.mpi.type;
    if ((asked.memory == NC_CHAR) != is_text) return NC_ECHAR;
  }
  for (Box& box : selected.boxes) {
    const std::int64_t cells = cells_of(box);
    move.cells += cells;
    if (cells > 0) move.boxes.push_back(std::move(box));
  }
  move.list = std::move(selected.list);
  if (move.list != nullptr) move.cells = move.list->cells();
  move.of_list.varid = varid;
  if (asked.mpi.cells >= 0 && asked.mpi.cells != move.cells) {
    move.clear();
    return NC_EIOMISMATCH;
  }
  if (move.cells == 0) return NC_NOERR;
  if (call.values == nullptr && !asked.mpi.packed) {
    move.clear();
    return NC_EINVAL;
  }
  for (std::size_t i = 0; call.form == door_varm && call.imap != nullptr && i < var->dims.size(); ++i)
    asked.steps.push_back(call.imap[i] * static_cast<std::int64_t>(size_of(asked.memory)));
  return puts ? prepare_put(file, *var, call, asked, copies, move) : prepare_get(file, call, asked, move);
}

int deliver(Move& move) {
  return move.deliver && !move.is_empty() ? move.deliver(move) : NC_NOERR;
}

}  // namespace door::pnetcdf
