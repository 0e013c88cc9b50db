/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is known of a file's variables. Ids of dimensions are Shoal's indices, and so are those of variables,
 * but for the ones that Shoal itself adds (quantization_info_...).
 */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <string.h>

#include "internal.h"

size_t spio_type_size(int type) {
  static const size_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8, sizeof(char*)};
  return type >= PIO_BYTE && type <= PIO_STRING ? sizes[type] : 0;
}

int spio_is_netcdf4(const spio_file* file) {
  return file->format == PIO_FORMAT_NETCDF4 || file->format == PIO_FORMAT_NETCDF4_CLASSIC;
}

/* Variables that Shoal adds to say how others were quantized. */
static int is_own_variable(const char* name) {
  static const char prefix[] = "quantization_info_";
  return strncmp(name, prefix, sizeof prefix - 1) == 0;
}

static int describe(const spio_file* file, int index, const shoal_var_info* info, spio_variable* out) {
  *out = (spio_variable){.index = index, .frame = SPIO_NO_FRAME};
  out->name = strdup(info->name);
  if (out->name == NULL) return spio_fail(PIO_ENOMEM, "no memory for the name of a variable");
  out->type = info->type;
  out->ndims = info->ndims;
  out->has_record = info->has_record;
  for (int i = 0; i < info->ndims && i < SHOAL_MAX_DIMS; ++i) {
    shoal_dim_info dim = SHOAL_DIM_INFO_INIT;
    const int status = shoal_inq_dim(file->dataset, info->dims[i], &dim);
    if (status != SHOAL_OK) {
      free(out->name);
      return spio_code(status);
    }
    out->dims[i] = info->dims[i];
    out->lengths[i] = dim.unlimited ? SHOAL_UNLIMITED : dim.length;
  }
  return PIO_NOERR;
}

void spio_forget_variables(spio_file* file, int from) {
  for (int i = from; i < file->nvariables; ++i)
    free(file->variables[i].name);
  file->nvariables = from;
  file->names.count = 0;
}

int spio_refresh(spio_file* file) {
  shoal_file_info info = SHOAL_FILE_INFO_INIT;
  ++file->changes;
  int status = shoal_inq_file(file->dataset, &info);
  if (status != SHOAL_OK) return spio_code(status);
  if (info.variables < file->seen) { /* a define phase failed, and its definitions were dropped */
    int kept = file->nvariables;
    while (kept > 0 && file->variables[kept - 1].index >= info.variables)
      --kept;
    spio_forget_variables(file, kept);
    file->seen = info.variables;
    if (file->settled > kept) file->settled = kept;
  }
  const int count = info.variables;
  if (count > file->room) { /* programs define one variable after the other */
    const int room = count > 2 * file->room ? count : 2 * file->room;
    spio_variable* longer = realloc(file->variables, (size_t)room * sizeof *longer);
    if (longer == NULL) return spio_fail(PIO_ENOMEM, "no memory for %d variables", count);
    file->variables = longer;
    file->room = room;
  }
  for (; file->seen < count; ++file->seen) {
    shoal_var_info variable = SHOAL_VAR_INFO_INIT;
    status = shoal_inq_var(file->dataset, file->seen, &variable);
    if (status != SHOAL_OK) return spio_code(status);
    if (is_own_variable(variable.name)) continue;
    const int code = describe(file, file->seen, &variable, &file->variables[file->nvariables]);
    if (code != PIO_NOERR) return code;
    ++file->nvariables;
  }
  return PIO_NOERR;
}

spio_variable* spio_variable_of(spio_file* file, int varid, int* code) {
  if (varid >= 0 && varid < file->nvariables) return &file->variables[varid];
  *code = varid == PIO_GLOBAL
              ? spio_fail(PIO_ENOTVAR, "the id of the file itself is no variable")
              : spio_fail(PIO_ENOTVAR, "no variable has the id %d; there are %d", varid, file->nvariables);
  return NULL;
}

/* The place of a name: that of the variable with it, or a free one. */
static int* place_of(const spio_file* file, const char* name) {
  const spio_names* names = &file->names;
  uint32_t hash = UINT32_C(2166136261);
  for (const char* c = name; *c != '\0'; ++c)
    hash = (hash ^ (unsigned char)*c) * UINT32_C(16777619);
  uint32_t at = hash & (uint32_t)(names->room - 1);
  while (names->ids[at] >= 0 && strcmp(file->variables[names->ids[at]].name, name) != 0)
    at = (at + 1) & (uint32_t)(names->room - 1);
  return &names->ids[at];
}

/* All variables are in the table, which is half empty. 0: there is no memory for it. */
static int name_all(spio_file* file) {
  spio_names* names = &file->names;
  if (names->room < 2 * file->nvariables + 2) {
    int room = 64;
    while (room < 4 * file->nvariables)
      room *= 2;
    free(names->ids);
    names->ids = malloc((size_t)room * sizeof *names->ids);
    names->room = names->ids == NULL ? 0 : room;
    names->count = 0;
  }
  if (names->ids == NULL) return 0;
  if (names->count == 0)
    for (int i = 0; i < names->room; ++i)
      names->ids[i] = -1;
  for (; names->count < file->nvariables; ++names->count)
    *place_of(file, file->variables[names->count].name) = names->count;
  return 1;
}

/* Programs ask for variables that need not be there, often: without a message that nobody reads. */
int spio_variable_named(spio_file* file, const char* name) {
  if (name_all(file)) return *place_of(file, name);
  for (int id = 0; id < file->nvariables; ++id)
    if (strcmp(file->variables[id].name, name) == 0) return id;
  return -1;
}

int spio_owner_name(spio_file* file, int varid, const char** out) {
  *out = NULL;
  if (varid == PIO_GLOBAL) return PIO_NOERR;
  int code = PIO_NOERR;
  const spio_variable* variable = spio_variable_of(file, varid, &code);
  if (variable != NULL) *out = variable->name;
  return code;
}

int shoal_pio_variable_type(int ncid, int varid) {
  spio_file* file = spio_file_of(ncid);
  return file == NULL || varid < 0 || varid >= file->nvariables ? 0 : file->variables[varid].type;
}
