/* SPDX-License-Identifier: BSD-3-Clause */
#include "descriptor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The C interface keeps its last message per thread; the Fortran side adds its own in the same way. */
static _Thread_local char own_message[1024];

int shoal_f_fail(int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(own_message, sizeof own_message, format, arguments);
  va_end(arguments);
  return code;
}

void shoal_f_clear(void) {
  own_message[0] = '\0';
}

const char* shoal_f_message(void) {
  return own_message[0] != '\0' ? own_message : shoal_error_message();
}

int shoal_f_error_rank(void) {
  return own_message[0] != '\0' ? -1 : shoal_error_rank();
}

const char* shoal_f_error_file(void) {
  return own_message[0] != '\0' ? "" : shoal_error_file();
}

const char* shoal_f_error_variable(void) {
  return own_message[0] != '\0' ? "" : shoal_error_variable();
}

void shoal_f_reverse(int64_t* numbers, int count) {
  for (int i = 0, j = count - 1; i < j; ++i, --j) {
    const int64_t kept = numbers[i];
    numbers[i] = numbers[j];
    numbers[j] = kept;
  }
}

static int integer_type(size_t bytes) {
  switch (bytes) {
    case 1:
      return SHOAL_BYTE;
    case 2:
      return SHOAL_SHORT;
    case 4:
      return SHOAL_INT;
    case 8:
      return SHOAL_INT64;
    default:
      return 0;
  }
}

/* Type code of an element, 0 if there is none. Compilers number intrinsic types family by family in the
 * low byte (gfortran); the comparison with named codes comes first so that others work as well. */
static int element_type(const CFI_cdesc_t* descriptor) {
  const CFI_type_t type = descriptor->type;
  const size_t bytes = descriptor->elem_len;
  if (type == CFI_type_float) return SHOAL_FLOAT;
  if (type == CFI_type_double) return SHOAL_DOUBLE;
  if (type == CFI_type_char) return SHOAL_CHAR;
  if (type == CFI_type_Bool) return SHOAL_LOGICAL;
  if (type == CFI_type_int8_t || type == CFI_type_int16_t || type == CFI_type_int32_t ||
      type == CFI_type_int64_t)
    return integer_type(bytes);
#ifdef CFI_type_mask
  if ((type & CFI_type_mask) == CFI_type_Logical && type > 0)
    return integer_type(bytes) != 0 ? SHOAL_LOGICAL : 0;
#endif
  return 0;
}

int shoal_f_describe(const CFI_cdesc_t* descriptor, const char* what, shoal_f_view* out) {
  memset(out, 0, sizeof *out);
  const int type = element_type(descriptor);
  if (type == 0)
    return shoal_f_fail(
        SHOAL_TYPE,
        "%s: elements of %zu bytes of this type cannot be stored; allowed are integer and logical of 1, 2, 4 "
        "and 8 bytes, real of 4 and 8 bytes, and character (complex: give real and imaginary part apart)",
        what, descriptor->elem_len);
  const int rank = descriptor->rank;
  const int text = type == SHOAL_CHAR ? 1 : 0;
  if (rank + text > SHOAL_MAX_DIMS)
    return shoal_f_fail(SHOAL_INVALID_ARGUMENT, "%s: an array of rank %d; at most %d is allowed", what, rank,
                        SHOAL_MAX_DIMS - text);
  if (rank > 0 && descriptor->dim[rank - 1].extent < 0)
    return shoal_f_fail(
        SHOAL_INVALID_ARGUMENT,
        "%s: an assumed-size array (*) does not know its last extent; give a section with bounds, a(:, 1:n)",
        what);
  for (int i = 0; i < rank; ++i) {
    out->extents[rank - 1 - i] = descriptor->dim[i].extent;
    out->strides[rank - 1 - i] = descriptor->dim[i].sm;
  }
  if (text) {
    out->extents[rank] = (int64_t)descriptor->elem_len;
    out->strides[rank] = 1;
  }
  out->array.struct_size = sizeof out->array;
  out->array.data = descriptor->base_addr;
  out->array.type = type;
  out->array.element_size = text ? 1 : descriptor->elem_len;
  out->array.ndims = rank + text;
  out->array.extents = out->extents;
  out->array.strides = out->strides;
  return SHOAL_OK;
}

static int64_t integer_at(const char* address, size_t bytes) {
  int8_t one;
  int16_t two;
  int32_t four;
  int64_t eight;
  switch (bytes) {
    case 1:
      memcpy(&one, address, 1);
      return one;
    case 2:
      memcpy(&two, address, 2);
      return two;
    case 4:
      memcpy(&four, address, 4);
      return four;
    default:
      memcpy(&eight, address, 8);
      return eight;
  }
}

/* Is it a scalar or a list of integers? Then how many, and how far apart in bytes. */
static int as_list(const CFI_cdesc_t* descriptor, const char* what, int64_t* count, int64_t* stride) {
  const int type = element_type(descriptor);
  if (type == 0 || type == SHOAL_FLOAT || type == SHOAL_DOUBLE || type == SHOAL_CHAR || type == SHOAL_LOGICAL)
    return shoal_f_fail(SHOAL_INVALID_ARGUMENT, "%s= must be integer, of any kind", what);
  if (descriptor->rank > 1)
    return shoal_f_fail(SHOAL_INVALID_ARGUMENT, "%s= must be a scalar or an array of rank 1, not of rank %d",
                        what, descriptor->rank);
  *count = descriptor->rank == 0 ? 1 : descriptor->dim[0].extent;
  *stride = descriptor->rank == 0 ? 0 : descriptor->dim[0].sm;
  return SHOAL_OK;
}

