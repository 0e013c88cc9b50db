/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The calls of the Fortran module that take arrays or counted numbers. Text arrives zero-terminated.
 * A rank whose arguments make no sense takes its part in collective calls all the same, so that the other
 * ranks do not wait for it: decompositions are then refused on all ranks alike; a field is moved with
 * arguments that the library refuses.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

int shoal_f_closed(const char* path) {
  return shoal_f_fail(SHOAL_STATE, "the dataset '%s' is closed", path);
}

void shoal_f_abort(MPI_Fint comm, int code, const char* message) {
  int ready = 0;
  MPI_Initialized(&ready); /* before, there are no handles to convert */
  shoal_abort(!ready || comm == -1 ? MPI_COMM_NULL : MPI_Comm_f2c(comm), code, message);
}

/* What a rank refuses before it calls the library, all of them refuse. */
static int refuse(MPI_Comm comm, int code) {
  char message[1024];
  snprintf(message, sizeof message, "%s", shoal_f_message());
  shoal_f_clear();
  return shoal_refuse(comm, code, message);
}

int shoal_f_is_open(MPI_Comm comm, const char* what) {
  return refuse(comm,
                shoal_f_fail(SHOAL_STATE,
                             "this variable of type(%s) is open already; close it first, or use another "
                             "one",
                             what));
}

int shoal_f_back_to_c(int code) {
  shoal_speak(SHOAL_SPEAK_C);
  return code;
}

int shoal_f_wait(const CFI_cdesc_t* comm) {
  MPI_Comm communicator;
  shoal_f_clear();
  const int code = shoal_f_communicator(comm, &communicator);
  return code != SHOAL_OK ? code : shoal_wait(communicator); /* nobody to agree with */
}

static int divide(const CFI_cdesc_t* all, int how, const CFI_cdesc_t* computing,
                  int (*divided)(MPI_Comm, int, MPI_Comm*)) {
  MPI_Comm world;
  MPI_Comm ours = MPI_COMM_NULL;
  shoal_f_clear();
  int code = shoal_f_communicator(all, &world);
  if (code != SHOAL_OK) return code; /* nobody to agree with */
  /* What it held before is of no interest, but it must be one. */
  code = shoal_f_communicator(computing, &ours);
  if (code != SHOAL_OK) {
    const int agreed = divided(world, how, NULL);
    return agreed != SHOAL_OK ? agreed : code;
  }
  code = divided(world, how, &ours);
  shoal_f_set_communicator(computing, ours);
  return code;
}

int shoal_f_serve(const CFI_cdesc_t* all, int n, const CFI_cdesc_t* computing) {
  return divide(all, n, computing, shoal_serve);
}

int shoal_f_serve_components(const CFI_cdesc_t* all, int component, const CFI_cdesc_t* computing) {
  return divide(all, component, computing, shoal_serve_components);
}

int shoal_f_block(const CFI_cdesc_t* comm, const CFI_cdesc_t* global, const CFI_cdesc_t* first,
                  const CFI_cdesc_t* last, const CFI_cdesc_t* halo_low, const CFI_cdesc_t* halo_high,
                  MPI_Fint* comm_out, shoal_decomposition** out) {
  enum { room = SHOAL_MAX_DIMS - 1 };
  int64_t shape[room], begin[room], end[room], low[room] = {0}, high[room] = {0};
  int ndims = 0, firsts = 0, lasts = 0, lows = 0, highs = 0;
  MPI_Comm communicator;
  shoal_f_clear();
  *out = NULL;
  *comm_out = -1;
  int code = shoal_f_communicator(comm, &communicator);
  if (code != SHOAL_OK) return code; /* nobody to agree with */
  *comm_out = MPI_Comm_c2f(communicator);
  if (code == SHOAL_OK) code = shoal_f_integers(global, "global", room, shape, &ndims);
  if (code == SHOAL_OK) code = shoal_f_integers(first, "first", room, begin, &firsts);
  if (code == SHOAL_OK) code = shoal_f_integers(last, "last", room, end, &lasts);
  if (code == SHOAL_OK) code = shoal_f_integers(halo_low, "halo_low", room, low, &lows);
  if (code == SHOAL_OK) code = shoal_f_integers(halo_high, "halo_high", room, high, &highs);
  if (code == SHOAL_OK &&
      (firsts != ndims || lasts != ndims || (lows != 0 && lows != ndims) || (highs != 0 && highs != ndims)))
    code = shoal_f_fail(SHOAL_INVALID_ARGUMENT,
                        "shoal_block: global= has %d numbers, first= %d, last= %d, halo_low= %d, halo_high= "
                        "%d; give one for each dimension",
                        ndims, firsts, lasts, lows, highs);
  if (code != SHOAL_OK) return refuse(communicator, code);
  for (int i = 0; i < ndims; ++i) {
    begin[i] -= 1;
    end[i] = end[i] > begin[i] ? end[i] - begin[i] : 0; /* from here on the count */
  }
  int64_t* const all[] = {shape, begin, end, low, high};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i)
    shoal_f_reverse(all[i], ndims);
  return IN_FORTRAN(shoal_block(communicator, ndims, shape, begin, end, low, high, out));
}

