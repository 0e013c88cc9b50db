/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The calls of the Fortran modules that take arrays: from descriptors to the C interface (pio_c.f90 declares
 * the same to Fortran). Ids are C's, names are zero-terminated; lists of start and count are Fortran's: from
 * 1, the fastest dimension first. All return a code, after the error handler has acted.
 */
#include <ISO_Fortran_binding.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bridge.h"
#include "descriptor.h"

/* Does this once for each type of Fortran's values. */
#define BY_TYPE(type, NAME, ...)         \
  switch (type) {                        \
    case SHOAL_CHAR:                     \
      return NAME##_text(__VA_ARGS__);   \
    case SHOAL_SHORT:                    \
      return NAME##_short(__VA_ARGS__);  \
    case SHOAL_INT:                      \
      return NAME##_int(__VA_ARGS__);    \
    case SHOAL_FLOAT:                    \
      return NAME##_float(__VA_ARGS__);  \
    default:                             \
      return NAME##_double(__VA_ARGS__); \
  }

static int put_section(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count, int type,
                       const void* values) {
  BY_TYPE(type, PIOc_put_vara, ncid, varid, start, count, values)
}

static int get_section(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count, int type,
                       void* values) {
  BY_TYPE(type, PIOc_get_vara, ncid, varid, start, count, values)
}

static int put_whole(int ncid, int varid, int type, const void* values) {
  BY_TYPE(type, PIOc_put_var, ncid, varid, values)
}

static int get_whole(int ncid, int varid, int type, void* values) {
  BY_TYPE(type, PIOc_get_var, ncid, varid, values)
}

static int refuse(int id, const char* call, int code, const char* format, ...)
    __attribute__((format(printf, 4, 5)));
static int refuse(int id, const char* call, int code, const char* format, ...) {
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  return shoal_pio_refuse(id, call, code, message);
}

