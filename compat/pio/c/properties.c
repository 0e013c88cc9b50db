/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What variables of netCDF-4 files have beside their names: chunks, filters, quantizing, byte order, chunk
 * caches. PIO defines one filter a call, Shoal all of them at once: they are kept for each new variable.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum { k_deflate = 1, k_shuffle = 2, k_fletcher = 3, k_szip = 4, k_bzip2 = 307, k_zstd = 32015 };

static spio_variable* netcdf4_variable(spio_file* file, int varid, int* code) {
  spio_variable* variable = spio_variable_of(file, varid, code);
  if (variable != NULL && !spio_is_netcdf4(file)) {
    *code = spio_fail(PIO_ENOTNC4, "the file has a classic format");
    return NULL;
  }
  return variable;
}

/* To be defined on: the file is written, the variable new. */
static spio_variable* new_variable(spio_file* file, int varid, int* code) {
  spio_variable* variable = netcdf4_variable(file, varid, code);
  if (variable == NULL) return NULL;
  *code = spio_may_define(file);
  if (*code == PIO_NOERR) *code = spio_is_new(file, varid);
  return *code == PIO_NOERR ? variable : NULL;
}

/* ---- Filters ------------------------------------------------------------------------------- */

static int set_filters(spio_file* file, spio_variable* variable, const spio_filters* filters) {
  char text[96] = "";
  size_t used = 0;
#define ADD(...) used += (size_t)snprintf(text + used, sizeof text - used, __VA_ARGS__)
  if (filters->shuffle) ADD("+shuffle");
  if (filters->deflate > 0) ADD("+deflate:%d", filters->deflate);
  if (filters->zstd > 0) ADD("+zstd:%d", filters->zstd);
  if (filters->fletcher) ADD("+fletcher32");
#undef ADD
  const int status = shoal_def_compression(file->dataset, variable->name, used > 0 ? text + 1 : "none");
  if (status != SHOAL_OK) return spio_fail(PIO_EFILTER, "%s", shoal_error_message());
  variable->filters = *filters;
  return PIO_NOERR;
}

/* Filters as the dataset has them, with the settings' defaults. */
static int get_filters(const spio_file* file, const spio_variable* variable, spio_filters* out, char* all,
                       size_t size) {
  shoal_var_info info = SHOAL_VAR_INFO_INIT;
  const int code = spio_code(shoal_inq_var(file->dataset, variable->index, &info));
  if (code != PIO_NOERR) return code;
  *out = (spio_filters){0, 0, 0, 0};
  const char* text = info.filters == NULL ? "none" : info.filters;
  if (all != NULL) snprintf(all, size, "%s", text);
  /* Whole words: "blosc:zstd:5:bitshuffle" is neither of them. */
  for (const char* word = text; *word != '\0'; word += *word == '+') {
    const size_t length = strcspn(word, "+");
    if (length == 7 && strncmp(word, "shuffle", length) == 0) out->shuffle = 1;
    if (length == 10 && strncmp(word, "fletcher32", length) == 0) out->fletcher = 1;
    if (strncmp(word, "deflate:", 8) == 0) out->deflate = atoi(word + 8);
    if (strncmp(word, "zstd:", 5) == 0) out->zstd = atoi(word + 5);
    word += length;
  }
  return PIO_NOERR;
}

static int def_deflate(spio_file* file, int varid, int shuffle, int deflate, int level) {
  int code = PIO_NOERR;
  spio_variable* variable = new_variable(file, varid, &code);
  if (variable == NULL) return code;
  if (deflate && (level < 0 || level > 9))
    return spio_fail(PIO_EINVAL, "level %d of deflate; there are 0 to 9", level);
  spio_filters filters = variable->filters;
  filters.shuffle = shuffle != 0;
  filters.deflate = deflate ? level : 0;
  return set_filters(file, variable, &filters);
}

