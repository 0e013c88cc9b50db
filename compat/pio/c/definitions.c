/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Define mode, dimensions, variables, fill values. In classic files a program enters and leaves define mode;
 * netCDF-4 ones enter it with a definition and leave it with data. A variable is settled once a define phase
 * of the dataset has ended with it: its properties can then no longer be set.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

int spio_check_define(const spio_file* file) {
  if (!file->writable) return spio_fail(PIO_EPERM, "the file is open for reading only");
  if (!spio_is_netcdf4(file) && file->mode != SPIO_DEFINING)
    return spio_fail(PIO_ENOTINDEFINE, "a classic file is defined in define mode: call PIOc_redef before");
  return PIO_NOERR;
}

void spio_begin_define(spio_file* file) {
  if (spio_is_netcdf4(file)) file->mode = SPIO_DEFINING;
  file->meets = 1;
  ++file->changes;
}

int spio_may_define(spio_file* file) {
  const int code = spio_check_define(file);
  if (code == PIO_NOERR) spio_begin_define(file);
  return code;
}

int spio_is_new(const spio_file* file, int varid) {
  if (varid >= file->settled) return PIO_NOERR;
  return spio_fail(PIO_ELATEDEF, "variable '%s' is in the file: this is set before the define phase ends",
                   file->variables[varid].name);
}

static int def_var_fill(spio_file* file, int varid, int no_fill, const void* fill_value);

int spio_settle(spio_file* file) {
  int code = PIO_NOERR;
  for (int i = file->settled; i < file->nvariables && file->fill_mode == PIO_FILL; ++i) {
    const spio_variable* variable = &file->variables[i];
    if (!variable->own_fill && variable->type != PIO_STRING) code = def_var_fill(file, i, 0, NULL);
    if (code != PIO_NOERR) break;
  }
  file->settled = file->nvariables;
  if (spio_is_netcdf4(file)) file->mode = SPIO_DATA;
  file->meets = 0;
  return code;
}

int spio_check_name(const char* name) {
  if (name == NULL || name[0] == '\0') return spio_fail(PIO_EINVAL, "no name was given");
  if (strlen(name) > PIO_MAX_NAME)
    return spio_fail(PIO_EMAXNAME, "a name of %zu characters; %d are allowed", strlen(name), PIO_MAX_NAME);
  /* Names of groups stand in front of it in Shoal's. */
  if (strchr(name, '/') != NULL) return spio_fail(PIO_EBADNAME, "no name has a '/' in it: '%s'", name);
  return PIO_NOERR;
}

/* A definition that Shoal refused: what its codes mean for a name. */
static int code_of_definition(int status, int not_found) {
  if (status == SHOAL_EXISTS) return spio_fail(PIO_ENAMEINUSE, "%s", shoal_error_message());
  if (status == SHOAL_INVALID_ARGUMENT) return spio_fail(PIO_EBADNAME, "%s", shoal_error_message());
  if (status == SHOAL_STATE) return spio_fail(PIO_EPERM, "%s", shoal_error_message());
  return spio_code_for(status, not_found);
}

/* ---- Define mode --------------------------------------------------------------------------- */

static int redef(spio_file* file) {
  if (!file->writable) return spio_fail(PIO_EPERM, "the file is open for reading only");
  if (!spio_is_netcdf4(file) && file->mode == SPIO_DEFINING)
    return spio_fail(PIO_EINDEFINE, "the file is in define mode");
  file->mode = SPIO_DEFINING;
  file->meets = 1;
  ++file->changes;
  return PIO_NOERR;
}

static int enddef(spio_file* file) {
  if (file->mode != SPIO_DEFINING) return spio_fail(PIO_ENOTINDEFINE, "the file is not in define mode");
  const int code = spio_settle(file);
  const int ended = spio_code(shoal_end_define(file->dataset));
  file->mode = SPIO_DATA;
  const int refreshed = spio_refresh(file);
  return ended != PIO_NOERR ? ended : code != PIO_NOERR ? code : refreshed;
}

int PIOc_redef(int ncid) {
  SPIO_FILE_OF_ALL("PIOc_redef", "redef", ncid);
  int code = spio_match_file(file, "redef", PIO_NOERR, "-");
  if (code == PIO_NOERR) code = redef(file);
  return spio_end_file(file, "PIOc_redef", code);
}

