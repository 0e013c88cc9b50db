/* SPDX-License-Identifier: BSD-3-Clause
 *
 * From Fortran's array descriptors (F2018, ISO_Fortran_binding.h) to the terms of the C interface.
 * Fortran counts from 1 and lets the first dimension vary fastest; the C interface counts from 0 and
 * lets the last one vary fastest. Every turning round of an order or a base is in descriptor.c.
 */
#ifndef SHOAL_FORTRAN_DESCRIPTOR_H
#define SHOAL_FORTRAN_DESCRIPTOR_H

#include <ISO_Fortran_binding.h>

#include "shoal/shoal.h"

/* An array of the caller with room for its extents and strides. `array` points into the struct: do not copy
 * it. */
typedef struct shoal_f_view {
  shoal_array array;
  int64_t extents[SHOAL_MAX_DIMS];
  int64_t strides[SHOAL_MAX_DIMS];
} shoal_f_view;

/* Remember a message of the Fortran side for shoal_f_message and return the code. Local. */
int shoal_f_fail(int code, const char* format, ...) __attribute__((format(printf, 2, 3)));
/* The message of the last failure, of this side or of the library. Local. */
const char* shoal_f_message(void);
/* Where it was, as shoal_error_rank, shoal_error_file and shoal_error_variable; a failure of this side has no
 * place. Local. */
int shoal_f_error_rank(void);
const char* shoal_f_error_file(void);
const char* shoal_f_error_variable(void);
/* Forget it: every call of the interface starts so, that an old message never explains a new error. Local. */
void shoal_f_clear(void);

/* View of an array of any kind, rank (0 to 7) and stride. Text gets one more dimension, the length of
 * the string, which varies fastest. what: name of the argument for messages. Errors: SHOAL_TYPE for
 * complex, quadruple precision and derived types, SHOAL_INVALID_ARGUMENT for assumed-size arrays. Local. */
int shoal_f_describe(const CFI_cdesc_t* descriptor, const char* what, shoal_f_view* out);

/* Integers of any kind, a scalar or an array of rank 1, in the order given; *count says how many (at
 * most room). A missing argument (NULL) gives 0 of them. Local. */
int shoal_f_integers(const CFI_cdesc_t* descriptor, const char* what, int room, int64_t* out, int* count);

/* A list of any length, a scalar or an array of rank 1 of integers of any kind; NULL if it is empty. Give it
 * back with free. Local. */
int shoal_f_list(const CFI_cdesc_t* descriptor, const char* what, int64_t** out, int64_t* count);

/* One integer. Local. */
int shoal_f_integer(const CFI_cdesc_t* descriptor, const char* what, int64_t* out);

/* The communicator of `use mpi` (an integer) or `use mpi_f08` (type(MPI_Comm), which holds the same integer).
 * Local. */
int shoal_f_communicator(const CFI_cdesc_t* descriptor, MPI_Comm* out);
/* Put one where shoal_f_communicator found one. */
void shoal_f_set_communicator(const CFI_cdesc_t* descriptor, MPI_Comm comm);

/* Turn the order of count numbers round, in place. Local. */
void shoal_f_reverse(int64_t* numbers, int count);

/* Elements of a view. Local. */
int64_t shoal_f_elements(const shoal_f_view* view);

/* Do they lie one after the other in memory, in C order? Local. */
int shoal_f_contiguous(const shoal_f_view* view);

/* Copy the elements of a view one after the other, C order, and back. packed has room for all. Local. */
void shoal_f_pack(const shoal_f_view* view, void* packed);
void shoal_f_unpack(const shoal_f_view* view, const void* packed);

/* Type of a variable, 0 if there is none of the name. Local. */
int shoal_f_variable_type(const shoal_dataset* dataset, const char* name);

#endif
