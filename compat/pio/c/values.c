/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Variables that are not distributed: put and get of sections, for all types.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* What part of a variable, all dimensions in it. */
typedef struct box {
  int ndims;
  int64_t start[SHOAL_MAX_DIMS], count[SHOAL_MAX_DIMS], stride[SHOAL_MAX_DIMS];
} box;

static int records_of(const spio_file* file, const spio_variable* variable, int64_t* out) {
  *out = 0;
  return variable->has_record ? spio_code(shoal_num_records(file->dataset, variable->name, out)) : PIO_NOERR;
}

/* Check a section and complete it: what is NULL is the whole. */
static int make_box(const spio_file* file, const spio_variable* variable, const PIO_Offset* start,
                    const PIO_Offset* count, const PIO_Offset* stride, int writing, box* out) {
  int64_t records = 0;
  int64_t all = (int64_t)sizeof(double); /* bytes of the largest type */
  const int code = records_of(file, variable, &records);
  if (code != PIO_NOERR) return code;
  if (variable->ndims > SHOAL_MAX_DIMS)
    return spio_fail(PIO_EMAXDIMS, "variable '%s' has %d dimensions; %d can be read", variable->name,
                     variable->ndims, SHOAL_MAX_DIMS);
  out->ndims = variable->ndims;
  for (int i = 0; i < variable->ndims; ++i) {
    const int unlimited = variable->lengths[i] == SHOAL_UNLIMITED;
    if (unlimited && i > 0)
      return spio_fail(PIO_EINVAL, "variable '%s': an unlimited dimension that is not the first one",
                       variable->name);
    int64_t length = unlimited ? records : variable->lengths[i];
    const int64_t from = start == NULL ? 0 : (int64_t)start[i];
    const int64_t step = stride == NULL ? 1 : (int64_t)stride[i];
    int64_t cells = count == NULL ? length - from : (int64_t)count[i];
    if (count == NULL && unlimited && writing && cells < 1) cells = 1;
    if (step < 1)
      return spio_fail(PIO_ESTRIDE, "variable '%s': stride %lld in dimension %d", variable->name,
                       (long long)step, i);
    if (from < 0 || cells < 0)
      return spio_fail(from < 0 ? PIO_EINVALCOORDS : PIO_EEDGE,
                       "variable '%s': start %lld, count %lld in dimension %d", variable->name,
                       (long long)from, (long long)cells, i);
    if (unlimited && writing) length = INT64_MAX;
    if (from > length || (from == length && cells > 0))
      return spio_fail(PIO_EINVALCOORDS, "variable '%s': start %lld in dimension %d of length %lld",
                       variable->name, (long long)from, i, (long long)length);
    if (cells > 0 && (cells - 1) > (length - 1 - from) / step)
      return spio_fail(
          PIO_EEDGE, "variable '%s': start %lld, count %lld, stride %lld in dimension %d of length %lld",
          variable->name, (long long)from, (long long)cells, (long long)step, i, (long long)length);
    out->start[i] = from;
    out->count[i] = cells;
    out->stride[i] = cells > 1 ? step : 1;
    if (!spio_multiply(all, cells, &all))
      return spio_fail(PIO_EEDGE, "variable '%s': a section has more values than can be counted",
                       variable->name);
  }
  return PIO_NOERR;
}

static int64_t cells_of(const box* part) {
  int64_t cells = 1;
  for (int i = 0; i < part->ndims; ++i)
    cells *= part->count[i];
  return cells;
}

/* Put or get a box with strides 1. */
static int move_box(spio_file* file, const spio_variable* variable, const box* part, int type, void* values,
                    int writing) {
  const int cut = variable->has_record ? 1 : 0; /* dimensions of the section begin behind the record's */
  shoal_section section = SHOAL_SECTION_INIT;
  section.record = variable->has_record ? part->start[0] : SHOAL_NO_RECORD;
  section.records = variable->has_record ? part->count[0] : 0;
  section.ndims = part->ndims - cut;
  section.start = part->start + cut;
  section.count = part->count + cut;
  if (section.ndims == 0) section.start = section.count = NULL;
  const shoal_array array = shoal_array_of(values, type, part->ndims, part->count);
  return spio_code(writing ? shoal_put_variable(file->dataset, variable->index, &array, &section)
                           : shoal_get_variable(file->dataset, variable->index, &array, &section));
}

