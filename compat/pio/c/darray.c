/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Distributed arrays: which part of a variable a decomposition and a frame mean, and the array as Shoal wants
 * it. Ranks match each read, and a write where they come together in it (write_values); another write waits
 * for nobody, and on one node is a copy.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* ---- Frames -------------------------------------------------------------------------------- */

static int set_frame(spio_file* file, int varid, int frame) {
  int code = PIO_NOERR;
  spio_variable* variable = spio_variable_of(file, varid, &code);
  if (variable != NULL) variable->frame = frame < 0 ? SPIO_NO_FRAME : frame;
  return code;
}

int PIOc_setframe(int ncid, int varid, int frame) {
  SPIO_FILE("PIOc_setframe", ncid);
  return spio_end_file(file, "PIOc_setframe", set_frame(file, varid, frame));
}

int PIOc_advanceframe(int ncid, int varid) {
  SPIO_FILE("PIOc_advanceframe", ncid);
  int code = PIO_NOERR;
  spio_variable* variable = spio_variable_of(file, varid, &code);
  if (variable != NULL) ++variable->frame;
  return spio_end_file(file, "PIOc_advanceframe", code);
}

/* ---- How a decomposition fits a variable --------------------------------------------------- */

static int mismatch(const spio_variable* variable, const spio_decomp* decomp) {
  char text[2][160] = {"", ""};
  for (int side = 0; side < 2; ++side) {
    size_t used = 0;
    const int n = side == 0 ? variable->ndims : decomp->ndims;
    for (int i = 0; i < n && used + 24 < sizeof text[0]; ++i) {
      const long long length = side == 0 ? (long long)variable->lengths[i] : (long long)decomp->dims[i];
      used +=
          (size_t)snprintf(text[side] + used, sizeof text[0] - used, "%s%lld", i > 0 ? " x " : "", length);
    }
  }
  return spio_fail(
      PIO_EINVAL,
      "variable '%s' has the dimensions [%s] (0: unlimited), the decomposition [%s]; it must have the same, "
      "or all but the first",
      variable->name, text[0], text[1]);
}

/* The variable's dimensions are [frame] and those of the list; or those of the list, of which the first one
 * is unlimited: then the list has records in it. */
static int find_shape(const spio_variable* variable, const spio_decomp* decomp, spio_pair* out) {
  const int nv = variable->ndims;
  int drop = 0; /* leading dimensions of the list of length 1 that the variable does not have */
  while (decomp->ndims - drop > nv && decomp->dims[drop] == 1)
    ++drop;
  /* Of a list [1, x] a frame says which index of a limited first dimension is meant. */
  if (out->has_frame && nv > 1 && !variable->has_record && decomp->ndims - drop == nv &&
      decomp->dims[drop] == 1 && variable->lengths[0] > 1)
    ++drop;
  const int nd = decomp->ndims - drop;
  if (nv < 1 || nv > SHOAL_MAX_DIMS || nd > nv || nv > nd + 1) return mismatch(variable, decomp);
  out->framed = nv == nd + 1;
  int first = nv - nd; /* the variable's dimension that is the list's first one */
  if (!out->framed && variable->has_record) {
    out->records = decomp->dims[drop];
    ++drop;
    first = 1;
    if (nv == 1)
      return spio_fail(PIO_EINVAL,
                       "variable '%s' has the unlimited dimension alone: it is written with PIOc_put_var...",
                       variable->name);
  }
  for (int i = first; i < nv; ++i)
    if (variable->lengths[i] != decomp->dims[drop + i - first]) return mismatch(variable, decomp);
  return PIO_NOERR;
}

/* variable->pair is that of the decomposition, which may be the one of the call before. The decomposition is
 * of the file's iosystem. */
