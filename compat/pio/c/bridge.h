/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What libshoal_piof takes of libshoal_pioc beside pio.h: arrays of any strides, and errors of calls that
 * have no code in Fortran. Ids are those of C.
 */
#ifndef SHOAL_PIO_BRIDGE_H
#define SHOAL_PIO_BRIDGE_H

#include <shoal/shoal.h>

#include "pio.h"

#ifdef __cplusplus
extern "C" {
#endif

/* PIOc_write_darray and PIOc_read_darray of an array with strides (a section in Fortran). The elements in the
 * order of the extents, the last one fastest, are the values of the list; there may be more of them, not
 * fewer. array->type is not looked at: it has the type of the decomposition; element_size is compared with it
 * (PIO_EINVAL). Collective as those. */
int shoal_pio_write_array(int ncid, int varid, int ioid, const shoal_array* array, const void* fillvalue);
int shoal_pio_read_array(int ncid, int varid, int ioid, const shoal_array* array);

/* Type of a decomposition's values (PIO_INT ...), and of the variable; 0: no such id. Local. */
int shoal_pio_decomposition_type(int ioid);
int shoal_pio_variable_type(int ncid, int varid);

/* What a call needs to know before it is made; they return 0 where there is no such variable or attribute,
 * and no error handler acts. Shape, C order, with the number of records there are; grows: the first dimension
 * is unlimited. lengths has SHOAL_MAX_DIMS. Length of an attribute: its values, or characters. Local. */
int shoal_pio_shape(int ncid, int varid, int* ndims, int64_t* lengths, int* grows);
int shoal_pio_attribute(int ncid, int varid, const char* name, int64_t* length);
/* Is this the rank whose values of put_var and put_att go to the file? Local. */
int shoal_pio_counts(int ncid);
/* As shoal_pio_refuse, in place of a put or get of a variable that other ranks make: all of them get the
 * code. Collective, with their calls. */
int shoal_pio_refuse_values(int ncid, int writing, const char* call, int code, const char* message);
/* The same for another call of a file, as it is matched: "put_att". */
int shoal_pio_refuse_match(int ncid, const char* matched, const char* call, int code, const char* message);

/* An error of a call that gives no code to its caller. It is printed once. id of a file: the next call of
 * this file that has a code and no error of its own gives it; closing, too. id of an iosystem: the next call
 * of the iosystem as a whole does, as its end; calls of files, and those that make files or decompositions,
 * do not. Local. */
void shoal_pio_defer_error(int id, int code);
/* End of a call that found its own arguments wrong: the handler of the iosystem (or of the file) acts.
 * Returns the code. message: what is wrong. Local. */
int shoal_pio_refuse(int id, const char* call, int code, const char* message);
/* The iosystem of a file; a code below 0: there is none. Local. */
int shoal_pio_iosystem_of(int ncid);

#ifdef __cplusplus
}
#endif
#endif