/* Are the cells in the shape, counted from 1, or holes? A shape that makes no sense is left to the library,
 * which does not look at them then. */
static int check_cells(const int64_t* cells, int64_t ncells, const int64_t* shape, int ndims, int uncut) {
  int64_t last = 1;
  if (uncut < 0 || uncut >= ndims) return SHOAL_OK;
  for (int i = uncut; i < ndims; ++i) {
    if (shape[i] < 1 || last > INT64_MAX / shape[i]) return SHOAL_OK;
    last *= shape[i];
  }
  for (int64_t i = 0; i < ncells; ++i)
    if (cells[i] < 0 || cells[i] > last)
      return shoal_f_fail(SHOAL_INVALID_ARGUMENT,
                          "shoal_map: cells(%lld) is %lld; 1 to %lld are allowed, and 0 for a hole",
                          (long long)(i + 1), (long long)cells[i], (long long)last);
  return SHOAL_OK;
}

int shoal_f_map(const CFI_cdesc_t* comm, const CFI_cdesc_t* global, const CFI_cdesc_t* cells, int uncut,
                MPI_Fint* comm_out, shoal_decomposition** out) {
  enum { room = SHOAL_MAX_DIMS - 1 };
  int64_t shape[room];
  int64_t* list = NULL;
  int64_t ncells = 0;
  int ndims = 0;
  MPI_Comm communicator;
  shoal_f_clear();
  *out = NULL;
  *comm_out = -1;
  int code = shoal_f_communicator(comm, &communicator);
  if (code != SHOAL_OK) return code; /* nobody to agree with */
  *comm_out = MPI_Comm_c2f(communicator);
  code = shoal_f_integers(global, "global", room, shape, &ndims);
  if (code == SHOAL_OK) code = shoal_f_list(cells, "cells", &list, &ncells);
  if (code == SHOAL_OK) code = check_cells(list, ncells, shape, ndims, uncut);
  if (code != SHOAL_OK) {
    code = refuse(communicator, code);
  } else {
    shoal_f_reverse(shape, ndims);
    for (int64_t i = 0; i < ncells; ++i)
      if (list[i] != INT64_MIN) list[i] -= 1; /* a hole is 0 here, -1 in C */
    code = IN_FORTRAN(shoal_map(communicator, ndims, shape, uncut, ncells, list, out));
  }
  free(list);
  return code;
}

int shoal_f_load(const CFI_cdesc_t* comm, const char* path, const char* name, MPI_Fint* comm_out,
                 shoal_decomposition** out) {
  MPI_Comm communicator;
  shoal_f_clear();
  *out = NULL;
  *comm_out = -1;
  const int code = shoal_f_communicator(comm, &communicator);
  if (code != SHOAL_OK) return code;
  *comm_out = MPI_Comm_c2f(communicator);
  return IN_FORTRAN(shoal_decomposition_load(communicator, path, name, out));
}

static int has_cells(const shoal_decomposition* decomposition) {
  int64_t count[SHOAL_MAX_DIMS - 1];
  int ndims = 0;
  if (shoal_decomposition_inquire(decomposition, &ndims, NULL, NULL, count, NULL, NULL) != SHOAL_OK) return 0;
  for (int i = 0; i < ndims; ++i)
    if (count[i] == 0) return 0;
  return 1;
}