static int meet(const spio_file* file, spio_variable* variable, const spio_decomp* decomp, int has_frame) {
  spio_pair* pair = &variable->pair;
  if (pair->known == file->changes && pair->decomp == decomp->serial && pair->has_frame == has_frame)
    return PIO_NOERR;
  *pair = (spio_pair){.decomp = decomp->serial, .has_frame = has_frame};
  const int code = find_shape(variable, decomp, pair);
  if (code == PIO_NOERR) pair->known = file->changes;
  return code;
}

/* The index in the first dimension, or the first record of a list that has records; SHOAL_NO_RECORD: neither.
 * Of a variable that has met the decomposition of the call. */
static int find_record(const spio_variable* variable, int64_t frame, int writing, int64_t* out) {
  const spio_pair* pair = &variable->pair;
  *out = SHOAL_NO_RECORD;
  if (!pair->framed && pair->records == 0) return PIO_NOERR;
  if (pair->framed && frame < 0 && writing)
    return spio_fail(PIO_EINVAL, "variable '%s' has no frame: call PIOc_setframe before it is written",
                     variable->name);
  *out = frame < 0 ? 0 : frame;
  if (pair->framed && variable->lengths[0] != SHOAL_UNLIMITED && *out >= variable->lengths[0])
    return spio_fail(PIO_EINVALCOORDS, "variable '%s': frame %lld (from 0) of %lld", variable->name,
                     (long long)*out, (long long)variable->lengths[0]);
  return PIO_NOERR;
}

/* ---- Arrays with strides ------------------------------------------------------------------- */

static int64_t elements_of(const shoal_array* array) {
  int64_t n = 1;
  for (int i = 0; i < array->ndims; ++i)
    n *= array->extents[i];
  return n;
}

static int is_contiguous(const shoal_array* array) {
  if (array->strides == NULL) return 1;
  int64_t stride = (int64_t)array->element_size;
  for (int i = array->ndims - 1; i >= 0; --i) {
    if (array->extents[i] != 1 && array->strides[i] != stride) return 0;
    stride *= array->extents[i];
  }
  return 1;
}

/* Copy the first `length` elements from the array, or to it. */
static void copy_elements(const shoal_array* array, int64_t length, char* packed, int to_packed) {
  const size_t size = array->element_size;
  int64_t at[SHOAL_MAX_DIMS] = {0};
  for (int64_t n = 0; n < length; ++n) {
    char* element = array->data;
    for (int i = 0; i < array->ndims; ++i)
      element += at[i] * array->strides[i];
    if (to_packed)
      memcpy(packed, element, size);
    else
      memcpy(element, packed, size);
    packed += size;
    for (int i = array->ndims - 1; i >= 0 && ++at[i] == array->extents[i]; --i)
      at[i] = 0;
  }
}

static void* buffer_of(spio_file* file, size_t bytes) {
  if (bytes > file->buffer_bytes) {
    void* larger = realloc(file->buffer, bytes);
    if (larger == NULL) return NULL;
    file->buffer = larger;
    file->buffer_bytes = bytes;
  }
  return file->buffer == NULL ? file : file->buffer; /* not NULL, for no bytes */
}

/* Has the array the extents of the tile, but for those of 1? Then its strides are passed on. */
static int is_tile(const shoal_array* array, const spio_list* list, int64_t* strides) {
  int a = 0;
  for (int i = 0; i < list->ndims; ++i) {
    while (a < array->ndims && array->extents[a] == 1)
      ++a;
    if (list->tile[i] == 1) {
      strides[i] = (int64_t)array->element_size;
      continue;
    }
    if (a == array->ndims || array->extents[a] != list->tile[i]) return 0;
    strides[i] = array->strides[a++];
  }
  while (a < array->ndims && array->extents[a] == 1)
    ++a;
  return a == array->ndims;
}

/* ---- The move ------------------------------------------------------------------------------ */

/* One call of Shoal: the values at `data` are those of `list` from its dimension `skip` on, which lie in the
 * last dimensions of the variable; strides: of the tile, NULL: contiguous. */