int PIOc_enddef(int ncid) {
  SPIO_FILE_OF_ALL("PIOc_enddef", "enddef", ncid);
  int code = spio_match_file(file, "enddef", PIO_NOERR, "-");
  if (code == PIO_NOERR) code = enddef(file);
  return spio_end_file(file, "PIOc_enddef", code);
}

/* ---- Dimensions ---------------------------------------------------------------------------- */

static int unlimited_dims(const spio_file* file) {
  int count = 0;
  shoal_dim_info dim = SHOAL_DIM_INFO_INIT;
  shoal_file_info info = SHOAL_FILE_INFO_INIT;
  if (shoal_inq_file(file->dataset, &info) != SHOAL_OK) return 0;
  for (int i = 0; i < info.dimensions; ++i)
    if (shoal_inq_dim(file->dataset, i, &dim) == SHOAL_OK && dim.unlimited) ++count;
  return count;
}

static int def_dim(spio_file* file, const char* name, PIO_Offset len, int* idp) {
  int code = spio_may_define(file);
  if (code == PIO_NOERR) code = spio_check_name(name);
  if (code != PIO_NOERR) return code;
  if (len < 0) return spio_fail(PIO_EDIMSIZE, "dimension '%s' has the length %lld", name, (long long)len);
  int index = 0;
  if (shoal_find_dim(file->dataset, name, &index) == SHOAL_OK)
    return spio_fail(PIO_ENAMEINUSE, "there is a dimension '%s'", name);
  if (len == PIO_UNLIMITED && file->format != PIO_FORMAT_NETCDF4 && unlimited_dims(file) > 0)
    return spio_fail(PIO_EUNLIMIT,
                     "dimension '%s': the file has an unlimited dimension, and its format no second one",
                     name);
  code = code_of_definition(shoal_def_dim(file->dataset, name, len), PIO_EBADDIM);
  if (code == PIO_NOERR) code = spio_code(shoal_find_dim(file->dataset, name, &index));
  if (code == PIO_NOERR && idp != NULL) *idp = index;
  return code;
}

int PIOc_def_dim(int ncid, const char* name, PIO_Offset len, int* idp) {
  SPIO_FILE_OF_ALL("PIOc_def_dim", "def_dim", ncid);
  int code =
      spio_match_file(file, "def_dim", PIO_NOERR, "'%s', length %lld", spio_text(name), (long long)len);
  if (code == PIO_NOERR) code = def_dim(file, name, len, idp);
  return spio_end_file(file, "PIOc_def_dim", code);
}

static int rename_dim(spio_file* file, int dimid, const char* name) {
  int code = spio_may_define(file);
  if (code == PIO_NOERR) code = spio_check_name(name);
  if (code != PIO_NOERR) return code;
  shoal_dim_info dim = SHOAL_DIM_INFO_INIT;
  if (shoal_inq_dim(file->dataset, dimid, &dim) != SHOAL_OK)
    return spio_fail(PIO_EBADDIM, "no dimension has the id %d", dimid);
  char* before = strdup(dim.name);
  if (before == NULL) return spio_fail(PIO_ENOMEM, "no memory for a name");
  code = code_of_definition(shoal_rename_dim(file->dataset, before, name), PIO_EBADDIM);
  free(before);
  return code;
}

int PIOc_rename_dim(int ncid, int dimid, const char* name) {
  SPIO_FILE_OF_ALL("PIOc_rename_dim", "rename_dim", ncid);
  int code = spio_match_file(file, "rename_dim", PIO_NOERR, "dimension %d to '%s'", dimid, spio_text(name));
  if (code == PIO_NOERR) code = rename_dim(file, dimid, name);
  return spio_end_file(file, "PIOc_rename_dim", code);
}

/* ---- Variables ----------------------------------------------------------------------------- */

int spio_last_type(int format) {
  switch (format) {
    case PIO_FORMAT_CDF5:
      return PIO_UINT64;
    case PIO_FORMAT_NETCDF4:
      return PIO_STRING;
    default:
      return PIO_DOUBLE;
  }
}