int shoal_f_masked(MPI_Fint comm, const shoal_decomposition* decomposition, const CFI_cdesc_t* mask,
                   shoal_decomposition** out) {
  shoal_f_view view;
  shoal_f_clear();
  *out = NULL;
  if (comm == -1)
    return shoal_f_fail(SHOAL_INVALID_ARGUMENT, "masked: the decomposition was not made, or is freed");
  const int code = shoal_f_describe(mask, "mask", &view);
  if (code != SHOAL_OK && has_cells(decomposition)) return refuse(MPI_Comm_f2c(comm), code);
  shoal_f_clear(); /* a rank without cells needs no mask */
  const shoal_array* const array = code == SHOAL_OK ? &view.array : NULL;
  return IN_FORTRAN(shoal_masked(MPI_Comm_f2c(comm), decomposition, array, out));
}

int shoal_f_unique(MPI_Fint comm, const shoal_decomposition* decomposition, shoal_decomposition** out) {
  shoal_f_clear();
  *out = NULL;
  if (comm == -1)
    return shoal_f_fail(SHOAL_INVALID_ARGUMENT, "unique: the decomposition was not made, or is freed");
  return IN_FORTRAN(shoal_unique(MPI_Comm_f2c(comm), decomposition, out));
}

int shoal_f_save(MPI_Fint comm, const shoal_decomposition* decomposition, const char* path) {
  shoal_f_clear();
  if (comm == -1)
    return shoal_f_fail(SHOAL_INVALID_ARGUMENT, "save: the decomposition was not made, or is freed");
  return IN_FORTRAN(shoal_decomposition_save(MPI_Comm_f2c(comm), decomposition, path));
}

int shoal_f_decomposition(const shoal_decomposition* decomposition, int* ndims, int64_t* numbers) {
  shoal_f_clear();
  int64_t* row[5];
  for (int i = 0; i < 5; ++i)
    row[i] = numbers + i * (SHOAL_MAX_DIMS - 1);
  const int code = shoal_decomposition_inquire(decomposition, ndims, row[0], row[1], row[2], row[3], row[4]);
  if (code != SHOAL_OK) return code;
  for (int i = 0; i < 5; ++i)
    shoal_f_reverse(row[i], *ndims);
  for (int i = 0; i < *ndims; ++i) {
    row[2][i] += row[1][i]; /* count, zero-based first -> last, one-based */
    row[1][i] += 1;
  }
  return code;
}

int shoal_f_create(const CFI_cdesc_t* comm, const char* path, const char* settings, MPI_Fint* comm_out,
                   shoal_dataset** out) {
  MPI_Comm communicator;
  shoal_f_clear();
  const int code = shoal_f_communicator(comm, &communicator);
  if (code != SHOAL_OK) return code;
  if (*out != NULL) return shoal_f_is_open(communicator, "shoal_dataset");
  *comm_out = MPI_Comm_c2f(communicator);
  return IN_FORTRAN(shoal_create(communicator, path, settings, out));
}

int shoal_f_open(const CFI_cdesc_t* comm, const char* path, int mode, const char* settings,
                 MPI_Fint* comm_out, shoal_dataset** out) {
  MPI_Comm communicator;
  shoal_f_clear();
  const int code = shoal_f_communicator(comm, &communicator);
  if (code != SHOAL_OK) return code;
  if (*out != NULL) return shoal_f_is_open(communicator, "shoal_dataset");
  *comm_out = MPI_Comm_c2f(communicator);
  return IN_FORTRAN(shoal_open(communicator, path, mode, settings, out));
}

/* Ranks finish definitions together, also where one failed before the library saw it. */
int shoal_f_no_definition(shoal_dataset* dataset, int code) {
  char message[1024];
  snprintf(message, sizeof message, "%s", shoal_f_message());
  if (dataset != NULL) shoal_def_dim(dataset, NULL, 0);
  return shoal_f_fail(code, "%s", message);
}

int shoal_f_def_dim(shoal_dataset* dataset, const char* name, const CFI_cdesc_t* length) {
  int64_t cells = 0;
  shoal_f_clear();
  const int code = shoal_f_integer(length, "length", &cells);
  return code != SHOAL_OK ? shoal_f_no_definition(dataset, code) : shoal_def_dim(dataset, name, cells);
}

static int separates(char c) {
  return c == ' ' || c == '\t' || c == ',';
}

/* Behind the name that begins here; one in double quotes may have blanks and commas. */
static const char* end_of_name(const char* at) {
  const int quoted = *at == '"';
  if (quoted)
    for (++at; *at != '\0' && *at != '"'; ++at)
      if (*at == '\\' && at[1] != '\0') ++at;
  while (*at != '\0' && !separates(*at))
    ++at;
  return at;
}