typedef struct move {
  spio_file* file;
  const spio_variable* variable;
  const spio_list* list;
  const shoal_decomposition* decomposition;
  int skip;
  char* data;
  const int64_t* strides;
  int type;
  int framed;
  int64_t record;
  int writing;
} move;

/* Which cells of the variable: a record, or an index of a fixed first dimension. The section points to it. */
typedef struct part {
  int64_t start[SHOAL_MAX_DIMS];
  int64_t count[SHOAL_MAX_DIMS];
  shoal_section section;
} part;

static void describe(const move* m, part* out) {
  const spio_variable* variable = m->variable;
  const int has_record = variable->has_record;
  const int dims = variable->ndims - (has_record ? 1 : 0);
  out->section = (shoal_section)SHOAL_SECTION_INIT;
  out->section.record = has_record ? m->record : SHOAL_NO_RECORD;
  if (!m->framed || has_record) return;
  for (int i = 0; i < dims; ++i) {
    out->start[i] = i == 0 ? m->record : 0;
    out->count[i] = i == 0 ? 1 : variable->lengths[i];
  }
  out->section.ndims = dims;
  out->section.start = out->start;
  out->section.count = out->count;
}

static int call_shoal(const move* m) {
  const spio_variable* variable = m->variable;
  const spio_list* list = m->list;
  const int has_record = variable->has_record;
  const int dims = variable->ndims - (has_record ? 1 : 0); /* of the section */
  int64_t extents[SHOAL_MAX_DIMS];
  int64_t strides[SHOAL_MAX_DIMS];
  int n = 0;
  for (int i = list->ndims - m->skip; i < dims; ++i)
    extents[n++] = 1; /* the frame, and leading dimensions of 1 that lists do not keep */
  const int before = n;
  if (list->is_block) {
    for (int i = 0; i < list->ndims; ++i)
      extents[n++] = list->tile[i];
  } else {
    for (int i = m->skip; i < list->lead; ++i)
      extents[n++] = list->dims[i];
    extents[n++] = list->core_length;
    for (int i = list->ndims - list->uncut; i < list->ndims; ++i)
      extents[n++] = list->dims[i];
  }
  shoal_array array = shoal_array_of(m->data, m->type, n, extents);
  if (m->strides != NULL) {
    for (int i = 0; i < n; ++i)
      strides[i] = i < before ? (int64_t)spio_type_size(m->type) : m->strides[i - before];
    array.strides = strides;
  }
  part cells;
  describe(m, &cells);
  return m->writing ? shoal_write_variable(m->file->dataset, variable->index, m->decomposition, &array,
                                           &cells.section)
                    : shoal_read_variable(m->file->dataset, variable->index, m->decomposition, &array,
                                          &cells.section);
}

/* A write that this rank refuses: the others write without it, and are told later (spio_end_write). */
static int refuse(const move* m, int code) {
  char message[512];
  snprintf(message, sizeof message, "%s", spio_message());
  part cells;
  describe(m, &cells);
  shoal_refuse_data(m->file->dataset, SHOAL_CALL_WRITE, m->variable->index, m->decomposition, &cells.section,
                    SHOAL_OK, message);
  return spio_fail(code, "%s", message);
}

static int one_call(move* m, spio_list* list, spio_system* system, int wrong) {
  m->list = list;
  shoal_decomposition* decomposition = list->reading;
  if (m->writing) {
    const int code = spio_writable(system, list, &decomposition);
    if (code != PIO_NOERR) return code;
  }
  m->decomposition = decomposition;
  if (wrong != PIO_NOERR) return refuse(m, wrong);
  return spio_code(call_shoal(m));
}