/* Of a new variable. cells: records aside; 0 where it has no other dimension. */
static int count_cells(const spio_file* file, const char* name, int ndims, const int* dimids,
                       int64_t* cells) {
  int fixed = 0;
  *cells = 1;
  if (ndims < 0 || (ndims > 0 && dimids == NULL))
    return spio_fail(PIO_EINVAL, "variable '%s': no list of dimensions", name);
  if (ndims > SHOAL_MAX_DIMS)
    return spio_fail(PIO_EMAXDIMS, "variable '%s' has %d dimensions; %d are allowed", name, ndims,
                     SHOAL_MAX_DIMS);
  for (int i = 0; i < ndims; ++i) {
    shoal_dim_info dim = SHOAL_DIM_INFO_INIT;
    if (shoal_inq_dim(file->dataset, dimids[i], &dim) != SHOAL_OK)
      return spio_fail(PIO_EBADDIM, "variable '%s': no dimension has the id %d", name, dimids[i]);
    if (dim.unlimited && i > 0)
      return spio_fail(PIO_EINVAL, "variable '%s': dimension '%s' is unlimited, and so must be the first one",
                       name, dim.name);
    if (!dim.unlimited && !spio_multiply(*cells, dim.length, cells))
      return spio_fail(PIO_EVARSIZE, "variable '%s' has more values than can be counted", name);
    fixed += !dim.unlimited;
  }
  if (fixed == 0) *cells = 0;
  return PIO_NOERR;
}

static int def_var(spio_file* file, const char* name, nc_type xtype, int ndims, const int* dimids,
                   int* varidp) {
  int64_t cells = 0;
  int code = spio_may_define(file);
  if (code == PIO_NOERR) code = spio_check_name(name);
  if (code != PIO_NOERR) return code;
  if (xtype < PIO_BYTE || xtype > spio_last_type(file->format))
    return spio_fail(PIO_EBADTYPE, "variable '%s': type %d is not one of the file's format", name, xtype);
  if (spio_variable_named(file, name) >= 0)
    return spio_fail(PIO_ENAMEINUSE, "there is a variable '%s'", name);
  code = count_cells(file, name, ndims, dimids, &cells);
  if (code != PIO_NOERR) return code;
  code = code_of_definition(shoal_def_var_dims(file->dataset, name, xtype, ndims, dimids, NULL), PIO_EBADDIM);
  /* A large one will most likely be written with a decomposition. */
  const int64_t size = (int64_t)spio_type_size(xtype);
  const int numeric = xtype != PIO_CHAR && xtype != PIO_STRING;
  if (code == PIO_NOERR && numeric && cells > 0 &&
      cells >= (file->system->policy.cut_bytes + size - 1) / size)
    code = spio_code(shoal_def_cut(file->dataset, name));
  if (code == PIO_NOERR) code = spio_refresh(file);
  if (code == PIO_NOERR && varidp != NULL) *varidp = spio_variable_named(file, name);
  return code;
}

int PIOc_def_var(int ncid, const char* name, nc_type xtype, int ndims, const int* dimidsp, int* varidp) {
  SPIO_FILE_OF_ALL("PIOc_def_var", "def_var", ncid);
  char dims[SHOAL_MAX_DIMS * 12 + 1] = "";
  const int listed =
      dimidsp != NULL && ndims <= SHOAL_MAX_DIMS ? ndims : 0; /* too many may be a wrong number */
  for (int i = 0, used = 0; i < listed; ++i)
    used += snprintf(dims + used, sizeof dims - (size_t)used, " %d", dimidsp[i]);
  int code = spio_match_file(file, "def_var", PIO_NOERR, "'%s', type %d, %d dimensions%s", spio_text(name),
                             xtype, ndims, dims);
  if (code == PIO_NOERR) code = def_var(file, name, xtype, ndims, dimidsp, varidp);
  return spio_end_file(file, "PIOc_def_var", code);
}

static int rename_var(spio_file* file, int varid, const char* name) {
  int code = spio_may_define(file);
  if (code == PIO_NOERR) code = spio_check_name(name);
  if (code != PIO_NOERR) return code;
  spio_variable* variable = spio_variable_of(file, varid, &code);
  if (variable == NULL) return code;
  char* copy = strdup(name);
  if (copy == NULL) return spio_fail(PIO_ENOMEM, "no memory for a name");
  code = code_of_definition(shoal_rename_var(file->dataset, variable->name, name), PIO_ENOTVAR);
  if (code != PIO_NOERR) {
    free(copy);
    return code;
  }
  free(variable->name);
  variable->name = copy;
  file->names.count = 0;
  return PIO_NOERR;
}