/* From this dimension on strides are 1; 0: all are. */
static int behind_strides(const box* part) {
  int i = part->ndims;
  while (i > 0 && part->stride[i - 1] == 1)
    --i;
  return i;
}

/* With strides: one put for each run of cells that lie together, so that nothing between them is touched.
 * There is one cell at least. */
static int put_runs(spio_file* file, const spio_variable* variable, const box* part, int type,
                    const char* values, size_t size) {
  const int whole = behind_strides(part);
  box run = *part;
  int64_t cells = 1;
  for (int i = 0; i < part->ndims; ++i) {
    if (i < whole) run.count[i] = 1;
    cells *= run.count[i];
  }
  int64_t at[SHOAL_MAX_DIMS] = {0};
  for (;;) {
    for (int i = 0; i < whole; ++i)
      run.start[i] = part->start[i] + at[i] * part->stride[i];
    const int code = move_box(file, variable, &run, type, (char*)(uintptr_t)values, 1);
    if (code != PIO_NOERR) return code;
    if (values != NULL) values += (size_t)cells * size;
    int i = whole - 1;
    for (; i >= 0 && ++at[i] == part->count[i]; --i)
      at[i] = 0;
    if (i < 0) return PIO_NOERR;
  }
}

/* Pick every stride-th cell of a box that was read. */
static void pick(const box* part, const int64_t* extents, const char* from, char* to, size_t size) {
  int64_t at[SHOAL_MAX_DIMS] = {0};
  for (int64_t n = cells_of(part); n > 0; --n) {
    int64_t cell = 0;
    for (int i = 0; i < part->ndims; ++i)
      cell = cell * extents[i] + at[i] * part->stride[i];
    memcpy(to, from + (size_t)cell * size, size);
    to += size;
    for (int i = part->ndims - 1; i >= 0 && ++at[i] == part->count[i]; --i)
      at[i] = 0;
  }
}

/* The box around the cells is read, of a record at a time where records are strided, and the cells are
 * picked. */
static int get_strided(spio_file* file, const spio_variable* variable, const box* part, int type,
                       char* values, size_t size) {
  box one = *part;
  int64_t rounds = 1;
  if (variable->has_record && part->stride[0] > 1) {
    rounds = part->count[0];
    one.count[0] = one.stride[0] = 1;
  }
  box around = one;
  for (int i = 0; i < one.ndims; ++i) {
    around.count[i] = one.count[i] > 0 ? (one.count[i] - 1) * one.stride[i] + 1 : 0;
    around.stride[i] = 1;
  }
  char* read = malloc((size_t)cells_of(&around) * size + 1);
  int code = PIO_NOERR;
  for (int64_t r = 0; r < rounds; ++r) {
    if (variable->has_record) around.start[0] = part->start[0] + r * part->stride[0];
    if (read == NULL)
      code = spio_code(shoal_refuse_data(file->dataset, SHOAL_CALL_GET, variable->index, NULL, NULL,
                                         SHOAL_NO_MEMORY, "no memory for a section with strides"));
    else
      code = move_box(file, variable, &around, type, read, 0);
    if (code != PIO_NOERR) break;
    pick(&one, around.count, read, values + (size_t)(r * cells_of(&one)) * size, size);
  }
  free(read);
  return code;
}

/* What a call means, and what is wrong with its arguments. */
static int check_section(spio_file* file, int varid, const PIO_Offset* start, const PIO_Offset* count,
                         const PIO_Offset* stride, int* type, int writing, const spio_variable** variable,
                         box* part) {
  int code = PIO_NOERR;
  *variable = spio_variable_of(file, varid, &code);
  if (*variable == NULL) return code;
  if (*type == 0) *type = (*variable)->type;
  if (writing && !file->writable) return spio_fail(PIO_EPERM, "the file is open for reading only");
  if (!spio_is_netcdf4(file) && file->mode == SPIO_DEFINING)
    return spio_fail(PIO_EINDEFINE, "the file is in define mode: call PIOc_enddef before");
  if (!spio_converts((*variable)->type, *type))
    return spio_fail(PIO_ECHAR, "variable '%s' has type %d, the values type %d", (*variable)->name,
                     (*variable)->type, *type);
  return make_box(file, *variable, start, count, stride, writing, part);
}

/* Which cells, for ranks to compare; of a put, where the first rank says how many, where they begin. With
 * strides a put is several, and whether it is any depends on all counts, so that these count on all ranks. */
