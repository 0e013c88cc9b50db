// SPDX-License-Identifier: BSD-3-Clause
// How a variable is stored: chunks, filters, fill values, byte order, quantization. Each is checked and
// kept with the variable, and made with it at the end of the define mode.
#include <algorithm>
#include <cstring>
#include <utility>

#include "calls/calls.hpp"
#include "data/quantize.hpp"

namespace door::serve {

namespace {

// Numbers of filters in HDF5's list of them.
enum : unsigned { k_deflate = 1, k_shuffle = 2, k_fletcher32 = 3, k_szip = 4, k_zstandard = 32015 };
enum { k_most_zstandard = 22, k_least_zstandard = -131072, k_compact_bytes = 65536 };

// A variable that may still be changed so; `code`: why not.
Variable* changeable(File& file, int varid, int& code) {
  Variable* var = file.variable(varid);
  code = !file.netcdf4()  ? NC_ENOTNC4
         : !file.writable ? NC_EPERM
         : var == nullptr ? NC_ENOTVAR
         : var->made      ? NC_ELATEDEF
                          : NC_NOERR;
  return code == NC_NOERR ? var : nullptr;
}

// Filters need chunks, and collective access.
void take_filter(Variable& var) {
  var.storage = NC_CHUNKED;
  var.access = NC_COLLECTIVE;
}

void again(File& file, std::function<int(const door_functions&, int)> in_library) {
  file.steps.push_back({std::move(in_library), {}});
}

const Variable* stored(File& file, int varid, int& code) {
  const Variable* var = file.variable(varid);
  code = var == nullptr ? NC_ENOTVAR : NC_NOERR;
  return var;
}

template <class T, class Value>
void give(T* out, Value value) {
  if (out != nullptr) *out = static_cast<T>(value);
}

struct Filter {
  unsigned id;
  std::vector<unsigned> parameters;
};

std::vector<Filter> filters_of(const Variable& var) {
  std::vector<Filter> filters;
  if (var.shuffle) filters.push_back({k_shuffle, {}});
  if (var.deflate != 0) filters.push_back({k_deflate, {static_cast<unsigned>(var.deflate)}});
  if (var.has_zstandard) filters.push_back({k_zstandard, {static_cast<unsigned>(var.zstandard)}});
  if (var.fletcher32) filters.push_back({k_fletcher32, {}});
  return filters;
}

int check_chunks(const File& file, const Variable& var, const size_t* chunks) {
  double bytes = static_cast<double>(size_of(var.type));
  for (std::size_t i = 0; i < var.dims.size(); ++i) {
    const Dimension& dim = file.definitions.dims[static_cast<std::size_t>(var.dims[i])];
    if (chunks[i] < 1 || (!dim.unlimited && dim.length > 0 && chunks[i] > dim.length)) return NC_EBADCHUNK;
    bytes *= static_cast<double>(chunks[i]);
  }
  return bytes > 4294967295.0 ? NC_EBADCHUNK : NC_NOERR;
}

// Chunks as they are told before the file has them: a record, whole.
std::vector<size_t> likely_chunks(const File& file, const Variable& var) {
  std::vector<size_t> chunks;
  for (const int id : var.dims) {
    const Dimension& dim = file.definitions.dims[static_cast<std::size_t>(id)];
    chunks.push_back(dim.unlimited ? 1 : std::max<size_t>(dim.length, 1));
  }
  return chunks;
}

bool is_number(nc_type type) {
  return type != NC_CHAR && type != NC_STRING;
}

}  // namespace

int nc_def_var_deflate(File& file, int varid, int shuffle, int deflate, int deflate_level) {
  int code = NC_NOERR;
  Variable* var = changeable(file, varid, code);
  if (var == nullptr) return code;
  if (deflate != 0 && (deflate_level < NC_MIN_DEFLATE_LEVEL || deflate_level > NC_MAX_DEFLATE_LEVEL))
    return NC_EINVAL;
  if (var->dims.empty()) return shuffle != 0 || deflate != 0 ? NC_EINVAL : NC_NOERR;
  if (shuffle != 0) var->shuffle = true;
  if (deflate != 0) var->deflate = deflate_level;
  if (var->filtered()) take_filter(*var);
  again(file, [=](const door_functions& own, int ncid) {
    return own.nc_def_var_deflate(ncid, varid, shuffle, deflate, deflate_level);
  });
  return NC_NOERR;
}

int nc_inq_var_deflate(File& file, int varid, int* shufflep, int* deflatep, int* deflate_levelp) {
  int code = NC_NOERR;
  const Variable* var = stored(file, varid, code);
  if (var == nullptr) return code;
  give(shufflep, var->shuffle);
  give(deflatep, var->deflate != 0);
  give(deflate_levelp, var->deflate);
  return NC_NOERR;
}

int nc_def_var_zstandard(File& file, int varid, int level) {
  int code = NC_NOERR;
  Variable* var = changeable(file, varid, code);
  if (var == nullptr) return code;
  if (level < k_least_zstandard || level > k_most_zstandard || var->dims.empty()) return NC_EINVAL;
  if (level < 1) throw HandBack{var->name + " has zstandard of level " + std::to_string(level)};
  var->has_zstandard = true;
  var->zstandard = level;
  take_filter(*var);
  again(file, [=](const door_functions& own, int ncid) {
    return own.nc_def_var_zstandard != nullptr ? own.nc_def_var_zstandard(ncid, varid, level) : NC_ENOFILTER;
  });
  return NC_NOERR;
}

int nc_inq_var_zstandard(File& file, int varid, int* hasfilterp, int* levelp) {
  int code = NC_NOERR;
  const Variable* var = stored(file, varid, code);
  if (var == nullptr) return code;
  give(hasfilterp, var->has_zstandard);
  if (var->has_zstandard) give(levelp, var->zstandard);
  return NC_NOERR;
}

int nc_def_var_fletcher32(File& file, int varid, int fletcher32) {
  int code = NC_NOERR;
  Variable* var = changeable(file, varid, code);
  if (var == nullptr) return code;
  if (fletcher32 != 0 && var->dims.empty()) return NC_EINVAL;
  if (fletcher32 != 0) {
    var->fletcher32 = true;
    take_filter(*var);
  }
  again(file, [=](const door_functions& own, int ncid) {
    return own.nc_def_var_fletcher32(ncid, varid, fletcher32);
  });
  return NC_NOERR;
}

int nc_inq_var_fletcher32(File& file, int varid, int* fletcher32p) {
  int code = NC_NOERR;
  if (const Variable* var = stored(file, varid, code); var != nullptr) give(fletcher32p, var->fletcher32);
  return code;
}

int nc_def_var_filter(File& file, int varid, unsigned int id, size_t nparams, const unsigned int* parms) {
  int code = NC_NOERR;
  Variable* var = changeable(file, varid, code);
  if (var == nullptr) return code;
  const bool level = nparams == 1 && parms != nullptr;
  if (id == k_deflate && level && parms[0] >= 1 && parms[0] <= NC_MAX_DEFLATE_LEVEL)
    return nc_def_var_deflate(file, varid, 0, 1, static_cast<int>(parms[0]));
  if (id == k_shuffle && nparams == 0) return nc_def_var_deflate(file, varid, 1, 0, 0);
  if (id == k_fletcher32 && nparams == 0) return nc_def_var_fletcher32(file, varid, 1);
  if (id == k_zstandard && level) return nc_def_var_zstandard(file, varid, static_cast<int>(parms[0]));
  throw HandBack{var->name + " has filter " + std::to_string(id)};
}

int nc_inq_var_filter_ids(File& file, int varid, size_t* nfilters, unsigned int* filterids) {
  int code = NC_NOERR;
  const Variable* var = stored(file, varid, code);
  if (var == nullptr) return code;
  const std::vector<Filter> filters = filters_of(*var);
  give(nfilters, filters.size());
  for (std::size_t i = 0; i < filters.size() && filterids != nullptr; ++i)
    filterids[i] = filters[i].id;
  return NC_NOERR;
}

int nc_inq_var_filter_info(File& file, int varid, unsigned int id, size_t* nparams, unsigned int* params) {
  int code = NC_NOERR;
  const Variable* var = stored(file, varid, code);
  if (var == nullptr) return code;
  for (const Filter& filter : filters_of(*var)) {
    if (filter.id != id) continue;
    give(nparams, filter.parameters.size());
    for (std::size_t i = 0; i < filter.parameters.size() && params != nullptr; ++i)
      params[i] = filter.parameters[i];
    return NC_NOERR;
  }
  return NC_ENOFILTER;
}

int nc_inq_var_filter(File& file, int varid, unsigned int* idp, size_t* nparams, unsigned int* params) {
  int code = NC_NOERR;
  const Variable* var = stored(file, varid, code);
  if (var == nullptr) return code;
  const std::vector<Filter> filters = filters_of(*var);
  if (filters.empty()) {
    give(idp, 0);
    give(nparams, 0);
    return NC_NOERR;
  }
  give(idp, filters[0].id);
  return nc_inq_var_filter_info(file, varid, filters[0].id, nparams, params);
}

int nc_inq_filter_avail(File& file, unsigned id) {
  if (!file.netcdf4()) return NC_ENOTNC4;
  for (const unsigned known : {k_deflate, k_shuffle, k_fletcher32, k_zstandard})
    if (id == known) return NC_NOERR;
  const bool there = program().has_filter != nullptr && program().has_filter(static_cast<int>(id)) > 0;
  return there ? NC_NOERR : NC_ENOFILTER;
}

int nc_inq_var_szip(File& file, int varid, int* options_maskp, int* pixels_per_blockp) {
  int code = NC_NOERR;
  if (stored(file, varid, code) == nullptr) return code;
  give(options_maskp, 0);
  give(pixels_per_blockp, 0);
  return NC_NOERR;
}

int nc_inq_var_bzip2(File& file, int varid, int* hasfilterp, int*) {
  int code = NC_NOERR;
  if (stored(file, varid, code) != nullptr) give(hasfilterp, 0);
  return code;
}

int nc_inq_var_blosc(File& file, int varid, int* hasfilterp, unsigned*, unsigned*, unsigned*, unsigned*) {
  return nc_inq_var_bzip2(file, varid, hasfilterp, nullptr);
}

int nc_def_var_chunking(File& file, int varid, int storage, const size_t* chunksizesp) {
  int code = NC_NOERR;
  Variable* var = changeable(file, varid, code);
  if (var == nullptr) return code;
  if (storage != NC_CHUNKED && storage != NC_CONTIGUOUS && storage != NC_COMPACT) return NC_EINVAL;
  if (storage == NC_CHUNKED && var->dims.empty()) return NC_EINVAL;
  if (storage != NC_CHUNKED) {
    const bool grows =
        !var->dims.empty() && file.definitions.dims[static_cast<std::size_t>(var->dims[0])].unlimited;
    if (var->filtered() || grows) return NC_EINVAL;
  }
  if (storage == NC_CHUNKED && chunksizesp != nullptr)
    if (code = check_chunks(file, *var, chunksizesp); code != NC_NOERR) return code;
  if (storage == NC_COMPACT) {
    size_t bytes = size_of(var->type);
    for (const size_t length : likely_chunks(file, *var))
      bytes *= length;
    if (bytes > k_compact_bytes) return NC_EVARSIZE;
    throw HandBack{var->name + " has compact storage"};
  }
  var->storage = storage;
  if (storage == NC_CHUNKED && chunksizesp != nullptr)
    var->chunks.assign(chunksizesp, chunksizesp + var->dims.size());
  again(file, [=, chunks = chunksizesp != nullptr ? var->chunks : std::vector<size_t>()](
                  const door_functions& own, int ncid) {
    return own.nc_def_var_chunking(ncid, varid, storage, chunks.empty() ? nullptr : chunks.data());
  });
  return NC_NOERR;
}

int nc_inq_var_chunking(File& file, int varid, int* storagep, size_t* chunksizesp) {
  int code = NC_NOERR;
  const Variable* var = stored(file, varid, code);
  if (var == nullptr) return code;
  give(storagep, file.netcdf4() ? var->storage : NC_CONTIGUOUS);
  if (chunksizesp == nullptr || var->storage != NC_CHUNKED) return NC_NOERR;
  const std::vector<size_t> chunks = var->chunks.empty() ? likely_chunks(file, *var) : var->chunks;
  std::copy(chunks.begin(), chunks.end(), chunksizesp);
  return NC_NOERR;
}

int nc_def_var_chunking_ints(File& file, int varid, int storage, int* chunksizesp) {
  const Variable* var = file.variable(varid);
  if (var == nullptr || chunksizesp == nullptr) return nc_def_var_chunking(file, varid, storage, nullptr);
  const std::vector<size_t> chunks(chunksizesp, chunksizesp + var->dims.size());
  return nc_def_var_chunking(file, varid, storage, chunks.data());
}

int nc_inq_var_chunking_ints(File& file, int varid, int* storagep, int* chunksizesp) {
  const Variable* var = file.variable(varid);
  std::vector<size_t> chunks(var == nullptr ? 0 : var->dims.size());
  const int code = nc_inq_var_chunking(file, varid, storagep, chunks.data());
  if (code == NC_NOERR && chunksizesp != nullptr && var->storage == NC_CHUNKED)
    for (std::size_t i = 0; i < chunks.size(); ++i)
      chunksizesp[i] = static_cast<int>(chunks[i]);
  return code;
}

int nc_def_var_fill(File& file, int varid, int no_fill, const void* fill_value) {
  Variable* var = file.variable(varid);
  if (!file.writable) return NC_EPERM;
  if (var == nullptr) return NC_ENOTVAR;
  if (!file.netcdf4() && !file.defining) return NC_ENOTINDEFINE;
  if (var->made) return NC_ELATEDEF;
  var->no_fill = no_fill != 0 ? 1 : 0;
  const size_t bytes = fill_value != nullptr && no_fill == 0 ? size_of(var->type) : 0;
  const int own = door::find(var->attributes, "_FillValue");
  if (own >= 0 && (bytes != 0 || no_fill != 0)) var->attributes.erase(var->attributes.begin() + own);
  std::vector<char> value(bytes);
  if (bytes != 0) {
    std::memcpy(value.data(), fill_value, bytes);
    var->attributes.push_back({"_FillValue", var->type, 1, value, {}});
  }
  file.steps.push_back(
      {[=](const door_functions& library, int ncid) {
         return library.nc_def_var_fill(ncid, varid, no_fill, value.empty() ? nullptr : value.data());
       },
       [=, name = var->name, type = var->type](shoal_dataset* dataset) {
         if (no_fill != 0 && own >= 0) return shoal_delete_att(dataset, name.c_str(), "_FillValue");
         return value.empty() ? SHOAL_OK
                              : shoal_put_att(dataset, name.c_str(), "_FillValue", type, 1, value.data());
       }});
  return NC_NOERR;
}

int nc_inq_var_fill(File& file, int varid, int* no_fill, void* fill_valuep) {
  const Variable* var = file.variable(varid);
  if (var == nullptr) return NC_ENOTVAR;
  give(no_fill, var->no_fill);
  if (fill_valuep == nullptr || (file.netcdf4() && var->no_fill != 0)) return NC_NOERR;
  const std::vector<char> fill = fill_of(*var);
  std::memcpy(fill_valuep, fill.data(), fill.size());
  return NC_NOERR;
}

int nc_def_var_endian(File& file, int varid, int endian) {
  int code = NC_NOERR;
  Variable* var = changeable(file, varid, code);
  if (var == nullptr) return code;
  if (!is_number(var->type)) return NC_EINVAL;
  if (endian == NC_ENDIAN_BIG) throw HandBack{var->name + " has the byte order of other machines"};
  var->endian = endian;
  again(file,
        [=](const door_functions& own, int ncid) { return own.nc_def_var_endian(ncid, varid, endian); });
  return NC_NOERR;
}

int nc_inq_var_endian(File& file, int varid, int* endianp) {
  int code = NC_NOERR;
  if (const Variable* var = stored(file, varid, code); var != nullptr) give(endianp, var->endian);
  return code;
}

int nc_def_var_quantize(File& file, int varid, int quantize_mode, int nsd) {
  int code = NC_NOERR;
  Variable* var = changeable(file, varid, code);
  if (var == nullptr) return code;
  if (quantize_mode < NC_NOQUANTIZE || quantize_mode > NC_QUANTIZE_BITROUND) return NC_EINVAL;
  if (quantize_mode != NC_NOQUANTIZE) {
    if (var->type != NC_FLOAT && var->type != NC_DOUBLE) return NC_EINVAL;
    const bool bits = quantize_mode == NC_QUANTIZE_BITROUND;
    const int most = var->type == NC_FLOAT ? (bits ? NC_QUANTIZE_MAX_FLOAT_NSB : NC_QUANTIZE_MAX_FLOAT_NSD)
                                           : (bits ? NC_QUANTIZE_MAX_DOUBLE_NSB : NC_QUANTIZE_MAX_DOUBLE_NSD);
    if (nsd <= 0 || nsd > most) return NC_EINVAL;
    if (!quantizes(var->type, quantize_mode, nsd)) throw HandBack{var->name + " is quantized by netCDF"};
  }
  var->quantize = quantize_mode;
  var->digits = quantize_mode == NC_NOQUANTIZE ? 0 : nsd;
  again(file, [=](const door_functions& own, int ncid) {
    return own.nc_def_var_quantize != nullptr ? own.nc_def_var_quantize(ncid, varid, quantize_mode, nsd)
                                              : NC_NOERR;
  });
  return NC_NOERR;
}

int nc_inq_var_quantize(File& file, int varid, int* quantize_modep, int* nsdp) {
  int code = NC_NOERR;
  const Variable* var = stored(file, varid, code);
  if (var == nullptr) return code;
  give(quantize_modep, var->quantize);
  give(nsdp, var->digits);
  return NC_NOERR;
}

int nc_set_var_chunk_cache(File& file, int varid, size_t size, size_t nelems, float preemption) {
  Variable* var = file.variable(varid);
  if (var == nullptr) return NC_ENOTVAR;
  if (!(preemption >= 0 && preemption <= 1)) return NC_EINVAL;
  var->cache_bytes = size;
  var->cache_slots = nelems;
  var->cache_preemption = preemption;
  if (!file.defining) return NC_NOERR;
  again(file, [=](const door_functions& own, int ncid) {
    return own.nc_set_var_chunk_cache(ncid, varid, size, nelems, preemption);
  });
  return NC_NOERR;
}

int nc_get_var_chunk_cache(File& file, int varid, size_t* sizep, size_t* nelemsp, float* preemptionp) {
  int code = NC_NOERR;
  const Variable* var = stored(file, varid, code);
  if (var == nullptr) return code;
  give(sizep, var->cache_bytes);
  give(nelemsp, var->cache_slots);
  give(preemptionp, var->cache_preemption);
  return NC_NOERR;
}

// Of the file: what HDF5 has unless asked otherwise, as netCDF leaves it with a communicator.
int nc4_hdf5_get_chunk_cache(File& file, size_t* sizep, size_t* nelemsp, float* preemptionp) {
  if (!file.netcdf4()) return NC_ENOTNC4;
  give(sizep, 1048576);
  give(nelemsp, 521);
  give(preemptionp, 0.75);
  return NC_NOERR;
}

int nc_set_var_chunk_cache_ints(File& file, int varid, int size, int nelems, int preemption) {
  // What is negative stays as it is; megabytes and hundredths, as Fortran gives them.
  const Variable* var = file.variable(varid);
  if (var == nullptr) return NC_ENOTVAR;
  return nc_set_var_chunk_cache(
      file, varid, size >= 0 ? static_cast<size_t>(size) << 20 : var->cache_bytes,
      nelems >= 0 ? static_cast<size_t>(nelems) : var->cache_slots,
      preemption >= 0 ? static_cast<float>(preemption) / 100 : var->cache_preemption);
}

int nc_get_var_chunk_cache_ints(File& file, int varid, int* sizep, int* nelemsp, int* preemptionp) {
  int code = NC_NOERR;
  const Variable* var = stored(file, varid, code);
  if (var == nullptr) return code;
  give(sizep, var->cache_bytes >> 20);
  give(nelemsp, var->cache_slots);
  give(preemptionp, var->cache_preemption * 100);
  return NC_NOERR;
}

}  // namespace door::serve