/* The records of a list that has them in it, one after the other. */
static int each_record(move* m, spio_decomp* decomp, int wrong) {
  spio_list* list = decomp->list;
  const int64_t first = m->record;
  const int64_t records = m->variable->pair.records;
  const int kept = records > 1; /* one record is no dimension of the list */
  const size_t size = spio_type_size(m->type);
  char* data = m->data;
  int code = PIO_NOERR;
  for (int64_t r = 0; r < records; ++r) {
    m->record = first + r;
    spio_list* of_record = list;
    int status = PIO_NOERR;
    m->skip = 0;
    if (kept && list->lead > 0) {
      m->skip = 1;
      if (data != NULL) m->data = data + (size_t)(r * (list->length / records)) * size;
    } else if (kept) {
      status = spio_record_list(decomp->system, list, r, &of_record);
      m->strides = NULL;
    }
    if (status == PIO_NOERR) status = one_call(m, of_record, decomp->system, wrong);
    if (code == PIO_NOERR) code = status;
    if (!m->writing && code != PIO_NOERR) break; /* reading: on all ranks alike */
  }
  return code;
}

/* What only this rank may have wrong. */
static int check_values(const spio_decomp* decomp, const spio_values* values) {
  if (values->length < decomp->length)
    return spio_fail(PIO_EINVAL, "an array of %lld values for a list of %lld", (long long)values->length,
                     (long long)decomp->length);
  if (values->data == NULL && decomp->length > 0) return spio_fail(PIO_EINVAL, "no array was given");
  return PIO_NOERR;
}

/* In fill mode, or where def_var_fill was called, the fill value that a call gives must be the variable's. */
static int check_fill(const spio_file* file, spio_variable* variable, int type, const void* fillvalue) {
  if (fillvalue == NULL || type == PIO_STRING) return PIO_NOERR;
  if (!variable->own_fill && file->fill_mode != PIO_FILL)
    return PIO_NOERR; /* models give any, in no-fill mode */
  spio_pair* pair = &variable->pair;
  if (pair->fill_type != type) {
    pair->fill_type = type;
    if (shoal_inq_fill(file->dataset, variable->name, &pair->fills, type, pair->fill) != SHOAL_OK)
      pair->fills = 0;
  }
  if (!pair->fills || memcmp(pair->fill, fillvalue, spio_type_size(type)) == 0) return PIO_NOERR;
  return spio_fail(PIO_EINVAL, "variable '%s' has another fill value than the call", variable->name);
}

/* Is this the first write of a variable without _FillValue that leaves cells out? Whether the variable takes
 * the fill value of the call is settled there. The same on all ranks that make the same call. Local. */
static int settles_fill(const spio_file* file, spio_variable* variable, const spio_decomp* decomp, int type) {
  int index = 0;
  if (!decomp->list->leaves_cells || variable->own_fill || variable->knows_fill || type == PIO_CHAR) return 0;
  variable->knows_fill = shoal_find_att(file->dataset, variable->name, "_FillValue", &index) == SHOAL_OK;
  return !variable->knows_fill;
}

/* The fill value of the lowest rank that gives one, in `out`, of 8 bytes: a rank without cells may give none.
 * *any: is there one? Collective. */
static int agree_on_fill(const spio_system* system, int type, const void* fillvalue, void* out, int* any) {
  int giver = fillvalue != NULL ? system->rank : system->size;
  if (fillvalue != NULL) memcpy(out, fillvalue, spio_type_size(type));
  int failed = MPI_Allreduce(MPI_IN_PLACE, &giver, 1, MPI_INT, MPI_MIN, system->comm) != MPI_SUCCESS;
  *any = giver < system->size;
  if (*any) failed |= MPI_Bcast(out, 8, MPI_BYTE, giver, system->comm) != MPI_SUCCESS;
  return failed ? spio_fail(PIO_EIO, "ranks could not exchange a fill value") : PIO_NOERR;
}

/* The variable takes the fill value as its attribute, for the cells that this write and later ones leave out.
 * Where that cannot be (drivers of other libraries), cells get the default of the type. What the program has
 * defined before ends first, so that nothing of it is lost. Collective, after a match. */