int PIOc_def_var_deflate(int ncid, int varid, int shuffle, int deflate, int deflate_level) {
  SPIO_FILE_OF_ALL("PIOc_def_var_deflate", "def_var_deflate", ncid);
  int code = spio_match_file(file, "def_var_deflate", PIO_NOERR, "variable %d, %d, %d, %d", varid, shuffle,
                             deflate, deflate_level);
  if (code == PIO_NOERR) code = def_deflate(file, varid, shuffle, deflate, deflate_level);
  return spio_end_file(file, "PIOc_def_var_deflate", code);
}

int PIOc_inq_var_deflate(int ncid, int varid, int* shufflep, int* deflatep, int* deflate_levelp) {
  SPIO_FILE("PIOc_inq_var_deflate", ncid);
  int code = PIO_NOERR;
  spio_filters filters;
  const spio_variable* variable = netcdf4_variable(file, varid, &code);
  if (variable != NULL) code = get_filters(file, variable, &filters, NULL, 0);
  if (code == PIO_NOERR) {
    if (shufflep != NULL) *shufflep = filters.shuffle;
    if (deflatep != NULL) *deflatep = filters.deflate > 0;
    if (deflate_levelp != NULL) *deflate_levelp = filters.deflate;
  }
  return spio_end_file(file, "PIOc_inq_var_deflate", code);
}

static int def_zstandard(spio_file* file, int varid, int level) {
  int code = PIO_NOERR;
  spio_variable* variable = new_variable(file, varid, &code);
  if (variable == NULL) return code;
  if (level < 1 || level > 22)
    return spio_fail(PIO_EINVAL, "level %d of zstandard; there are 1 to 22", level);
  spio_filters filters = variable->filters;
  filters.zstd = level;
  return set_filters(file, variable, &filters);
}

int PIOc_def_var_zstandard(int ncid, int varid, int level) {
  SPIO_FILE_OF_ALL("PIOc_def_var_zstandard", "def_var_zstandard", ncid);
  int code = spio_match_file(file, "def_var_zstandard", PIO_NOERR, "variable %d, level %d", varid, level);
  if (code == PIO_NOERR) code = def_zstandard(file, varid, level);
  return spio_end_file(file, "PIOc_def_var_zstandard", code);
}

int PIOc_inq_var_zstandard(int ncid, int varid, int* hasfilterp, int* levelp) {
  SPIO_FILE("PIOc_inq_var_zstandard", ncid);
  int code = PIO_NOERR;
  spio_filters filters;
  const spio_variable* variable = netcdf4_variable(file, varid, &code);
  if (variable != NULL) code = get_filters(file, variable, &filters, NULL, 0);
  if (code == PIO_NOERR) {
    if (hasfilterp != NULL) *hasfilterp = filters.zstd > 0;
    if (levelp != NULL) *levelp = filters.zstd;
  }
  return spio_end_file(file, "PIOc_inq_var_zstandard", code);
}

static int no_code_for(spio_file* file, int varid, const char* name) {
  int code = PIO_NOERR;
  if (new_variable(file, varid, &code) == NULL) return code;
  return spio_fail(PIO_EFILTER, "there is no code for %s: choose deflate or zstandard", name);
}

int PIOc_def_var_bzip2(int ncid, int varid, int level) {
  SPIO_FILE_OF_ALL("PIOc_def_var_bzip2", "def_var_bzip2", ncid);
  int code = spio_match_file(file, "def_var_bzip2", PIO_NOERR, "variable %d, level %d", varid, level);
  if (code == PIO_NOERR) code = no_code_for(file, varid, "bzip2");
  return spio_end_file(file, "PIOc_def_var_bzip2", code);
}

int PIOc_def_var_szip(int ncid, int varid, int options_mask, int pixels_per_block) {
  SPIO_FILE_OF_ALL("PIOc_def_var_szip", "def_var_szip", ncid);
  int code = spio_match_file(file, "def_var_szip", PIO_NOERR, "variable %d, %d, %d", varid, options_mask,
                             pixels_per_block);
  if (code == PIO_NOERR) code = no_code_for(file, varid, "szip");
  return spio_end_file(file, "PIOc_def_var_szip", code);
}