static int no_memory(int id, const char* call, int64_t values) {
  return refuse(id, call, PIO_ENOMEM, "no memory for %lld values", (long long)values);
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

typedef struct values {
  shoal_f_view view;
  int type;
  int64_t elements; /* numbers, or characters */
  int64_t length;   /* of a text; 1 for numbers */
  int64_t texts;    /* elements / length, where length is not 0 */
  int scalar;
} values;

/* An array that was never allocated has no elements. Returns 0 for one of a kind that PIO does not take. */
static int look_at(const CFI_cdesc_t* descriptor, values* out) {
  if (shoal_f_describe(descriptor, "the array", &out->view) != SHOAL_OK) return 0;
  out->type = out->view.array.type;
  out->scalar = descriptor->rank == 0;
  out->length = out->type == SHOAL_CHAR ? (int64_t)descriptor->elem_len : 1;
  if (descriptor->base_addr == NULL && descriptor->rank > 0) out->view.extents[0] = 0;
  out->texts = 1;
  for (int i = 0; i < descriptor->rank; ++i)
    out->texts *= out->view.extents[i];
  out->elements = out->texts * out->length;
  return 1;
}

/* The elements one after the other: the array itself or a copy, which *copy is then. NULL: no memory. */
static void* packed(const values* array, void** copy) {
  *copy = NULL;
  if (shoal_f_contiguous(&array->view) && array->view.array.data != NULL) return array->view.array.data;
  *copy = malloc((size_t)array->elements * array->view.array.element_size + 1);
  if (*copy != NULL) shoal_f_pack(&array->view, *copy);
  return *copy;
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

typedef struct shape {
  int ndims;
  int grows; /* the first dimension is unlimited */
  int64_t lengths[SHOAL_MAX_DIMS];
} shape;

/* INT64_MAX: more than can be counted. */
static int64_t times(int64_t a, int64_t b) {
  return b > 0 && a > INT64_MAX / b ? INT64_MAX : a * b;
}

static int64_t product(const int64_t* numbers, int first, int last) {
  int64_t all = 1;
  for (int i = first; i < last; ++i)
    all = times(all, numbers[i]);
  return all;
}

typedef struct section {
  PIO_Offset start[SHOAL_MAX_DIMS];
  PIO_Offset count[SHOAL_MAX_DIMS];
  int64_t cells;
  int64_t letters; /* of a text in the section: its last dimension; 1 where there is none */
} section;

static int number_at(const CFI_cdesc_t* list, int k) {
  int number;
  memcpy(&number, (const char*)list->base_addr + k * list->dim[0].sm, sizeof number);
  return number;
}

static int length_of(const CFI_cdesc_t* list) {
  return list == NULL ? 0 : (int)list->dim[0].extent;
}

/* What is wrong with the arguments of a call: for shoal_pio_refuse_values. */
typedef char reason[256];

/* start and count: lists that are too short say nothing of the slowest dimensions, where the first cell is
 * meant; behind the variable's dimensions only ones are allowed, up to the first count below 1. Returns 0 if
 * it is wrong. */
static int box_of(const shape* of, const CFI_cdesc_t* start, const CFI_cdesc_t* count, section* out,
                  reason why) {
  for (int k = 0; k < of->ndims; ++k) {
    const int i = of->ndims - 1 - k;
    out->start[i] = k < length_of(start) ? number_at(start, k) - 1 : 0;
    out->count[i] = k < length_of(count) ? number_at(count, k) : 1;
  }
  for (int k = of->ndims; k < length_of(count) && number_at(count, k) >= 1; ++k)
    if (number_at(count, k) > 1) {
      snprintf(why, sizeof(reason), "count(%d) is %d, and the variable has %d dimensions", k + 1,
               number_at(count, k), of->ndims);
      return 0;
    }
  return 1;
}

/* index: one number, or one text. That of a text may leave out the text's own dimension. A text is put with
 * its own length, so that the rest of its row stays; all of the row is got, as ranks may give texts of other
 * lengths. */
static int cell_of(const shape* of, const CFI_cdesc_t* index, const values* array, int writing, section* out,
                   reason why) {
  const int text = array->type == SHOAL_CHAR && of->ndims > 0;
  const int first = text && length_of(index) < of->ndims ? 1 : 0;
  if (array->texts != 1) {
    snprintf(why, sizeof(reason), "with index one value is meant, and the array has %lld",
             (long long)array->texts);
    return 0;
  }
  for (int k = 0; k < of->ndims; ++k) {
    const int i = of->ndims - 1 - k;
    const int at = k - first;
    out->start[i] = at >= 0 && at < length_of(index) ? number_at(index, at) - 1 : 0;
    out->count[i] = 1;
  }
  if (!text) return 1;
  const int last = of->ndims - 1;
  const int64_t rest = of->lengths[last] - out->start[last];
  const int grows = last == 0 && of->grows;
  if (grows ? writing : writing && array->length < rest)
    out->count[last] = array->length;
  else
    out->count[last] = rest > 0 ? rest : 1; /* 1: C says that start is outside */
  return 1;
}

/* All of it; to a variable that grows, as many records as the array has. */
static int whole_of(const shape* of, const values* array, int writing, section* out, reason why) {
  for (int i = 0; i < of->ndims; ++i) {
    out->start[i] = 0;
    out->count[i] = of->lengths[i];
  }
  if (!of->grows || !writing) return 1;
  const int text = array->type == SHOAL_CHAR && of->ndims > 1;
  const int64_t cells = product(of->lengths, 1, of->ndims - text);
  const int64_t given = text ? array->texts : array->elements;
  if (cells == 0 || given % cells != 0) {
    snprintf(why, sizeof(reason), "an array of %lld is no number of records of %lld; give start and count",
             (long long)given, (long long)cells);
    return 0;
  }
  out->count[0] = given / cells;
  return 1;
}

static int section_of(const shape* of, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
                      const values* array, int writing, section* out, reason why) {
  int good;
  if (start == NULL)
    good = whole_of(of, array, writing, out, why);
  else if (count == NULL)
    good = cell_of(of, start, array, writing, out, why);
  else
    good = box_of(of, start, count, out, why);
  if (!good) return 0;
  out->cells = 1;
  for (int i = 0; i < of->ndims; ++i)
    out->cells = times(out->cells, out->count[i] > 0 ? out->count[i] : 0); /* what is below 0, C refuses */
  out->letters = of->ndims > 0 ? out->count[of->ndims - 1] : 1;
  return 1;
}

/* ---- Text ------------------------------------------------------------------------------------ */

/* Are the array's texts those of the section, one by one? Otherwise its characters are taken one after the
 * other, as those of an array of single characters. */
static int text_by_text(const values* array, const section* part) {
  const int64_t texts = part->letters > 0 ? part->cells / part->letters : 0;
  return array->texts == texts || (array->length > 1 && array->texts > texts);
}

/* Is the array large enough? */
static int fits(const values* array, const section* part) {
  if (array->type == SHOAL_CHAR && text_by_text(array, part)) return 1;
  return array->elements >= part->cells;
}

/* Trailing blanks become zero bytes; a blank text of an array keeps one. */
static int64_t used_letters(const char* text, int64_t length, int scalar) {
  while (length > 0 && text[length - 1] == ' ')
    --length;
  return length == 0 && !scalar ? 1 : length;
}

static void text_to_file(const values* array, const char* from, const section* part, char* to) {
  const int by_text = text_by_text(array, part);
  const int64_t width = by_text ? part->letters : array->length;
  memset(to, 0, (size_t)part->cells);
  for (int64_t i = 0; i < array->texts && i * width < part->cells; ++i) {
    int64_t used = used_letters(from + i * array->length, array->length, array->scalar);
    if (used > array->length) used = array->length;
    if (used > width) used = width;
    if (used > part->cells - i * width) used = part->cells - i * width;
    memcpy(to + i * width, from + i * array->length, (size_t)used);
  }
}

static void text_from_file(const values* array, const char* from, const section* part, char* to) {
  const int by_text = text_by_text(array, part);
  const int64_t width = by_text ? part->letters : array->length;
  memset(to, ' ', (size_t)array->elements);
  for (int64_t i = 0; i < array->texts && i * width < part->cells; ++i) {
    int64_t used = part->cells - i * width < width ? part->cells - i * width : width;
    if (used > array->length) used = array->length;
    const char* const end = memchr(from + i * width, '\0', (size_t)used);
    memcpy(to + i * array->length, from + i * width,
           end != NULL ? (size_t)(end - (from + i * width)) : (size_t)used);
  }
}

/* ---- Variables that are not cut ---------------------------------------------------------------- */

static void say_too_small(const values* array, const section* part, reason why) {
  snprintf(why, sizeof(reason), "the array has %lld elements, fewer than the %lld of the section",
           (long long)array->elements, (long long)part->cells);
}

static int no_room(int ncid, int writing, const char* call) {
  return shoal_pio_refuse_values(ncid, writing, call, PIO_ENOMEM, "no memory for the values");
}

/* The section is one of the variable, as far as start and count say. */
static int within(const shape* of, const section* part) {
  for (int i = 0; i < of->ndims; ++i)
    if (part->start[i] < 0 || part->count[i] < 0 ||
        (!(i == 0 && of->grows) && part->start[i] + part->count[i] > of->lengths[i]))
      return 0;
  return 1;
}

static int put_values(int ncid, int varid, int ndims, const values* array, const section* part) {
  const char* const call = "PIO_put_var";
  const int text = array->type == SHOAL_CHAR;
  void* copy = NULL;
  void* room = NULL;
  const void* data = packed(array, &copy);
  if (data == NULL) return no_room(ncid, 1, call);
  const size_t size = array->view.array.element_size;
  if (text || array->elements < part->cells) { /* fewer: of a rank whose values do not count */
    room = calloc((size_t)part->cells + 1, size);
    if (room == NULL) {
      free(copy);
      return no_room(ncid, 1, call);
    }
    if (text)
      text_to_file(array, data, part, room);
    else
      memcpy(room, data, (size_t)array->elements * size);
    data = room;
  }
  const int code = ndims == 0 ? put_whole(ncid, varid, array->type, data)
                              : put_section(ncid, varid, part->start, part->count, array->type, data);
  free(room);
  free(copy);
  return code;
}

/* Is there a variable that takes such values? If not, C says what is wrong. */
static int takes(int ncid, int varid, const values* array, shape* of) {
  if (!shoal_pio_shape(ncid, varid, &of->ndims, of->lengths, &of->grows)) return 0;
  return (shoal_pio_variable_type(ncid, varid) == PIO_CHAR) == (array->type == SHOAL_CHAR);
}

int shoal_pio_f_put_var(int ncid, int varid, const CFI_cdesc_t* descriptor, const CFI_cdesc_t* start,
                        const CFI_cdesc_t* count) {
  const char* const call = "PIO_put_var";
  values array;
  shape of;
  section part;
  reason why;
  if (!look_at(descriptor, &array))
    return shoal_pio_refuse_values(ncid, 1, call, PIO_EINVAL, shoal_f_message());
  if (!takes(ncid, varid, &array, &of)) return put_whole(ncid, varid, array.type, NULL);
  if (!section_of(&of, start, count, &array, 1, &part, why))
    return shoal_pio_refuse_values(ncid, 1, call, PIO_EINVAL, why);
  if (!fits(&array, &part) && shoal_pio_counts(ncid)) {
    say_too_small(&array, &part, why);
    return within(&of, &part) ? shoal_pio_refuse_values(ncid, 1, call, PIO_EINVAL, why)
                              : put_section(ncid, varid, part.start, part.count, array.type, NULL);
  }
  return put_values(ncid, varid, of.ndims, &array, &part);
}

static int get_values(int ncid, int varid, const shape* of, int whole, const values* array,
                      const section* part) {
  const char* const call = "PIO_get_var";
  reason why;
  const int fit = fits(array, part);
  if (!fit && within(of, part)) { /* otherwise C says what is wrong with the section */
    say_too_small(array, part, why);
    return shoal_pio_refuse_values(ncid, 0, call, PIO_EINVAL, why);
  }
  const int text = array->type == SHOAL_CHAR;
  const int direct = fit && !text && shoal_f_contiguous(&array->view);
  const size_t size = array->view.array.element_size;
  const int64_t cells = part->cells > array->elements ? part->cells : array->elements;
  char* const room = direct ? array->view.array.data : malloc((size_t)(cells + array->elements + 1) * size);
  if (room == NULL && part->cells > 0) return no_room(ncid, 0, call);
  /* An array with more elements than there are values keeps the others. */
  if (!direct && !text && array->elements > 0) shoal_f_pack(&array->view, room);
  int code = of->ndims == 0 || whole ? get_whole(ncid, varid, array->type, room)
                                     : get_section(ncid, varid, part->start, part->count, array->type, room);
  if (code == PIO_NOERR && !direct && array->elements > 0) {
    char* out = room;
    if (text) {
      out = room + cells;
      text_from_file(array, room, part, out);
    }
    shoal_f_unpack(&array->view, out);
  }
  if (!direct) free(room);
  return code;
}

int shoal_pio_f_get_var(int ncid, int varid, const CFI_cdesc_t* descriptor, const CFI_cdesc_t* start,
                        const CFI_cdesc_t* count) {
  const char* const call = "PIO_get_var";
  values array;
  shape of;
  section part;
  reason why;
  if (!look_at(descriptor, &array))
    return shoal_pio_refuse_values(ncid, 0, call, PIO_EINVAL, shoal_f_message());
  if (!takes(ncid, varid, &array, &of)) return get_whole(ncid, varid, array.type, NULL);
  if (!section_of(&of, start, count, &array, 0, &part, why))
    return shoal_pio_refuse_values(ncid, 0, call, PIO_EINVAL, why);
  return get_values(ncid, varid, &of, start == NULL, &array, &part);
}

/* ---- Attributes ------------------------------------------------------------------------------ */

static int put_numbers(int ncid, int varid, const char* name, int type, PIO_Offset length, const void* data) {
  switch (type) {
    case SHOAL_SHORT:
      return PIOc_put_att_short(ncid, varid, name, PIO_SHORT, length, data);
    case SHOAL_INT:
      return PIOc_put_att_int(ncid, varid, name, PIO_INT, length, data);
    case SHOAL_FLOAT:
      return PIOc_put_att_float(ncid, varid, name, PIO_FLOAT, length, data);
    default:
      return PIOc_put_att_double(ncid, varid, name, PIO_DOUBLE, length, data);
  }
}

int shoal_pio_f_put_att(int ncid, int varid, const char* name, const CFI_cdesc_t* descriptor) {
  values array;
  void* copy = NULL;
  int code;
  if (!look_at(descriptor, &array))
    return shoal_pio_refuse_match(ncid, "put_att", "PIO_put_att", PIO_EINVAL, shoal_f_message());
  const void* const data = packed(&array, &copy);
  if (data == NULL)
    return shoal_pio_refuse_match(ncid, "put_att", "PIO_put_att", PIO_ENOMEM, "no memory for the values");
  if (array.type == SHOAL_CHAR)
    code = PIOc_put_att_text(ncid, varid, name, used_letters(data, array.length, 1), data);
  else
    code = put_numbers(ncid, varid, name, array.type, array.elements, data);
  free(copy);
  return code;
}

static int get_numbers(int ncid, int varid, const char* name, int type, void* data) {
  BY_TYPE(type, PIOc_get_att, ncid, varid, name, data)
}

/* There is more than the caller has room for: the first part was given. */
static int attribute_cut(int ncid, const char* name, const values* array, int64_t length) {
  if (array->type == SHOAL_CHAR)
    return refuse(ncid, "PIO_get_att", PIO_ESTS, "attribute '%s' has %lld characters, the text %lld", name,
                  (long long)length, (long long)array->length);
  return refuse(ncid, "PIO_get_att", PIO_EINVAL, "attribute '%s' has %lld values, the array %lld", name,
                (long long)length, (long long)array->elements);
}

int shoal_pio_f_get_att(int ncid, int varid, const char* name, const CFI_cdesc_t* descriptor) {
  values array;
  int64_t length = 0;
  if (!look_at(descriptor, &array)) return refuse(ncid, "PIO_get_att", PIO_EINVAL, "%s", shoal_f_message());
  if (!shoal_pio_attribute(ncid, varid, name, &length))
    return get_numbers(ncid, varid, name, array.type, NULL); /* says what is wrong */
  const size_t size = array.view.array.element_size;
  const int64_t room_for = length > array.elements ? length : array.elements;
  char* const room = calloc((size_t)room_for + 1, size);
  if (room == NULL) return no_memory(ncid, "PIO_get_att", room_for);
  if (array.elements > 0) shoal_f_pack(&array.view, room);
  if (array.type == SHOAL_CHAR) memset(room, 0, (size_t)room_for);
  const int code = get_numbers(ncid, varid, name, array.type, room);
  if (code == PIO_NOERR && array.type == SHOAL_CHAR) {
    const char* const end = memchr(room, '\0', (size_t)room_for + 1);
    length = end - room;
    if (length < room_for) memset(room + length, ' ', (size_t)(room_for - length));
  }
  if (code == PIO_NOERR && array.elements > 0) shoal_f_unpack(&array.view, room);
  free(room);
  return code == PIO_NOERR && length > array.elements ? attribute_cut(ncid, name, &array, length) : code;
}

/* ---- Fill values ----------------------------------------------------------------------------- */

/* A number of a file in the two forms that hold all of them. */
typedef struct number {
  int real;
  double as_real;
  long long as_integer;
} number;

static int number_of(int type, const void* value, number* out) {
#define WHEN(TYPE_OF_PIO, C_TYPE, REAL)          \
  case TYPE_OF_PIO: {                            \
    C_TYPE one;                                  \
    memcpy(&one, value, sizeof one);             \
    out->real = REAL;                            \
    out->as_real = (double)one;                  \
    out->as_integer = REAL ? 0 : (long long)one; \
    return 1;                                    \
  }
  switch (type) {
    WHEN(PIO_BYTE, signed char, 0)
    WHEN(PIO_UBYTE, unsigned char, 0)
    WHEN(PIO_SHORT, short, 0)
    WHEN(PIO_USHORT, unsigned short, 0)
    WHEN(PIO_INT, int, 0)
    WHEN(PIO_UINT, unsigned int, 0)
    WHEN(PIO_INT64, long long, 0)
    WHEN(PIO_UINT64, unsigned long long, 1)
    WHEN(PIO_FLOAT, float, 1)
    WHEN(PIO_DOUBLE, double, 1)
    default:
      return 0;
  }
#undef WHEN
}

/* 0 where it does not fit. */
static int number_to(const number* from, int type, void* value) {
  const double real = from->as_real;
  if (type == SHOAL_DOUBLE) {
    memcpy(value, &real, sizeof real);
    return 1;
  }
  if (type == SHOAL_FLOAT) {
    const float single = (float)real;
    memcpy(value, &single, sizeof single);
    return 1;
  }
  const long long low = type == SHOAL_SHORT ? SHRT_MIN : INT_MIN;
  const long long high = type == SHOAL_SHORT ? SHRT_MAX : INT_MAX;
  if (from->real ? !(real >= (double)low && real <= (double)high)
                 : from->as_integer < low || from->as_integer > high)
    return 0;
  const long long whole = from->real ? (long long)real : from->as_integer;
  if (type == SHOAL_SHORT) {
    const short small = (short)whole;
    memcpy(value, &small, sizeof small);
  } else {
    const int full = (int)whole;
    memcpy(value, &full, sizeof full);
  }
  return 1;
}

int shoal_pio_f_inq_var_fill(int ncid, int varid, int* no_fill, const CFI_cdesc_t* descriptor) {
  const char* const call = "PIO_inq_var_fill";
  values array;
  number found = {0, 0, 0};
  unsigned long long room = 0; /* of any number */
  if (!look_at(descriptor, &array)) return refuse(ncid, call, PIO_EINVAL, "%s", shoal_f_message());
  const int type = shoal_pio_variable_type(ncid, varid);
  if (type == PIO_CHAR || type == PIO_STRING)
    return refuse(ncid, call, PIO_ECHAR, "the variable holds text, its fill value is no number");
  const int code = PIOc_inq_var_fill(ncid, varid, no_fill, &room);
  if (code != PIO_NOERR) return code;
  if (!number_of(type, &room, &found) || !number_to(&found, array.type, descriptor->base_addr))
    return refuse(ncid, call, PIO_ERANGE, "the fill value %g does not fit the argument", found.as_real);
  return PIO_NOERR;
}

/* ---- Distributed arrays ---------------------------------------------------------------------- */

/* 0 where there is no such decomposition: C says so. */
static int type_differs(int ioid, const values* array) {
  const int made_for = shoal_pio_decomposition_type(ioid);
  return made_for != 0 && made_for != array->type;
}

static int refuse_type(int ncid, const char* call, int ioid, const values* array) {
  return refuse(
      ncid, call, PIO_EINVAL,
      "the array is of type %d, the decomposition was made for type %d (3: integer of 2 bytes, 4: integer, "
      "5: real of 4 bytes, 6: of 8)",
      array->type, shoal_pio_decomposition_type(ioid));
}

int shoal_pio_f_write_darray(int ncid, int nvars, const int* varids, int ioid, const CFI_cdesc_t* descriptor,
                             const CFI_cdesc_t* fillval) {
  const char* const call = "PIO_write_darray";
  values array;
  void* copy = NULL;
  const void* const fill = fillval != NULL ? fillval->base_addr : NULL;
  int code = PIO_NOERR;
  /* What this rank cannot take, it writes with elements that fit nothing: C tells the others, where they
   * wait. The fill value is of the array's type, and not looked at. */
  const int good = look_at(descriptor, &array);
  const int differs = !good || type_differs(ioid, &array);
  char* const data = differs || nvars == 1 ? NULL : packed(&array, &copy);
  const int no_room = !differs && nvars != 1 && data == NULL && array.elements > 0;
  if (differs || no_room) {
    array.view.array.element_size = 0;
    for (int i = 0; i < nvars; ++i) {
      const int one = shoal_pio_write_array(ncid, varids[i], ioid, &array.view.array, NULL);
      if (code == PIO_NOERR) code = one;
    }
    if (code != PIO_NOERR) return code;
    if (!good) return refuse(ncid, call, PIO_EINVAL, "%s", shoal_f_message());
    return differs ? refuse_type(ncid, call, ioid, &array) : no_memory(ncid, call, array.elements);
  }
  if (nvars == 1) return shoal_pio_write_array(ncid, varids[0], ioid, &array.view.array, fill);

  /* Several: each has its part, and all are written, also after an error. */
  const int64_t length = nvars > 0 ? array.elements / nvars : 0;
  for (int i = 0; i < nvars; ++i) {
    shoal_array part =
        shoal_array_of(data + (size_t)(i * length) * array.view.array.element_size, array.type, 1, &length);
    part.element_size = array.view.array.element_size;
    const int one = shoal_pio_write_array(ncid, varids[i], ioid, &part, fill);
    if (code == PIO_NOERR) code = one;
  }
  free(copy);
  return code;
}

/* Holes of the list become 0. */
static void clear(const values* array) {
  const size_t size = array->view.array.element_size;
  if (array->elements == 0) return;
  if (shoal_f_contiguous(&array->view)) {
    memset(array->view.array.data, 0, (size_t)array->elements * size);
    return;
  }
  int64_t index[SHOAL_MAX_DIMS] = {0};
  const int last = array->view.array.ndims - 1;
  for (int64_t n = 0; n < array->elements / array->view.extents[last]; ++n) {
    char* at = array->view.array.data;
    for (int i = 0; i < last; ++i)
      at += index[i] * array->view.strides[i];
    for (int64_t i = 0; i < array->view.extents[last]; ++i)
      memset(at + i * array->view.strides[last], 0, size);
    for (int i = last - 1; i >= 0 && ++index[i] == array->view.extents[i]; --i)
      index[i] = 0;
  }
}

int shoal_pio_f_read_darray(int ncid, int varid, int ioid, const CFI_cdesc_t* descriptor) {
  const char* const call = "PIO_read_darray";
  values array;
  /* What this rank cannot take, it reads with elements that fit nothing: the others are told. */
  const int good = look_at(descriptor, &array);
  const int differs = !good || type_differs(ioid, &array);
  if (differs) array.view.array.element_size = 0;
  if (good && !differs) clear(&array);
  const int code = shoal_pio_read_array(ncid, varid, ioid, &array.view.array);
  if (code != PIO_NOERR || !differs) return code;
  return good ? refuse_type(ncid, call, ioid, &array)
              : refuse(ncid, call, PIO_EINVAL, "%s", shoal_f_message());
}

/* ---- Decompositions -------------------------------------------------------------------------- */

static void turn(const CFI_cdesc_t* list, int ndims, int less, PIO_Offset* out) {
  for (int k = 0; k < ndims && k < length_of(list); ++k) {
    PIO_Offset one;
    memcpy(&one, (const char*)list->base_addr + k * list->dim[0].sm, sizeof one);
    out[ndims - 1 - k] = one - less;
  }
}

int shoal_pio_f_initdecomp(int iosysid, int readonly, int basetype, const CFI_cdesc_t* dims,
                           const CFI_cdesc_t* cells, int* ioid, const int* rearr, const CFI_cdesc_t* iostart,
                           const CFI_cdesc_t* iocount) {
  int lengths[PIO_MAX_DIMS] = {0};
  PIO_Offset start[PIO_MAX_DIMS] = {0};
  PIO_Offset count[PIO_MAX_DIMS] = {0};
  const int ndims = length_of(dims) < PIO_MAX_DIMS ? length_of(dims) : PIO_MAX_DIMS;
  for (int k = 0; k < ndims; ++k)
    lengths[ndims - 1 - k] = number_at(dims, k);
  const int io = iostart != NULL && iocount != NULL;
  if (io) {
    turn(iostart, ndims, 1, start);
    turn(iocount, ndims, 0, count);
  }
  int64_t* list = NULL;
  int64_t length = cells->dim[0].extent;
  const int as_it_is =
      cells->elem_len == sizeof(PIO_Offset) && cells->dim[0].sm == (CFI_index_t)sizeof(PIO_Offset);
  /* A rank without memory, or with a list that C cannot be told of, gives one that C refuses on all ranks. */
  if (length > INT_MAX || (!as_it_is && shoal_f_list(cells, "compdof", &list, &length) != SHOAL_OK))
    length = -1;
  const PIO_Offset* const given = as_it_is ? cells->base_addr : (const PIO_Offset*)list;
  const int code = readonly ? PIOc_InitDecomp_ReadOnly(iosysid, basetype, ndims, lengths, (int)length, given,
                                                       ioid, rearr, io ? start : NULL, io ? count : NULL)
                            : PIOc_InitDecomp(iosysid, basetype, ndims, lengths, (int)length, given, ioid,
                                              rearr, io ? start : NULL, io ? count : NULL);
  free(list);
  return code;
}

/* The type of the values is not in the file, and Fortran's call does not say it. */
int shoal_pio_f_read_nc_decomp(int iosysid, const char* file, int* ioid, char* title, char* history,
                               int* fortran_order) {
  return PIOc_read_nc_decomp(iosysid, file, ioid, MPI_COMM_WORLD, PIO_DOUBLE, title, history, fortran_order);
}

/* ---- Ends of programs ------------------------------------------------------------------------ */

void shoal_pio_f_die(const char* message) {
  fprintf(stderr, "PIO: %s\n", message);
  fflush(stderr);
  /* MPICH's launcher passes on nothing that it has not read when a rank aborts. */
  for (const double end = MPI_Wtime() + 0.2; MPI_Wtime() < end;)
    continue;
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

/* text has PIO_MAX_NAME + 1 bytes. */
void shoal_pio_f_mpi_message(int code, char* text) {
  char message[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  if (MPI_Error_string(code, message, &length) != MPI_SUCCESS)
    snprintf(message, sizeof message, "code %d", code);
  snprintf(text, PIO_MAX_NAME + 1, "%s", message);
}