static int take_fill(spio_file* file, spio_variable* variable, int type, const void* fillvalue) {
  unsigned char fill[8] = {0};
  int any = 0;
  ++file->changes;
  int code = agree_on_fill(file->system, type, fillvalue, fill, &any);
  if (code == PIO_NOERR && any) {
    code = spio_code(shoal_end_define(file->dataset));
    const int given =
        code == PIO_NOERR ? shoal_def_fill(file->dataset, variable->name, type, fill) : SHOAL_OK;
    if (given == SHOAL_RANGE || given == SHOAL_TYPE) code = spio_code(given);
    if (code == PIO_NOERR && given == SHOAL_OK) code = spio_code(shoal_end_define(file->dataset));
  }
  if (code == PIO_NOERR) variable->knows_fill = 1;
  return code;
}

/* What is wrong on all ranks that made the same call. */
static int check_move(const spio_file* file, const spio_variable* variable, const spio_decomp* decomp,
                      int type, int writing) {
  if (writing && !file->writable) return spio_fail(PIO_EPERM, "the file is open for reading only");
  if (writing && decomp->read_only)
    return spio_fail(PIO_EINVAL, "the decomposition is for reading alone (PIOc_InitDecomp_ReadOnly)");
  if (decomp->system != file->system)
    return spio_fail(PIO_EINVAL, "file and decomposition are of different iosystems");
  if (!spio_converts(variable->type, type) || type == PIO_STRING)
    return spio_fail(PIO_ECHAR, "variable '%s' has type %d, the decomposition type %d", variable->name,
                     variable->type, type);
  return PIO_NOERR;
}

/* What a move is, before ranks come together in it: the arguments are checked, and an array that Shoal cannot
 * take as it is gets a buffer. wrong: what this rank alone may have wrong. Local. */
typedef struct plan {
  move m;
  int64_t strides[SPIO_MAX_CUT];
  int packed;
  int wrong;
} plan;

static int make_plan(spio_file* file, int varid, const spio_decomp* decomp, const spio_values* values,
                     int64_t frame, const void* fillvalue, int writing, plan* p) {
  int code = PIO_NOERR;
  spio_variable* variable = spio_variable_of(file, varid, &code);
  p->m = (move){.file = file,
                .variable = variable,
                .type = values->type,
                .record = SHOAL_NO_RECORD,
                .writing = writing,
                .data = (char*)(uintptr_t)values->data};
  if (code == PIO_NOERR) code = check_move(file, variable, decomp, values->type, writing);
  const int met = code == PIO_NOERR ? meet(file, variable, decomp, frame >= 0) : code;
  if (code == PIO_NOERR && writing) code = check_fill(file, variable, values->type, fillvalue);
  if (code == PIO_NOERR) code = met;
  if (code == PIO_NOERR) code = find_record(variable, frame, writing, &p->m.record);
  if (code != PIO_NOERR) return code;
  p->m.framed = variable->pair.framed;
  p->wrong = check_values(decomp, values);
  if (p->wrong != PIO_NOERR || values->array == NULL || is_contiguous(values->array)) return PIO_NOERR;
  const spio_list* list = decomp->list;
  if (list->is_block && variable->pair.records <= 1 && is_tile(values->array, list, p->strides)) {
    p->m.strides = p->strides;
    return PIO_NOERR;
  }
  p->m.data = buffer_of(file, (size_t)decomp->length * spio_type_size(values->type));
  if (p->m.data == NULL)
    p->wrong = spio_fail(PIO_ENOMEM, "no memory for an array of %lld values", (long long)decomp->length);
  p->packed = p->m.data != NULL;
  /* Reading: holes keep what the array has. */
  if (p->packed) copy_elements(values->array, decomp->length, p->m.data, 1);
  return PIO_NOERR;
}

static int carry_out(spio_file* file, spio_decomp* decomp, plan* p) {
  if (p->m.writing) file->mode = SPIO_DATA;
  return p->m.variable->pair.records > 0 ? each_record(&p->m, decomp, p->wrong)
                                         : one_call(&p->m, decomp->list, decomp->system, p->wrong);
}

