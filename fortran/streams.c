/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The calls of the Fortran module of streams that take arrays, names of dimensions or numbers of fields. What
 * a rank finds wrong before the library sees it, the library is told in place of the call: the other ranks
 * learn of it where they meet.
 */
#include <stdio.h>
#include <stdlib.h>

#include "calls.h"

int shoal_f_streams_open(const CFI_cdesc_t* comm, const char* configuration, const char* calendar,
                         const char* start, const char* now, MPI_Fint* comm_out, shoal_streams** out) {
  MPI_Comm communicator;
  shoal_f_clear();
  const int code = shoal_f_communicator(comm, &communicator);
  if (code != SHOAL_OK) return code; /* nobody to agree with */
  if (*out != NULL) return shoal_f_is_open(communicator, "shoal_streams");
  *comm_out = MPI_Comm_c2f(communicator);
  return IN_FORTRAN(
      shoal_streams_open(communicator, configuration, calendar, start, now[0] != '\0' ? now : NULL, out));
}

int shoal_f_no_description(shoal_streams* streams, int code) {
  char message[1024];
  snprintf(message, sizeof message, "%s", shoal_f_message());
  if (streams != NULL) shoal_streams_refuse(streams, -1, code, message);
  return shoal_f_fail(code, "%s", message);
}

int shoal_f_streams_axis(shoal_streams* streams, const char* name, const CFI_cdesc_t* values,
                         const CFI_cdesc_t* bounds, const CFI_cdesc_t* length) {
  shoal_f_view view, ends;
  int64_t cells = 0;
  int code = SHOAL_OK;
  shoal_f_clear();
  if ((values == NULL) == (length == NULL))
    code = shoal_f_fail(SHOAL_INVALID_ARGUMENT, "axis '%s': give either values or length=", name);
  else if (values == NULL)
    code = shoal_f_integer(length, "length", &cells);
  else
    code = shoal_f_describe(values, name, &view);
  if (code == SHOAL_OK && bounds != NULL) code = shoal_f_describe(bounds, name, &ends);
  if (code != SHOAL_OK) return shoal_f_no_description(streams, code);
  const shoal_array alone = {sizeof alone, NULL, SHOAL_DOUBLE, 0, 1, &cells, NULL};
  return shoal_streams_axis(streams, name, values != NULL ? &view.array : &alone,
                            bounds != NULL ? &ends.array : NULL);
}

int shoal_f_streams_grid(shoal_streams* streams, const char* name, const char* dims,
                         const shoal_decomposition* decomposition) {
  shoal_f_clear();
  char* const slowest_first = shoal_f_reversed_names(dims);
  if (slowest_first == NULL)
    return shoal_f_no_description(streams, shoal_f_fail(SHOAL_NO_MEMORY, "grid '%s': out of memory", name));
  const int code = shoal_streams_grid(streams, name, slowest_first, decomposition);
  free(slowest_first);
  return code;
}

int shoal_f_streams_grid_values(shoal_streams* streams, int is_area, const char* grid, const char* name,
                                const CFI_cdesc_t* values) {
  shoal_f_view view;
  shoal_f_clear();
  const int code = shoal_f_describe(values, name, &view);
  if (code != SHOAL_OK) return shoal_f_no_description(streams, code);
  return is_area ? shoal_streams_area(streams, grid, name, &view.array)
                 : shoal_streams_coordinate(streams, grid, name, &view.array);
}

int shoal_f_streams_field(shoal_streams* streams, const char* name, int type, const char* dims,
                          const char* grid, const char* group, int holds, int* out) {
  int number = -1;
  shoal_f_clear();
  *out = 0;
  char* const slowest_first = shoal_f_reversed_names(dims);
  if (slowest_first == NULL)
    return shoal_f_no_description(streams, shoal_f_fail(SHOAL_NO_MEMORY, "field '%s': out of memory", name));
  const int code = shoal_streams_field(streams, name, type, slowest_first, grid, group, holds, &number);
  free(slowest_first);
  if (code == SHOAL_OK) *out = number + 1;
  return code;
}

int shoal_f_streams_send(shoal_streams* streams, int field, const CFI_cdesc_t* array) {
  shoal_f_view view;
  shoal_f_clear();
  const int code = shoal_f_describe(array, "the array of send", &view);
  if (code == SHOAL_OK) return shoal_streams_send(streams, field - 1, &view.array);
  char message[1024];
  snprintf(message, sizeof message, "%s", shoal_f_message());
  shoal_f_clear();
  return shoal_streams_refuse(streams, field - 1, code, message); /* SHOAL_OK on several ranks: see send */
}