static void describe(int varid, const box* part, int writing, char* out, size_t size) {
  const int compared = writing && behind_strides(part) == 0 ? 0 : part->ndims;
  size_t used = (size_t)snprintf(out, size, "variable %d", varid);
  for (int i = 0; i < part->ndims && used < size; ++i)
    used += (size_t)snprintf(out + used, size - used, ", %lld:%lld:%lld", (long long)part->start[i],
                             i < compared ? (long long)part->count[i] : 0,
                             i < compared ? (long long)part->stride[i] : 0);
}

int spio_match_values(spio_file* file, int writing, int code, const char* details) {
  return spio_match_file(file, writing ? "put_var" : "get_var", code, "%s", details);
}

/* wrong: what this rank found wrong before. Values to put are those of the first rank. */
static int section(spio_file* file, int varid, const PIO_Offset* start, const PIO_Offset* count,
                   const PIO_Offset* stride, int type, void* values, int writing, int wrong) {
  const spio_variable* variable = NULL;
  box part = {0};
  char cells[600];
  int code = wrong;
  if (code == PIO_NOERR)
    code = check_section(file, varid, start, count, stride, &type, writing, &variable, &part);
  if (code == PIO_NOERR && values == NULL && cells_of(&part) > 0 && (!writing || file->system->rank == 0))
    code = spio_fail(PIO_EINVAL, "variable '%s': no array was given", variable->name);
  describe(varid, &part, writing, cells, sizeof cells);
  code = spio_match_values(file, writing, code, cells);
  if (code != PIO_NOERR) return code;
  /* A put of nothing is one, too: ranks may give texts of other lengths. */
  if (cells_of(&part) == 0 && (!writing || (variable->has_record && part.count[0] == 0))) return code;
  type = spio_memory_type(file, variable->type, type);
  const size_t size = spio_type_size(type);
  code = spio_settle(file);
  if (code != PIO_NOERR) return code;
  const int strided = behind_strides(&part) > 0 && cells_of(&part) > 0;
  if (writing)
    return strided ? put_runs(file, variable, &part, type, values, size)
                   : move_box(file, variable, &part, type, values, 1);
  code = strided ? get_strided(file, variable, &part, type, values, size)
                 : move_box(file, variable, &part, type, values, 0);
  if (code == PIO_NOERR && type == PIO_STRING) code = spio_own_strings(cells_of(&part), values);
  return code;
}

static int whole_section(spio_file* file, int varid, const PIO_Offset* start, const PIO_Offset* count,
                         const PIO_Offset* stride, int type, void* values, int writing, int wrong) {
  const int code = section(file, varid, start, count, stride, type, values, writing, wrong);
  if (code != PIO_NOERR) spio_refresh(file); /* definitions may have been dropped */
  return code;
}