static int is_new(const spio_file* file, const spio_list* list) {
  for (int i = 0; i < file->nused && i < SPIO_USED_LISTS; ++i)
    if (file->used[i] == list->serial) return 0;
  return 1;
}

/* Ranks come together in a write after definitions, in define mode, which it ends, with a list that is new to
 * the file, and where the fill value of a variable is settled: there they match it. decomp NULL: code says
 * why. */
static int write_values(spio_file* file, int varid, spio_decomp* decomp, const spio_values* values,
                        int64_t frame, const void* fillvalue, int code) {
  plan p = {0};
  if (code == PIO_NOERR) code = make_plan(file, varid, decomp, values, frame, fillvalue, 1, &p);
  const int new_list = decomp == NULL ? file->nused == 0 : is_new(file, decomp->list);
  const int fills = code == PIO_NOERR && settles_fill(file, &file->variables[varid], decomp, values->type);
  file->met = file->meets || file->mode == SPIO_DEFINING || new_list || fills;
  if (file->met) {
    if (code == PIO_NOERR) code = p.wrong;
    code = spio_match_file(file, SPIO_WRITE, code,
                           "number %llu of the file, variable %d, decomposition %d, frame %lld",
                           (unsigned long long)file->writes + 1, varid, decomp == NULL ? 0 : decomp->serial,
                           (long long)p.m.record);
  } else if (code != PIO_NOERR) {
    file->met = 1; /* the others may meet in this one, or in the next of the same call */
    spio_refuse_unmatched(file, code);
  }
  if (code != PIO_NOERR) return code;
  if (new_list) file->used[file->nused++ % SPIO_USED_LISTS] = decomp->list->serial;
  code = spio_settle(file);
  if (code == PIO_NOERR && fills) code = take_fill(file, &file->variables[varid], values->type, fillvalue);
  if (code == PIO_NOERR) code = carry_out(file, decomp, &p);
  if (code != PIO_NOERR) spio_refresh(file); /* definitions may have been dropped */
  return code;
}

/* decomp NULL: code says why. */
static int read_values(spio_file* file, int varid, spio_decomp* decomp, const spio_values* values,
                       int64_t frame, int code) {
  plan p = {0};
  if (code == PIO_NOERR) code = make_plan(file, varid, decomp, values, frame, NULL, 0, &p);
  if (code == PIO_NOERR) code = p.wrong;
  code = spio_match_file(file, "read_darray", code, "variable %d, decomposition %d, frame %lld", varid,
                         decomp == NULL ? 0 : decomp->serial, (long long)p.m.record);
  if (code != PIO_NOERR) return code;
  code = spio_settle(file);
  if (code == PIO_NOERR) code = carry_out(file, decomp, &p);
  if (code == PIO_NOERR && p.packed) copy_elements(values->array, decomp->length, file->buffer, 0);
  if (code != PIO_NOERR) spio_refresh(file);
  return code;
}

/* ---- The calls ----------------------------------------------------------------------------- */

static spio_decomp* decomp_of(int ioid, int* code) {
  spio_decomp* decomp = spio_decomp_of(ioid);
  if (decomp == NULL) *code = spio_fail(PIO_EBADID, "no decomposition has the id %d", ioid);
  return decomp;
}

/* With the frame that was set. */
static int move_named(spio_file* file, int varid, int ioid, const spio_values* given, const int* frame,
                      const void* fillvalue, int writing) {
  int code = PIO_NOERR;
  spio_decomp* decomp = decomp_of(ioid, &code);
  spio_values values = *given;
  if (decomp != NULL && values.type == 0) values.type = decomp->type;
  if (decomp != NULL && values.length < 0) values.length = decomp->length;
  const int known = varid >= 0 && varid < file->nvariables;
  const int64_t at = frame != NULL ? *frame : known ? file->variables[varid].frame : SPIO_NO_FRAME;
  return writing ? write_values(file, varid, decomp, &values, at, fillvalue, code)
                 : read_values(file, varid, decomp, &values, at, code);
}