static void copy_integers(const CFI_cdesc_t* descriptor, int64_t count, int64_t stride, int64_t* out) {
  const char* at = descriptor->base_addr;
  for (int64_t i = 0; i < count; ++i)
    out[i] = integer_at(at + i * stride, descriptor->elem_len);
}

int shoal_f_integers(const CFI_cdesc_t* descriptor, const char* what, int room, int64_t* out, int* count) {
  int64_t given = 0;
  int64_t stride = 0;
  *count = 0;
  if (descriptor == NULL) return SHOAL_OK;
  const int code = as_list(descriptor, what, &given, &stride);
  if (code != SHOAL_OK) return code;
  if (given < 0 || given > room)
    return shoal_f_fail(SHOAL_INVALID_ARGUMENT, "%s= has %lld numbers; at most %d are allowed", what,
                        (long long)given, room);
  copy_integers(descriptor, given, stride, out);
  *count = (int)given;
  return SHOAL_OK;
}

int shoal_f_list(const CFI_cdesc_t* descriptor, const char* what, int64_t** out, int64_t* count) {
  int64_t given = 0;
  int64_t stride = 0;
  *out = NULL;
  *count = 0;
  const int code = as_list(descriptor, what, &given, &stride);
  if (code != SHOAL_OK) return code;
  if (given < 0)
    return shoal_f_fail(
        SHOAL_INVALID_ARGUMENT,
        "%s=: an assumed-size array (*) does not know its extent; give a section with bounds, "
        "%s(1:n)",
        what, what);
  if (given == 0) return SHOAL_OK;
  *out = malloc((size_t)given * sizeof **out);
  if (*out == NULL)
    return shoal_f_fail(SHOAL_NO_MEMORY, "%s=: no memory for a list of %lld cells", what, (long long)given);
  copy_integers(descriptor, given, stride, *out);
  *count = given;
  return SHOAL_OK;
}

int shoal_f_integer(const CFI_cdesc_t* descriptor, const char* what, int64_t* out) {
  int count = 0;
  const int code = shoal_f_integers(descriptor, what, 1, out, &count);
  if (code == SHOAL_OK && count != 1)
    return shoal_f_fail(SHOAL_INVALID_ARGUMENT, "%s= must be one number", what);
  return code;
}

int shoal_f_communicator(const CFI_cdesc_t* descriptor, MPI_Comm* out) {
  *out = MPI_COMM_NULL;
  const int integer = element_type(descriptor) == SHOAL_INT;
  if ((!integer && descriptor->type != CFI_type_struct && descriptor->type != CFI_type_other) ||
      descriptor->rank != 0 || descriptor->elem_len != sizeof(MPI_Fint))
    return shoal_f_fail(
        SHOAL_INVALID_ARGUMENT,
        "comm must be a communicator: an integer of `use mpi` or type(MPI_Comm) of `use mpi_f08`");
  MPI_Fint handle;
  memcpy(&handle, descriptor->base_addr, sizeof handle);
  *out = MPI_Comm_f2c(handle);
  return SHOAL_OK;
}

void shoal_f_set_communicator(const CFI_cdesc_t* descriptor, MPI_Comm comm) {
  const MPI_Fint handle = MPI_Comm_c2f(comm);
  memcpy(descriptor->base_addr, &handle, sizeof handle);
}

int64_t shoal_f_elements(const shoal_f_view* view) {
  int64_t elements = 1;
  for (int i = 0; i < view->array.ndims; ++i)
    elements *= view->extents[i];
  return elements;
}

/* Bytes of the longest piece at the end of the dimensions that lies together in memory, and how many
 * dimensions are before it. */
static size_t run_bytes(const shoal_f_view* view, int* before) {
  int64_t bytes = (int64_t)view->array.element_size;
  int i = view->array.ndims;
  while (i > 0 && (view->strides[i - 1] == bytes || view->extents[i - 1] == 1))
    bytes *= view->extents[--i];
  *before = i;
  return (size_t)bytes;
}

int shoal_f_contiguous(const shoal_f_view* view) {
  int before = 0;
  run_bytes(view, &before);
  return before == 0 || shoal_f_elements(view) == 0;
}

/* Walk all elements in C order; to_packed says which way they are copied. */
static void copy_elements(const shoal_f_view* view, char* packed, int to_packed) {
  int before = 0;
  const size_t run = run_bytes(view, &before);
  int64_t index[SHOAL_MAX_DIMS] = {0};
  int64_t runs = 1;
  for (int i = 0; i < before; ++i)
    runs *= view->extents[i];
  if (run == 0) return;
  for (int64_t n = 0; n < runs; ++n) {
    char* piece = view->array.data;
    for (int i = 0; i < before; ++i)
      piece += index[i] * view->strides[i];
    if (to_packed)
      memcpy(packed + (size_t)n * run, piece, run);
    else
      memcpy(piece, packed + (size_t)n * run, run);
    for (int i = before - 1; i >= 0 && ++index[i] == view->extents[i]; --i)
      index[i] = 0;
  }
}

void shoal_f_pack(const shoal_f_view* view, void* packed) {
  copy_elements(view, packed, 1);
}

void shoal_f_unpack(const shoal_f_view* view, const void* packed) {
  /* The packed side is only read in this direction. */
  copy_elements(view, (char*)(uintptr_t)packed, 0);
}

int shoal_f_variable_type(const shoal_dataset* dataset, const char* name) {
  int index = 0;
  shoal_var_info info = SHOAL_VAR_INFO_INIT;
  if (shoal_find_var(dataset, name, &index) != SHOAL_OK || shoal_inq_var(dataset, index, &info) != SHOAL_OK)
    return 0;
  return info.logical ? SHOAL_LOGICAL : info.type;
}