/* Variables of other programs may have filters that Shoal has only a name for. */
static int has_filter(spio_file* file, int varid, const char* name, int* out) {
  int code = PIO_NOERR;
  spio_filters filters;
  char all[256] = "";
  const spio_variable* variable = netcdf4_variable(file, varid, &code);
  if (variable != NULL) code = get_filters(file, variable, &filters, all, sizeof all);
  *out = strstr(all, name) != NULL;
  return code;
}

int PIOc_inq_var_bzip2(int ncid, int varid, int* hasfilterp, int* levelp) {
  SPIO_FILE("PIOc_inq_var_bzip2", ncid);
  int has = 0;
  const int code = has_filter(file, varid, "bzip2", &has);
  if (code == PIO_NOERR && hasfilterp != NULL) *hasfilterp = has;
  if (code == PIO_NOERR && levelp != NULL) *levelp = 0;
  return spio_end_file(file, "PIOc_inq_var_bzip2", code);
}

int PIOc_inq_var_szip(int ncid, int varid, int* options_maskp, int* pixels_per_blockp) {
  SPIO_FILE("PIOc_inq_var_szip", ncid);
  int code = PIO_NOERR;
  if (netcdf4_variable(file, varid, &code) != NULL) {
    if (options_maskp != NULL) *options_maskp = 0;
    if (pixels_per_blockp != NULL) *pixels_per_blockp = 0;
  }
  return spio_end_file(file, "PIOc_inq_var_szip", code);
}

static int def_filter(spio_file* file, int varid, unsigned int id, size_t nparams,
                      const unsigned int* params) {
  int code = PIO_NOERR;
  spio_variable* variable = new_variable(file, varid, &code);
  if (variable == NULL) return code;
  spio_filters filters = variable->filters;
  const int level = nparams > 0 && params != NULL ? (int)params[0] : -1;
  if (id == k_shuffle) {
    filters.shuffle = 1;
  } else if (id == k_fletcher) {
    filters.fletcher = 1;
  } else if (id == k_deflate && level >= 0 && level <= 9) {
    filters.deflate = level;
  } else if (id == k_zstd && level >= 1 && level <= 22) {
    filters.zstd = level;
  } else if (id == k_deflate || id == k_zstd) {
    return spio_fail(PIO_EINVAL, "filter %u wants one number, its level", id);
  } else {
    return spio_fail(
        PIO_EFILTER,
        "there is no code for filter %u: 1 (deflate), 2 (shuffle), 3 (fletcher32), 32015 (zstandard)", id);
  }
  return set_filters(file, variable, &filters);
}

int PIOc_def_var_filter(int ncid, int varid, unsigned int id, size_t nparams, unsigned int* params) {
  SPIO_FILE_OF_ALL("PIOc_def_var_filter", "def_var_filter", ncid);
  int code = spio_match_file(file, "def_var_filter", PIO_NOERR, "variable %d, filter %u, %zu numbers, %u",
                             varid, id, nparams, nparams > 0 && params != NULL ? params[0] : 0);
  if (code == PIO_NOERR) code = def_filter(file, varid, id, nparams, params);
  return spio_end_file(file, "PIOc_def_var_filter", code);
}

/* The filters with their numbers, in the order in which they are applied. */
static size_t list_filters(const spio_filters* filters, unsigned int ids[4], unsigned int levels[4]) {
  size_t n = 0;
  if (filters->shuffle) levels[n] = 0, ids[n++] = k_shuffle;
  if (filters->deflate > 0) levels[n] = (unsigned)filters->deflate, ids[n++] = k_deflate;
  if (filters->zstd > 0) levels[n] = (unsigned)filters->zstd, ids[n++] = k_zstd;
  if (filters->fletcher) levels[n] = 0, ids[n++] = k_fletcher;
  return n;
}