char* shoal_f_reversed_names(const char* names) {
  const size_t length = strlen(names);
  char* const out = malloc(length + 2);
  if (out == NULL) return NULL;
  char* to = out + length + 1; /* from the end on */
  *to = '\0';
  while (*names != '\0') {
    const char* const end = separates(*names) ? names : end_of_name(names);
    if (end == names) {
      ++names;
      continue;
    }
    if (*to != '\0') *--to = ' ';
    to -= end - names;
    memcpy(to, names, (size_t)(end - names));
    names = end;
  }
  memmove(out, to, strlen(to) + 1);
  return out;
}

int shoal_f_def_var(shoal_dataset* dataset, const char* name, int type, const char* dims,
                    const shoal_decomposition* decomposition) {
  shoal_f_clear();
  char* const slowest_first = shoal_f_reversed_names(dims);
  if (slowest_first == NULL)
    return shoal_f_no_definition(dataset, shoal_f_fail(SHOAL_NO_MEMORY, "%s: out of memory", name));
  const int code = shoal_def_var(dataset, name, type, slowest_first, decomposition);
  free(slowest_first);
  return code;
}

int shoal_f_def_var_dims(shoal_dataset* dataset, const char* name, int type, int ndims, const int* dims,
                         const shoal_decomposition* decomposition) {
  int slowest_first[SHOAL_MAX_DIMS];
  shoal_f_clear();
  for (int i = 0; i < ndims && i < SHOAL_MAX_DIMS; ++i)
    slowest_first[i] = dims[ndims - 1 - i] - 1;
  return shoal_def_var_dims(dataset, name, type, ndims, slowest_first, decomposition);
}

int shoal_f_def_gathered(shoal_dataset* dataset, const char* name, const char* dims,
                         const shoal_decomposition* decomposition) {
  shoal_f_clear();
  char* const slowest_first = shoal_f_reversed_names(dims);
  if (slowest_first == NULL)
    return shoal_f_no_definition(dataset, shoal_f_fail(SHOAL_NO_MEMORY, "%s: out of memory", name));
  const int code = shoal_def_gathered(dataset, name, slowest_first, decomposition);
  free(slowest_first);
  return code;
}

int shoal_f_def_chunks(shoal_dataset* dataset, const char* variable, const CFI_cdesc_t* chunks) {
  int64_t shape[SHOAL_MAX_DIMS] = {0};
  int count = 0, index = 0;
  shoal_var_info info = SHOAL_VAR_INFO_INIT;
  shoal_f_clear();
  int code = shoal_f_integers(chunks, "chunks", SHOAL_MAX_DIMS, shape, &count);
  if (code == SHOAL_OK) code = shoal_find_var(dataset, variable, &index);
  if (code == SHOAL_OK) code = shoal_inq_var(dataset, index, &info);
  if (code != SHOAL_OK) return shoal_f_no_definition(dataset, code);
  if (count != info.ndims)
    return shoal_f_no_definition(
        dataset,
        shoal_f_fail(SHOAL_INVALID_ARGUMENT, "%s: chunks= has %d numbers, the variable %d dimensions",
                     variable, count, info.ndims));
  shoal_f_reverse(shape, count);
  return shoal_def_chunks(dataset, variable, shape);
}

/* Record and section in the terms of the C interface. */
typedef struct section {
  int64_t record;
  int64_t records; /* 0: one, without a dimension for it */
  int64_t start[SHOAL_MAX_DIMS], count[SHOAL_MAX_DIMS];
  int dims; /* 0: everything */
} section;

static int make_section(const char* variable, const CFI_cdesc_t* record, const CFI_cdesc_t* start,
                        const CFI_cdesc_t* count, const CFI_cdesc_t* records, section* out) {
  int counts = 0;
  out->record = SHOAL_NO_RECORD;
  out->records = 0;
  int code = SHOAL_OK;
  if (record != NULL) {
    code = shoal_f_integer(record, "record", &out->record);
    if (code != SHOAL_OK) return code;
    if (out->record == 0 || out->record < SHOAL_NEXT)
      return shoal_f_fail(SHOAL_INVALID_ARGUMENT,
                          "%s: record=%lld; records count from 1, and SHOAL_NEXT is the one after the last",
                          variable, (long long)out->record);
    if (out->record > 0) out->record -= 1;
  }
  if (records != NULL) {
    code = shoal_f_integer(records, "records", &out->records);
    if (code != SHOAL_OK) return code;
    if (out->records < 1 || record == NULL)
      return shoal_f_fail(SHOAL_INVALID_ARGUMENT,
                          "%s: records=%lld; give 1 or more, and the first of them as record=", variable,
                          (long long)out->records);
  }
  code = shoal_f_integers(start, "start", SHOAL_MAX_DIMS, out->start, &out->dims);
  if (code == SHOAL_OK) code = shoal_f_integers(count, "count", SHOAL_MAX_DIMS, out->count, &counts);
  if (code != SHOAL_OK) return code;
  if (counts != out->dims)
    return shoal_f_fail(SHOAL_INVALID_ARGUMENT,
                        "%s: start= has %d numbers and count= %d; give both, one number for each dimension "
                        "but the record dimension",
                        variable, out->dims, counts);
  for (int i = 0; i < out->dims; ++i)
    out->start[i] -= 1;
  shoal_f_reverse(out->start, out->dims);
  shoal_f_reverse(out->count, out->dims);
  return SHOAL_OK;
}