static const PIO_Offset k_ones[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
_Static_assert(sizeof k_ones / sizeof k_ones[0] == SHOAL_MAX_DIMS, "a one for each dimension");

#define SPIO_FILE_OF_VALUES(CALL, NCID, WRITING) \
  SPIO_FILE_OF_ALL(CALL, (WRITING) ? "put_var" : "get_var", NCID)

static int one_value(const char* call, int ncid, int varid, const PIO_Offset* index, int type, void* value,
                     int writing) {
  SPIO_FILE_OF_VALUES(call, ncid, writing);
  int code = PIO_NOERR;
  const spio_variable* variable = spio_variable_of(file, varid, &code);
  if (variable != NULL && variable->ndims > 0 && index == NULL)
    code = spio_fail(PIO_EINVAL, "variable '%s': no index was given", variable->name);
  code = whole_section(file, varid, index, k_ones, NULL, type, value, writing, code);
  return spio_end_file(file, call, code);
}

/* imap: distances in memory, NULL: contiguous; they are taken where they say no more than the counts do. */
static int check_part(const spio_file* file, int varid, const PIO_Offset* start, const PIO_Offset* count,
                      const PIO_Offset* imap) {
  if (varid < 0 || varid >= file->nvariables) return PIO_NOERR; /* found where the cells are */
  const spio_variable* variable = &file->variables[varid];
  if (variable->ndims > 0 && (start == NULL || count == NULL))
    return spio_fail(PIO_EINVAL, "variable '%s': start and count are needed", variable->name);
  int64_t distance = 1;
  for (int i = variable->ndims - 1; i >= 0 && imap != NULL; --i) {
    if ((imap[i] != distance && count[i] > 1) ||
        (count[i] > 0 && !spio_multiply(distance, count[i], &distance)))
      return spio_fail(PIO_EINVAL, "variable '%s': values must be contiguous in memory", variable->name);
  }
  return PIO_NOERR;
}

static int mapped(const char* call, int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count,
                  const PIO_Offset* stride, const PIO_Offset* imap, int type, void* values, int writing) {
  SPIO_FILE_OF_VALUES(call, ncid, writing);
  int code = check_part(file, varid, start, count, imap);
  code = whole_section(file, varid, start, count, stride, type, values, writing, code);
  return spio_end_file(file, call, code);
}

static int part_of(const char* call, int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count,
                   const PIO_Offset* stride, int type, void* values, int writing) {
  return mapped(call, ncid, varid, start, count, stride, NULL, type, values, writing);
}

static int whole(const char* call, int ncid, int varid, int type, void* values, int writing) {
  SPIO_FILE_OF_VALUES(call, ncid, writing);
  return spio_end_file(file, call,
                       whole_section(file, varid, NULL, NULL, NULL, type, values, writing, PIO_NOERR));
}

/* The calls below only read what they are given to put. */
#define PLAIN(VALUES) ((void*)(uintptr_t)(VALUES))

#define VARS(SUFFIX, TYPE, CODE)                                                                     \
  int PIOc_get_var##SUFFIX(int ncid, int varid, TYPE* buf) {                                         \
    return whole("PIOc_get_var" #SUFFIX, ncid, varid, CODE, buf, 0);                                 \
  }                                                                                                  \
  int PIOc_put_var##SUFFIX(int ncid, int varid, const TYPE* buf) {                                   \
    return whole("PIOc_put_var" #SUFFIX, ncid, varid, CODE, PLAIN(buf), 1);                          \
  }                                                                                                  \
  int PIOc_get_var1##SUFFIX(int ncid, int varid, const PIO_Offset* index, TYPE* buf) {               \
    return one_value("PIOc_get_var1" #SUFFIX, ncid, varid, index, CODE, buf, 0);                     \
  }                                                                                                  \
  int PIOc_put_var1##SUFFIX(int ncid, int varid, const PIO_Offset* index, const TYPE* buf) {         \
    return one_value("PIOc_put_var1" #SUFFIX, ncid, varid, index, CODE, PLAIN(buf), 1);              \
  }                                                                                                  \
  int PIOc_get_vara##SUFFIX(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count,   \
                            TYPE* buf) {                                                             \
    return part_of("PIOc_get_vara" #SUFFIX, ncid, varid, start, count, NULL, CODE, buf, 0);          \
  }                                                                                                  \
  int PIOc_put_vara##SUFFIX(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count,   \
                            const TYPE* buf) {                                                       \
    return part_of("PIOc_put_vara" #SUFFIX, ncid, varid, start, count, NULL, CODE, PLAIN(buf), 1);   \
  }                                                                                                  \
  int PIOc_get_vars##SUFFIX(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count,   \
                            const PIO_Offset* stride, TYPE* buf) {                                   \
    return part_of("PIOc_get_vars" #SUFFIX, ncid, varid, start, count, stride, CODE, buf, 0);        \
  }                                                                                                  \
  int PIOc_put_vars##SUFFIX(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count,   \
                            const PIO_Offset* stride, const TYPE* buf) {                             \
    return part_of("PIOc_put_vars" #SUFFIX, ncid, varid, start, count, stride, CODE, PLAIN(buf), 1); \
  }
#define VARM(SUFFIX, TYPE, CODE)                                                                          \
  int PIOc_get_varm##SUFFIX(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count,        \
                            const PIO_Offset* stride, const PIO_Offset* imap, TYPE* buf) {                \
    return mapped("PIOc_get_varm" #SUFFIX, ncid, varid, start, count, stride, imap, CODE, buf, 0);        \
  }                                                                                                       \
  int PIOc_put_varm##SUFFIX(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count,        \
                            const PIO_Offset* stride, const PIO_Offset* imap, const TYPE* buf) {          \
    return mapped("PIOc_put_varm" #SUFFIX, ncid, varid, start, count, stride, imap, CODE, PLAIN(buf), 1); \
  }
#define FAMILY(NAME, TYPE)              \
  VARS(_##NAME, TYPE, SPIO_TYPE_##NAME) \
  VARM(_##NAME, TYPE, SPIO_TYPE_##NAME)
SPIO_NUMBERS(FAMILY)
FAMILY(text, char)
FAMILY(long, long)
VARS(, void, 0)

/* The type that a type of MPI is; 0: the variable's, -1: none of the above. */
static int type_of_mpi(MPI_Datatype type) {
  const struct {
    MPI_Datatype mpi;
    int pio;
  } types[] = {{MPI_DATATYPE_NULL, 0},
               {MPI_BYTE, 0},
               {MPI_CHAR, PIO_CHAR},
               {MPI_SIGNED_CHAR, PIO_BYTE},
               {MPI_SHORT, PIO_SHORT},
               {MPI_INT, PIO_INT},
               {MPI_LONG, SPIO_TYPE_long},
               {MPI_LONG_LONG, PIO_INT64},
               {MPI_INT8_T, PIO_BYTE},
               {MPI_INT16_T, PIO_SHORT},
               {MPI_INT32_T, PIO_INT},
               {MPI_INT64_T, PIO_INT64},
               {MPI_OFFSET, PIO_INT64},
               {MPI_FLOAT, PIO_FLOAT},
               {MPI_DOUBLE, PIO_DOUBLE},
               {MPI_UNSIGNED_CHAR, PIO_UBYTE},
               {MPI_UNSIGNED_SHORT, PIO_USHORT},
               {MPI_UNSIGNED, PIO_UINT},
               {MPI_UNSIGNED_LONG, sizeof(long) == 8 ? PIO_UINT64 : PIO_UINT},
               {MPI_UNSIGNED_LONG_LONG, PIO_UINT64},
               {MPI_UINT8_T, PIO_UBYTE},
               {MPI_UINT16_T, PIO_USHORT},
               {MPI_UINT32_T, PIO_UINT},
               {MPI_UINT64_T, PIO_UINT64}};
  for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i)
    if (types[i].mpi == type) return types[i].pio;
  return -1;
}

/* Elements of the buffer that a section needs, INT64_MAX: more than can be counted. */
static int64_t elements_of(const spio_variable* variable, const PIO_Offset* count, MPI_Datatype buftype) {
  int64_t elements = buftype == MPI_BYTE ? (int64_t)spio_type_size(variable->type) : 1;
  for (int i = 0; count != NULL && i < variable->ndims; ++i)
    if (!spio_multiply(elements, count[i] > 0 ? (int64_t)count[i] : 0, &elements)) return INT64_MAX;
  return elements;
}

/* The form whose values are bufcount elements of a type of MPI. Of a put the first rank's buffer counts. */
static int mapped_buffer(const char* call, int ncid, int varid, const PIO_Offset* start,
                         const PIO_Offset* count, const PIO_Offset* stride, const PIO_Offset* imap,
                         PIO_Offset bufcount, MPI_Datatype buftype, void* values, int writing) {
  SPIO_FILE_OF_VALUES(call, ncid, writing);
  int code = PIO_NOERR;
  const spio_variable* variable = spio_variable_of(file, varid, &code);
  const int type = type_of_mpi(buftype);
  const int counts = !writing || file->system->rank == 0;
  if (type < 0) {
    code = spio_fail(PIO_EINVAL, "the type of the buffer is none of C's numbers and no MPI_BYTE");
  } else if (variable != NULL && buftype != MPI_DATATYPE_NULL && counts) {
    const int64_t needed = elements_of(variable, count, buftype);
    if ((int64_t)bufcount < needed)
      code = spio_fail(PIO_EINVAL, "variable '%s': a buffer of %lld elements for a section of %lld",
                       variable->name, (long long)bufcount, (long long)needed);
  }
  if (code == PIO_NOERR) code = check_part(file, varid, start, count, imap);
  code = whole_section(file, varid, start, count, stride, type < 0 ? 0 : type, values, writing, code);
  return spio_end_file(file, call, code);
}

int PIOc_get_varm(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count,
                  const PIO_Offset* stride, const PIO_Offset* imap, void* buf, PIO_Offset bufcount,
                  MPI_Datatype buftype) {
  return mapped_buffer("PIOc_get_varm", ncid, varid, start, count, stride, imap, bufcount, buftype, buf, 0);
}

int PIOc_put_varm(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count,
                  const PIO_Offset* stride, const PIO_Offset* imap, const void* buf, PIO_Offset bufcount,
                  MPI_Datatype buftype) {
  return mapped_buffer("PIOc_put_varm", ncid, varid, start, count, stride, imap, bufcount, buftype,
                       PLAIN(buf), 1);
}