int PIOc_inq_var_filter_ids(int ncid, int varid, size_t* nfiltersp, unsigned int* ids) {
  SPIO_FILE("PIOc_inq_var_filter_ids", ncid);
  int code = PIO_NOERR;
  spio_filters filters;
  const spio_variable* variable = netcdf4_variable(file, varid, &code);
  if (variable != NULL) code = get_filters(file, variable, &filters, NULL, 0);
  if (code == PIO_NOERR) {
    unsigned int own_ids[4];
    unsigned int levels[4];
    const size_t n = list_filters(&filters, own_ids, levels);
    if (nfiltersp != NULL) *nfiltersp = n;
    if (ids != NULL) memcpy(ids, own_ids, n * sizeof *ids);
  }
  return spio_end_file(file, "PIOc_inq_var_filter_ids", code);
}

static int filter_info(spio_file* file, int varid, unsigned int id, size_t* nparamsp, unsigned int* params) {
  int code = PIO_NOERR;
  spio_filters filters;
  const spio_variable* variable = netcdf4_variable(file, varid, &code);
  if (variable != NULL) code = get_filters(file, variable, &filters, NULL, 0);
  if (code != PIO_NOERR) return code;
  unsigned int ids[4];
  unsigned int levels[4];
  const size_t n = list_filters(&filters, ids, levels);
  for (size_t i = 0; i < n; ++i) {
    if (ids[i] != id) continue;
    const int has_level = id == k_deflate || id == k_zstd;
    if (nparamsp != NULL) *nparamsp = has_level ? 1 : 0;
    if (params != NULL && has_level) *params = levels[i];
    return PIO_NOERR;
  }
  return spio_fail(PIO_ENOFILTER, "variable '%s' does not have filter %u", variable->name, id);
}

int PIOc_inq_var_filter_info(int ncid, int varid, unsigned int id, size_t* nparamsp, unsigned int* params) {
  SPIO_FILE("PIOc_inq_var_filter_info", ncid);
  return spio_end_file(file, "PIOc_inq_var_filter_info", filter_info(file, varid, id, nparamsp, params));
}

/* An answer, not an error: the handler is not asked. */
int PIOc_inq_filter_avail(int ncid, unsigned int id) {
  SPIO_FILE("PIOc_inq_filter_avail", ncid);
  if (!spio_is_netcdf4(file))
    return spio_end_file(file, "PIOc_inq_filter_avail",
                         spio_fail(PIO_ENOTNC4, "the file has a classic format"));
  if (id == k_deflate || id == k_shuffle || id == k_fletcher) return PIO_NOERR;
  if (id == k_zstd && strstr(shoal_build_info(), "zstd") != NULL) return PIO_NOERR;
  return PIO_ENOFILTER;
}

/* ---- Chunks -------------------------------------------------------------------------------- */

static int def_chunking(spio_file* file, int varid, int storage, const PIO_Offset* sizes) {
  int code = PIO_NOERR;
  spio_variable* variable = new_variable(file, varid, &code);
  if (variable == NULL) return code;
  if (storage == PIO_CONTIGUOUS) {
    const spio_filters* f = &variable->filters;
    if (variable->has_record || f->shuffle || f->deflate || f->zstd || f->fletcher)
      return spio_fail(PIO_ESTORAGE, "variable '%s' has records or filters, which need chunks",
                       variable->name);
    return PIO_NOERR; /* as variables without a chunk shape are stored */
  }
  if (storage != PIO_CHUNKED)
    return spio_fail(PIO_EINVAL, "storage %d: there are 0 (chunked) and 1 (contiguous)", storage);
  if (sizes == NULL || variable->ndims == 0) return PIO_NOERR;
  int64_t chunks[SHOAL_MAX_DIMS];
  for (int i = 0; i < variable->ndims; ++i) {
    chunks[i] = (int64_t)sizes[i];
    if (chunks[i] < 1 || (variable->lengths[i] != SHOAL_UNLIMITED && chunks[i] > variable->lengths[i]))
      return spio_fail(PIO_EBADCHUNK,
                       "variable '%s': chunks of %lld in dimension %d, which has the length %lld",
                       variable->name, (long long)chunks[i], i, (long long)variable->lengths[i]);
  }
  const int status = shoal_def_chunks(file->dataset, variable->name, chunks);
  return status == SHOAL_INVALID_ARGUMENT ? spio_fail(PIO_EBADCHUNK, "%s", shoal_error_message())
                                          : spio_code(status);
}

