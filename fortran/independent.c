/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Boxes that a rank writes or reads alone, where nobody waits for it, or each rank one together.
 */
#include "calls.h"

#include <stdio.h>

/* The view in as many dimensions as the box: those of length 1 that it has not are added, in the order of C.
 * counts: 0 numbers were given, and the array says them. */
static int fit(const char* variable, int ndims, int64_t* count, int counts, shoal_f_view* view) {
  int64_t strides[SHOAL_MAX_DIMS];
  int left = view->array.ndims;
  for (int d = ndims - 1; d >= 0; --d) {
    const int64_t extent = left > 0 ? view->extents[left - 1] : 1;
    if (counts == 0) count[d] = extent;
    if (left > 0 && extent == count[d]) {
      strides[d] = view->strides[left - 1];
      --left;
    } else if (count[d] == 1) {
      strides[d] = 0;
    } else {
      left = -1;
      break;
    }
  }
  while (left > 0 && view->extents[left - 1] == 1)
    --left;
  if (left != 0)
    return shoal_f_fail(SHOAL_INVALID_ARGUMENT,
                        "%s: the shape of the array is not that of count=, from which only dimensions of "
                        "length 1 may be left out",
                        variable);
  for (int d = 0; d < ndims; ++d) {
    view->extents[d] = count[d];
    view->strides[d] = strides[d];
  }
  view->array.ndims = ndims;
  return SHOAL_OK;
}

static int numbers_of(const char* variable, const CFI_cdesc_t* given, const char* what, int ndims,
                      int64_t* out, int* number) {
  const int code = shoal_f_integers(given, what, SHOAL_MAX_DIMS, out, number);
  if (code != SHOAL_OK) return code;
  if (*number != 0 && *number != ndims)
    return shoal_f_fail(SHOAL_INVALID_ARGUMENT, "%s: %s= has %d numbers, the variable %d dimensions",
                        variable, what, *number, ndims);
  shoal_f_reverse(out, *number);
  return SHOAL_OK;
}

int shoal_f_def_independent(shoal_dataset* dataset, const char* variable) {
  shoal_f_clear();
  return shoal_def_independent(dataset, variable);
}

typedef int (*move_boxes)(shoal_dataset* dataset, int n, const shoal_box* boxes);

static int move_box(move_boxes move, shoal_dataset* dataset, const char* variable, const CFI_cdesc_t* values,
                    const CFI_cdesc_t* start, const CFI_cdesc_t* count, const CFI_cdesc_t* stride,
                    int* moved) {
  int64_t first[SHOAL_MAX_DIMS] = {0}, cells[SHOAL_MAX_DIMS] = {0}, step[SHOAL_MAX_DIMS];
  int starts = 0, counts = 0, strides = 0;
  shoal_variable number = -1;
  shoal_var_info info = SHOAL_VAR_INFO_INIT;
  shoal_f_view view;
  shoal_f_clear();
  int code = shoal_find_var(dataset, variable, &number);
  if (code == SHOAL_OK) code = shoal_inq_var(dataset, number, &info);
  if (code == SHOAL_OK && info.ndims > SHOAL_MAX_DIMS)
    code = shoal_f_fail(SHOAL_NOT_SUPPORTED, "%s: %d dimensions; up to %d can be read and written", variable,
                        info.ndims, SHOAL_MAX_DIMS);
  if (code == SHOAL_OK) code = numbers_of(variable, start, "start", info.ndims, first, &starts);
  if (code == SHOAL_OK) code = numbers_of(variable, count, "count", info.ndims, cells, &counts);
  if (code == SHOAL_OK) code = numbers_of(variable, stride, "stride", info.ndims, step, &strides);
  if (code == SHOAL_OK) code = shoal_f_describe(values, "array", &view);
  if (code == SHOAL_OK) code = fit(variable, info.ndims, cells, counts, &view);
  if (code != SHOAL_OK) return code;
  for (int d = 0; d < starts; ++d)
    first[d] -= 1;
  const shoal_box box = {sizeof box, number, info.ndims, first, cells, strides != 0 ? step : NULL,
                         view.array};
  *moved = 1;
  return move(dataset, 1, &box);
}

int shoal_f_move_independent(int verb, shoal_dataset* dataset, const char* variable,
                             const CFI_cdesc_t* values, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
                             const CFI_cdesc_t* stride) {
  int moved = 0;
  return move_box(verb == SHOAL_CALL_WRITE ? shoal_write_independent : shoal_read_independent, dataset,
                  variable, values, start, count, stride, &moved);
}

int shoal_f_move_boxes(int verb, shoal_dataset* dataset, const char* variable, const CFI_cdesc_t* values,
                       const CFI_cdesc_t* start, const CFI_cdesc_t* count, const CFI_cdesc_t* stride) {
  int moved = 0;
  const int code = move_box(verb == SHOAL_CALL_WRITE_BOXES ? shoal_write_boxes : shoal_read_boxes, dataset,
                            variable, values, start, count, stride, &moved);
  if (moved || code == SHOAL_OK || dataset == NULL) return code;
  /* The others are in the call. */
  char message[1024];
  snprintf(message, sizeof message, "%s", shoal_error_message());
  return shoal_refuse_data(dataset, verb, -1, NULL, NULL, code, message);
}