/* A write with an id that this rank does not know is one of the file that there is alone. */
static int refuse_of_only(int ncid) {
  spio_file* only = spio_only_file();
  int code = spio_fail_no_file(ncid);
  if (only == NULL) return code;
  code = write_values(only, -1, NULL, NULL, SPIO_NO_FRAME, NULL, code);
  spio_note_write(only, code);
  return code;
}

#define SPIO_FILE_OF_WRITE(CALL, NCID)  \
  spio_file* file = spio_file_of(NCID); \
  if (file == NULL) return spio_end(NULL, CALL, refuse_of_only(NCID))

int PIOc_write_darray(int ncid, int varid, int ioid, PIO_Offset arraylen, const void* array,
                      const void* fillvalue) {
  SPIO_FILE_OF_WRITE("PIOc_write_darray", ncid);
  const spio_values values = {array, 0, arraylen < 0 ? 0 : (int64_t)arraylen, NULL};
  return spio_end_write(file, "PIOc_write_darray",
                        move_named(file, varid, ioid, &values, NULL, fillvalue, 1));
}

int PIOc_read_darray(int ncid, int varid, int ioid, PIO_Offset arraylen, void* array) {
  SPIO_FILE_OF_ALL("PIOc_read_darray", "read_darray", ncid);
  const spio_values values = {array, 0, arraylen < 0 ? 0 : (int64_t)arraylen, NULL};
  return spio_end_file(file, "PIOc_read_darray", move_named(file, varid, ioid, &values, NULL, NULL, 0));
}

static int same_shape(spio_file* file, const int* varids, int nvars) {
  int code = PIO_NOERR;
  const spio_variable* first = spio_variable_of(file, varids[0], &code);
  for (int i = 1; i < nvars && code == PIO_NOERR; ++i) {
    const spio_variable* other = spio_variable_of(file, varids[i], &code);
    if (other != NULL &&
        (other->ndims != first->ndims ||
         memcmp(other->lengths, first->lengths, (size_t)first->ndims * sizeof first->lengths[0]) != 0))
      return spio_fail(PIO_EVARDIMMISMATCH, "variables '%s' and '%s' have different dimensions", first->name,
                       other->name);
  }
  return code;
}

static int write_each(spio_file* file, const int* varids, int ioid, int nvars, PIO_Offset arraylen,
                      const void* array, const int* frame, void** fillvalue) {
  int code = PIO_NOERR;
  spio_decomp* decomp = decomp_of(ioid, &code);
  if (code == PIO_NOERR && (nvars < 1 || varids == NULL)) code = spio_fail(PIO_EINVAL, "%d variables", nvars);
  if (code == PIO_NOERR) code = same_shape(file, varids, nvars);
  const int64_t length = arraylen < 0 ? 0 : (int64_t)arraylen;
  int64_t bytes = 0; /* of a variable; of an array that is too short for the list nothing is looked at */
  if (code == PIO_NOERR && length >= decomp->length &&
      !spio_multiply(length, (int64_t)spio_type_size(decomp->type), &bytes))
    code = spio_fail(PIO_EINVAL, "an array of %lld values", (long long)length);
  if (code != PIO_NOERR) return write_values(file, -1, decomp, NULL, SPIO_NO_FRAME, NULL, code);
  for (int i = 0; i < nvars; ++i) {
    const char* data = array == NULL ? NULL : (const char*)array + (size_t)i * (size_t)bytes;
    const spio_values values = {data, 0, length, NULL};
    const int status = move_named(file, varids[i], ioid, &values, frame == NULL ? NULL : &frame[i],
                                  fillvalue == NULL ? NULL : fillvalue[i], 1);
    if (code == PIO_NOERR) code = status;
    if (status != PIO_NOERR && file->met) break; /* the call ends: one refused write stands for all of it */
  }
  return code;
}