int PIOc_def_var_chunking(int ncid, int varid, int storage, const PIO_Offset* chunksizesp) {
  SPIO_FILE_OF_ALL("PIOc_def_var_chunking", "def_var_chunking", ncid);
  char sizes[SHOAL_MAX_DIMS * 21 + 1] = "";
  const int ndims = varid >= 0 && varid < file->nvariables ? file->variables[varid].ndims : 0;
  for (int i = 0, used = 0; chunksizesp != NULL && storage == PIO_CHUNKED && i < ndims && i < SHOAL_MAX_DIMS;
       ++i)
    used += snprintf(sizes + used, sizeof sizes - (size_t)used, " %lld", (long long)chunksizesp[i]);
  int code = spio_match_file(file, "def_var_chunking", PIO_NOERR, "variable %d, storage %d%s%s", varid,
                             storage, chunksizesp == NULL ? "" : ", chunks", sizes);
  if (code == PIO_NOERR) code = def_chunking(file, varid, storage, chunksizesp);
  return spio_end_file(file, "PIOc_def_var_chunking", code);
}

static int inq_chunking(spio_file* file, int varid, int* storagep, PIO_Offset* sizes) {
  int code = PIO_NOERR;
  const spio_variable* variable = netcdf4_variable(file, varid, &code);
  if (variable == NULL) return code;
  shoal_var_info info = SHOAL_VAR_INFO_INIT;
  code = spio_code(shoal_inq_var(file->dataset, variable->index, &info));
  if (code != PIO_NOERR) return code;
  if (storagep != NULL) *storagep = info.chunks == NULL ? PIO_CONTIGUOUS : PIO_CHUNKED;
  for (int i = 0; sizes != NULL && info.chunks != NULL && i < info.ndims; ++i)
    sizes[i] = (PIO_Offset)info.chunks[i];
  return PIO_NOERR;
}

int PIOc_inq_var_chunking(int ncid, int varid, int* storagep, PIO_Offset* chunksizesp) {
  SPIO_FILE("PIOc_inq_var_chunking", ncid);
  return spio_end_file(file, "PIOc_inq_var_chunking", inq_chunking(file, varid, storagep, chunksizesp));
}

/* ---- Byte order ---------------------------------------------------------------------------- */

static int def_endian(spio_file* file, int varid, int endian) {
  int code = PIO_NOERR;
  const spio_variable* variable = new_variable(file, varid, &code);
  if (variable == NULL) return code;
  if (endian == PIO_ENDIAN_NATIVE || endian == PIO_ENDIAN_LITTLE)
    return PIO_NOERR; /* as all values are stored */
  if (endian == PIO_ENDIAN_BIG)
    return spio_fail(PIO_ENOTBUILT, "variable '%s': netCDF-4 values are stored with the low byte first",
                     variable->name);
  return spio_fail(PIO_EINVAL, "%d is no byte order: 0 (native), 1 (little), 2 (big)", endian);
}

int PIOc_def_var_endian(int ncid, int varid, int endian) {
  SPIO_FILE_OF_ALL("PIOc_def_var_endian", "def_var_endian", ncid);
  int code = spio_match_file(file, "def_var_endian", PIO_NOERR, "variable %d, %d", varid, endian);
  if (code == PIO_NOERR) code = def_endian(file, varid, endian);
  return spio_end_file(file, "PIOc_def_var_endian", code);
}

int PIOc_inq_var_endian(int ncid, int varid, int* endianp) {
  SPIO_FILE("PIOc_inq_var_endian", ncid);
  int code = PIO_NOERR;
  if (netcdf4_variable(file, varid, &code) != NULL && endianp != NULL) *endianp = PIO_ENDIAN_NATIVE;
  return spio_end_file(file, "PIOc_inq_var_endian", code);
}

/* ---- Chunk caches: kept -------------------------------------------------------------------- */

