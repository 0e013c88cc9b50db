/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the Fortran half asks before it calls: nothing here ends a call, so no error handler acts, but in
 * those that refuse.
 */
#include "internal.h"

int shoal_pio_shape(int ncid, int varid, int* ndims, int64_t* lengths, int* grows) {
  spio_file* file = spio_file_of(ncid);
  if (file == NULL || varid < 0 || varid >= file->nvariables) return 0;
  const spio_variable* variable = &file->variables[varid];
  *ndims = variable->ndims;
  *grows = variable->has_record;
  if (variable->ndims > SHOAL_MAX_DIMS) return 0;
  for (int i = 0; i < variable->ndims; ++i)
    lengths[i] = variable->lengths[i];
  return !variable->has_record || shoal_num_records(file->dataset, variable->name, &lengths[0]) == SHOAL_OK;
}

int shoal_pio_attribute(int ncid, int varid, const char* name, int64_t* length) {
  spio_file* file = spio_file_of(ncid);
  const char* owner = NULL;
  shoal_att_info info = SHOAL_ATT_INFO_INIT;
  int index = 0;
  if (file == NULL || spio_owner_name(file, varid, &owner) != PIO_NOERR ||
      shoal_find_att(file->dataset, owner, name, &index) != SHOAL_OK ||
      shoal_inq_att(file->dataset, owner, index, &info) != SHOAL_OK)
    return 0;
  *length = info.count;
  return 1;
}

int shoal_pio_counts(int ncid) {
  const spio_file* file = spio_file_of(ncid);
  return file != NULL && file->system->rank == 0;
}

int shoal_pio_refuse_values(int ncid, int writing, const char* call, int code, const char* message) {
  SPIO_FILE_OF_ALL(call, writing ? "put_var" : "get_var", ncid);
  return spio_end_file(file, call, spio_match_values(file, writing, spio_fail(code, "%s", message), "-"));
}

int shoal_pio_refuse_match(int ncid, const char* matched, const char* call, int code, const char* message) {
  SPIO_FILE_OF_ALL(call, matched, ncid);
  return spio_end_file(file, call, spio_match_file(file, matched, spio_fail(code, "%s", message), "-"));
}