int PIOc_rename_var(int ncid, int varid, const char* name) {
  SPIO_FILE_OF_ALL("PIOc_rename_var", "rename_var", ncid);
  int code = spio_match_file(file, "rename_var", PIO_NOERR, "variable %d to '%s'", varid, spio_text(name));
  if (code == PIO_NOERR) code = rename_var(file, varid, name);
  return spio_end_file(file, "PIOc_rename_var", code);
}

/* ---- Fill ---------------------------------------------------------------------------------- */

static int set_fill(spio_file* file, int fillmode, int* old_modep) {
  if (!file->writable) return spio_fail(PIO_EPERM, "the file is open for reading only");
  if (fillmode != PIO_FILL && fillmode != PIO_NOFILL)
    return spio_fail(PIO_EINVAL, "%d is no fill mode: 0 (fill), 256 (no fill)", fillmode);
  if (old_modep != NULL) *old_modep = file->fill_mode;
  file->fill_mode = fillmode;
  return PIO_NOERR;
}

int PIOc_set_fill(int ncid, int fillmode, int* old_modep) {
  SPIO_FILE_OF_ALL("PIOc_set_fill", "set_fill", ncid);
  int code = spio_match_file(file, "set_fill", PIO_NOERR, "%d", fillmode);
  if (code == PIO_NOERR) code = set_fill(file, fillmode, old_modep);
  return spio_end_file(file, "PIOc_set_fill", code);
}

static int def_var_fill(spio_file* file, int varid, int no_fill, const void* fill_value) {
  int code = PIO_NOERR;
  spio_variable* variable = spio_variable_of(file, varid, &code);
  if (variable == NULL) return code;
  code = spio_is_new(file, varid);
  if (code != PIO_NOERR) return code;
  ++file->changes;
  unsigned char usual[8] = {0};
  if (!no_fill && fill_value == NULL && variable->type != PIO_STRING) {
    code = spio_code(shoal_inq_fill(file->dataset, variable->name, NULL, variable->type, usual));
    fill_value = usual;
  }
  if (code == PIO_NOERR && !no_fill && fill_value == NULL)
    code = spio_fail(PIO_EINVAL, "variable '%s': a fill value of strings must be given", variable->name);
  if (code == PIO_NOERR)
    code =
        spio_code(shoal_def_fill(file->dataset, variable->name, variable->type, no_fill ? NULL : fill_value));
  if (code == PIO_NOERR) variable->own_fill = 1;
  return code;
}

int PIOc_def_var_fill(int ncid, int varid, int no_fill, const void* fill_value) {
  SPIO_FILE_OF_ALL("PIOc_def_var_fill", "def_var_fill", ncid);
  const char* kind = no_fill ? "no value" : fill_value == NULL ? "the usual value" : "a value";
  int code = spio_match_file(file, "def_var_fill", PIO_NOERR, "variable %d, %s", varid, kind);
  if (code == PIO_NOERR) code = spio_may_define(file);
  if (code == PIO_NOERR) code = def_var_fill(file, varid, no_fill, fill_value);
  return spio_end_file(file, "PIOc_def_var_fill", code);
}

static int inq_var_fill(spio_file* file, int varid, int* no_fill, void* fill_valuep) {
  int code = PIO_NOERR;
  const spio_variable* variable = spio_variable_of(file, varid, &code);
  if (variable == NULL) return code;
  int fill = 0;
  code = spio_code(shoal_inq_fill(file->dataset, variable->name, &fill, variable->type, fill_valuep));
  if (code == PIO_NOERR && no_fill != NULL) *no_fill = !fill;
  return code;
}

int PIOc_inq_var_fill(int ncid, int varid, int* no_fill, void* fill_valuep) {
  SPIO_FILE("PIOc_inq_var_fill", ncid);
  return spio_end_file(file, "PIOc_inq_var_fill", inq_var_fill(file, varid, no_fill, fill_valuep));
}