int PIOc_write_darray_multi(int ncid, const int* varids, int ioid, int nvars, PIO_Offset arraylen,
                            const void* array, const int* frame, void** fillvalue, bool flushtodisk) {
  const char* call = "PIOc_write_darray_multi";
  if (flushtodisk && spio_file_of(ncid) == NULL) {
    refuse_of_only(ncid);
    return spio_no_file_of_all(call, "sync", ncid);
  }
  SPIO_FILE_OF_WRITE(call, ncid);
  const int code = write_each(file, varids, ioid, nvars, arraylen, array, frame, fillvalue);
  if (!flushtodisk) return spio_end_write(file, call, code);
  spio_note_write(file, code);
  const int synced = spio_sync(file);
  return spio_end_file(file, call, code != PIO_NOERR ? code : synced);
}

/* Arrays of Fortran. One of another type than its decomposition is told as one that is missing. */
static int move_array(spio_file* file, int varid, int ioid, const shoal_array* array, const void* fillvalue,
                      int writing) {
  const spio_decomp* decomp = spio_decomp_of(ioid);
  spio_values values = {array->data, 0, elements_of(array), array};
  if (decomp != NULL && array->element_size != spio_type_size(decomp->type)) {
    values.length = 0;
    values.data = NULL;
  }
  return move_named(file, varid, ioid, &values, NULL, fillvalue, writing);
}

int shoal_pio_write_array(int ncid, int varid, int ioid, const shoal_array* array, const void* fillvalue) {
  SPIO_FILE_OF_WRITE("PIO_write_darray", ncid);
  return spio_end_write(file, "PIO_write_darray", move_array(file, varid, ioid, array, fillvalue, 1));
}

int shoal_pio_read_array(int ncid, int varid, int ioid, const shoal_array* array) {
  SPIO_FILE_OF_ALL("PIO_read_darray", "read_darray", ncid);
  return spio_end_file(file, "PIO_read_darray", move_array(file, varid, ioid, array, NULL, 0));
}

int shoal_pio_decomposition_type(int ioid) {
  const spio_decomp* decomp = spio_decomp_of(ioid);
  return decomp == NULL ? 0 : decomp->type;
}

/* ---- vard: types and frames of the call ---------------------------------------------------- */

static int move_vard(spio_file* file, int varid, int ioid, PIO_Offset recnum, int type, const void* values,
                     int writing) {
  const int frame = recnum < 0 || recnum > INT_MAX ? SPIO_NO_FRAME : (int)recnum;
  const spio_values given = {values, type, -1, NULL};
  return move_named(file, varid, ioid, &given, &frame, NULL, writing);
}

static int get_vard(const char* call, int ncid, int varid, int ioid, PIO_Offset recnum, int type,
                    const void* values) {
  SPIO_FILE_OF_ALL(call, "read_darray", ncid);
  return spio_end_file(file, call, move_vard(file, varid, ioid, recnum, type, values, 0));
}

static int put_vard(const char* call, int ncid, int varid, int ioid, PIO_Offset recnum, int type,
                    const void* values) {
  SPIO_FILE_OF_WRITE(call, ncid);
  return spio_end_write(file, call, move_vard(file, varid, ioid, recnum, type, values, 1));
}

#define VARD(SUFFIX, TYPE, CODE)                                                                           \
  int PIOc_get_vard##SUFFIX(int ncid, int varid, int decompid, const PIO_Offset recnum, TYPE* buf) {       \
    return get_vard("PIOc_get_vard" #SUFFIX, ncid, varid, decompid, recnum, CODE, buf);                    \
  }                                                                                                        \
  int PIOc_put_vard##SUFFIX(int ncid, int varid, int decompid, const PIO_Offset recnum, const TYPE* buf) { \
    return put_vard("PIOc_put_vard" #SUFFIX, ncid, varid, decompid, recnum, CODE, buf);                    \
  }
#define FAMILY(NAME, TYPE) VARD(_##NAME, TYPE, SPIO_TYPE_##NAME)
SPIO_NUMBERS(FAMILY)
FAMILY(text, char)
VARD(, void, 0)