static shoal_section c_section(const section* part) {
  const shoal_section out = {sizeof out,
                             part->record,
                             part->dims,
                             part->dims ? part->start : NULL,
                             part->dims ? part->count : NULL,
                             part->records};
  return out;
}

/* Which variable a call means: by its name, or by its number from 0 where is_number is set; label: what
 * messages of this file call it. */
typedef struct target {
  const char* label;
  int is_number;
  shoal_variable number;
} target;

static int describe_target(const shoal_dataset* dataset, const target* variable, shoal_var_info* info) {
  shoal_variable number = variable->number;
  if (!variable->is_number && shoal_find_var(dataset, variable->label, &number) != SHOAL_OK) return 0;
  return shoal_inq_var(dataset, number, info) == SHOAL_OK;
}

/* What a rank refuses before it calls the library, all of them refuse; where the call reports nothing before
 * sync, the refusal stays this rank's. */
static int refuse_data(int verb, shoal_dataset* dataset, const target* variable,
                       const shoal_decomposition* decomposition, const shoal_section* which, int code) {
  char message[1024];
  snprintf(message, sizeof message, "%s", shoal_f_message());
  shoal_f_clear();
  if (dataset == NULL) return shoal_f_fail(code, "%s", message); /* nobody waits for it */
  shoal_variable number = variable->number;
  if (!variable->is_number) shoal_find_var(dataset, variable->label, &number); /* -1: not known */
  const int agreed = shoal_refuse_data(dataset, verb, number, decomposition, which, code, message);
  return agreed != SHOAL_OK ? agreed : shoal_f_fail(code, "%s", message);
}

static int call_shoal(int verb, shoal_dataset* dataset, const target* variable,
                      const shoal_decomposition* decomposition, const shoal_array* array,
                      const shoal_section* which) {
  const char* const name = variable->label;
  const shoal_variable number = variable->number;
  switch (verb) {
    case SHOAL_CALL_WRITE:
      return variable->is_number ? shoal_write_variable(dataset, number, decomposition, array, which)
                                 : shoal_write(dataset, name, decomposition, array, which);
    case SHOAL_CALL_READ:
      return variable->is_number ? shoal_read_variable(dataset, number, decomposition, array, which)
                                 : shoal_read(dataset, name, decomposition, array, which);
    case SHOAL_CALL_PUT:
      return variable->is_number ? shoal_put_variable(dataset, number, array, which)
                                 : shoal_put(dataset, name, array, which);
    case SHOAL_CALL_GET:
      return variable->is_number ? shoal_get_variable(dataset, number, array, which)
                                 : shoal_get(dataset, name, array, which);
    default:
      return SHOAL_INTERNAL;
  }
}