int PIOc_set_var_chunk_cache(int ncid, int varid, PIO_Offset size, PIO_Offset nelems, float preemption) {
  SPIO_FILE("PIOc_set_var_chunk_cache", ncid);
  int code = PIO_NOERR;
  spio_variable* variable = netcdf4_variable(file, varid, &code);
  if (variable != NULL && (size < 0 || nelems < 0 || !(preemption >= 0 && preemption <= 1)))
    code = spio_fail(PIO_EINVAL, "a chunk cache has a size, a number of chunks and a preemption of 0 to 1");
  if (code == PIO_NOERR) variable->cache = (spio_cache){size, nelems, preemption};
  return spio_end_file(file, "PIOc_set_var_chunk_cache", code);
}

int PIOc_get_var_chunk_cache(int ncid, int varid, PIO_Offset* sizep, PIO_Offset* nelemsp,
                             float* preemptionp) {
  SPIO_FILE("PIOc_get_var_chunk_cache", ncid);
  int code = PIO_NOERR;
  const spio_variable* variable = netcdf4_variable(file, varid, &code);
  if (variable != NULL) {
    if (sizep != NULL) *sizep = variable->cache.size;
    if (nelemsp != NULL) *nelemsp = variable->cache.nelems;
    if (preemptionp != NULL) *preemptionp = variable->cache.preemption;
  }
  return spio_end_file(file, "PIOc_get_var_chunk_cache", code);
}

/* ---- Quantizing ---------------------------------------------------------------------------- */

static int def_quantize(spio_file* file, int varid, int mode, int nsd) {
  int code = PIO_NOERR;
  const spio_variable* variable = new_variable(file, varid, &code);
  if (variable == NULL) return code;
  char how[40] = "none";
  if (mode == PIO_QUANTIZE_GRANULARBR)
    snprintf(how, sizeof how, "granular_bitround:%d", nsd);
  else if (mode == PIO_QUANTIZE_BITROUND)
    snprintf(how, sizeof how, "bitround:%d", nsd);
  else if (mode != PIO_NOQUANTIZE)
    return spio_fail(PIO_EINVAL, "quantize mode %d: there are 2 (granular bit round) and 3 (bit round)",
                     mode);
  code = spio_code(shoal_def_quantize(file->dataset, variable->name, how));
  if (code == PIO_NOERR) code = spio_refresh(file); /* it may add a variable */
  return code;
}

int PIOc_def_var_quantize(int ncid, int varid, int quantize_mode, int nsd) {
  SPIO_FILE_OF_ALL("PIOc_def_var_quantize", "def_var_quantize", ncid);
  int code = spio_match_file(file, "def_var_quantize", PIO_NOERR, "variable %d, mode %d, %d", varid,
                             quantize_mode, nsd);
  if (code == PIO_NOERR) code = def_quantize(file, varid, quantize_mode, nsd);
  return spio_end_file(file, "PIOc_def_var_quantize", code);
}

static int inq_quantize(spio_file* file, int varid, int* modep, int* nsdp) {
  static const char* const names[] = {"_QuantizeBitGroomNumberOfSignificantDigits",
                                      "_QuantizeGranularBitRoundNumberOfSignificantDigits",
                                      "_QuantizeBitRoundNumberOfSignificantBits"};
  int code = PIO_NOERR;
  const spio_variable* variable = netcdf4_variable(file, varid, &code);
  if (variable == NULL) return code;
  int mode = PIO_NOQUANTIZE;
  int number = 0;
  for (int i = 0; i < 3 && mode == PIO_NOQUANTIZE; ++i) {
    int index = 0;
    if (shoal_find_att(file->dataset, variable->name, names[i], &index) != SHOAL_OK) continue;
    code = spio_code(shoal_get_att(file->dataset, variable->name, names[i], SHOAL_INT, &number));
    mode = i + 1;
  }
  if (modep != NULL) *modep = mode;
  if (nsdp != NULL) *nsdp = number;
  return code;
}

int PIOc_inq_var_quantize(int ncid, int varid, int* quantize_mode, int* nsdp) {
  SPIO_FILE("PIOc_inq_var_quantize", ncid);
  return spio_end_file(file, "PIOc_inq_var_quantize", inq_quantize(file, varid, quantize_mode, nsdp));
}