/* Put or get an array of text where the file has strings: elements are zero-terminated pointers there. */
static int move_strings(int verb, shoal_dataset* dataset, const target* variable, shoal_f_view* text,
                        const section* part) {
  const int rank = text->array.ndims - 1;
  const int64_t length = text->extents[rank];
  const int64_t bytes = shoal_f_elements(text);
  int64_t strings = 1; /* of any length, 0 too */
  for (int i = 0; i < rank; ++i)
    strings *= text->extents[i];
  char* const packed = calloc((size_t)bytes + 1, 1);
  char** const pointers = calloc((size_t)strings + 1, sizeof *pointers);
  char* const terminated = calloc((size_t)(bytes + strings) + 1, 1);
  const shoal_section which = c_section(part);
  shoal_array array = {sizeof(shoal_array), pointers, SHOAL_STRING, sizeof *pointers, rank,
                       text->extents,       NULL};
  int code = SHOAL_OK;
  if (packed == NULL || pointers == NULL || terminated == NULL) {
    code = refuse_data(verb, dataset, variable, NULL, &which,
                       shoal_f_fail(SHOAL_NO_MEMORY, "%s: out of memory", variable->label));
  } else if (verb == SHOAL_CALL_PUT) {
    shoal_f_pack(text, packed);
    for (int64_t i = 0; i < strings; ++i) {
      int64_t used = length;
      while (used > 0 && packed[i * length + used - 1] == ' ')
        --used;
      pointers[i] = terminated + i * (length + 1);
      memcpy(pointers[i], packed + i * length, (size_t)used);
    }
    code = call_shoal(verb, dataset, variable, NULL, &array, &which);
  } else {
    code = call_shoal(verb, dataset, variable, NULL, &array, &which);
    for (int64_t i = 0; code == SHOAL_OK && i < strings; ++i) {
      const size_t used = pointers[i] != NULL ? strlen(pointers[i]) : 0;
      if (used > (size_t)length)
        code = shoal_f_fail(SHOAL_RANGE, "%s: string %lld has %zu characters, the array has room for %lld",
                            variable->label, (long long)i + 1, used, (long long)length);
      else
        memset(packed + i * length, ' ', (size_t)length);
      if (code == SHOAL_OK && used > 0) memcpy(packed + i * length, pointers[i], used);
    }
    if (pointers[0] != NULL) shoal_free_strings(strings, pointers);
    if (code == SHOAL_OK) shoal_f_unpack(text, packed);
  }
  free(terminated);
  free(pointers);
  free(packed);
  return code;
}

/* A CHAR variable without a dimension for the string length holds one character an element: so does
 * character(len=1), and the length 1 of its strings is not a dimension then. */
static void drop_unit_length(const shoal_var_info* info, const section* part, shoal_f_view* view) {
  const int last = view->array.ndims - 1;
  if (view->extents[last] != 1) return;
  const int one_record = part->record != SHOAL_ALL_RECORDS && part->records == 0;
  const int dims = info->ndims - (info->has_record && one_record ? 1 : 0);
  if (info->type == SHOAL_CHAR && dims == last) view->array.ndims = last;
}

static int move(int verb, shoal_dataset* dataset, const target* variable, const CFI_cdesc_t* values,
                const CFI_cdesc_t* record, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
                const CFI_cdesc_t* records, const shoal_decomposition* decomposition) {
  shoal_f_view view;
  section part;
  shoal_f_clear();
  /* The section first: the others are to hear of the array, and not of a record that is missing. */
  int refused = make_section(variable->label, record, start, count, records, &part);
  if (refused != SHOAL_OK) return refuse_data(verb, dataset, variable, decomposition, NULL, refused);
  const shoal_section which = c_section(&part);
  refused = shoal_f_describe(values, variable->label, &view);
  if (refused != SHOAL_OK) return refuse_data(verb, dataset, variable, decomposition, &which, refused);
  shoal_var_info info = SHOAL_VAR_INFO_INIT; /* of texts alone: others pay nothing for it */
  if (view.array.type == SHOAL_CHAR && describe_target(dataset, variable, &info)) {
    if (info.type == SHOAL_STRING && (verb == SHOAL_CALL_PUT || verb == SHOAL_CALL_GET))
      return move_strings(verb, dataset, variable, &view, &part);
    drop_unit_length(&info, &part, &view);
  }
  return call_shoal(verb, dataset, variable, decomposition, &view.array, &which);
}

int shoal_f_move(int verb, shoal_dataset* dataset, const char* variable, const CFI_cdesc_t* values,
                 const CFI_cdesc_t* record, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
                 const CFI_cdesc_t* records, const shoal_decomposition* decomposition) {
  const target named = {variable, 0, -1};
  return move(verb, dataset, &named, values, record, start, count, records, decomposition);
}

int shoal_f_move_variable(int verb, shoal_dataset* dataset, int number, const CFI_cdesc_t* values,
                          const CFI_cdesc_t* record, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
                          const CFI_cdesc_t* records, const shoal_decomposition* decomposition) {
  char label[32];
  snprintf(label, sizeof label, "variable %d", number);
  const target numbered = {label, 1, number - 1};
  return move(verb, dataset, &numbered, values, record, start, count, records, decomposition);
}
