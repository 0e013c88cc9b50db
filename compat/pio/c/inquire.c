/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What is in a file. All local.
 */
#include <stdio.h>
#include <string.h>

#include "internal.h"

/* Names of the file are cut to PIO's length, which is that of netCDF. */
static void give_name(const char* name, char* out) {
  if (out != NULL) snprintf(out, PIO_MAX_NAME + 1, "%s", name);
}

/* ---- The file ------------------------------------------------------------------------------ */

/* Unlimited dimensions, and the first of them. */
static int unlimited(const spio_file* file, int dimensions, int* first, int* ids) {
  int count = 0;
  *first = -1;
  for (int i = 0; i < dimensions; ++i) {
    shoal_dim_info dim = SHOAL_DIM_INFO_INIT;
    if (shoal_inq_dim(file->dataset, i, &dim) != SHOAL_OK || !dim.unlimited) continue;
    if (count == 0) *first = i;
    if (ids != NULL) ids[count] = i;
    ++count;
  }
  return count;
}

static int inq(const spio_file* file, int* ndims, int* nvars, int* natts, int* unlimdim) {
  shoal_file_info info = SHOAL_FILE_INFO_INIT;
  const int code = spio_code(shoal_inq_file(file->dataset, &info));
  if (code != PIO_NOERR) return code;
  if (ndims != NULL) *ndims = info.dimensions;
  if (nvars != NULL) *nvars = file->nvariables;
  if (natts != NULL) *natts = info.attributes;
  int first = -1;
  if (unlimdim != NULL) {
    unlimited(file, info.dimensions, &first, NULL);
    *unlimdim = first;
  }
  return PIO_NOERR;
}

int PIOc_inq(int ncid, int* ndimsp, int* nvarsp, int* ngattsp, int* unlimdimidp) {
  SPIO_FILE("PIOc_inq", ncid);
  return spio_end_file(file, "PIOc_inq", inq(file, ndimsp, nvarsp, ngattsp, unlimdimidp));
}

int PIOc_inq_ndims(int ncid, int* ndimsp) {
  SPIO_FILE("PIOc_inq_ndims", ncid);
  return spio_end_file(file, "PIOc_inq_ndims", inq(file, ndimsp, NULL, NULL, NULL));
}

int PIOc_inq_nvars(int ncid, int* nvarsp) {
  SPIO_FILE("PIOc_inq_nvars", ncid);
  return spio_end_file(file, "PIOc_inq_nvars", inq(file, NULL, nvarsp, NULL, NULL));
}

int PIOc_inq_natts(int ncid, int* ngattsp) {
  SPIO_FILE("PIOc_inq_natts", ncid);
  return spio_end_file(file, "PIOc_inq_natts", inq(file, NULL, NULL, ngattsp, NULL));
}

int PIOc_inq_unlimdim(int ncid, int* unlimdimidp) {
  SPIO_FILE("PIOc_inq_unlimdim", ncid);
  return spio_end_file(file, "PIOc_inq_unlimdim", inq(file, NULL, NULL, NULL, unlimdimidp));
}

int PIOc_inq_unlimdims(int ncid, int* nunlimdimsp, int* unlimdimidsp) {
  SPIO_FILE("PIOc_inq_unlimdims", ncid);
  shoal_file_info info = SHOAL_FILE_INFO_INIT;
  const int code = spio_code(shoal_inq_file(file->dataset, &info));
  int first = -1;
  const int count = code == PIO_NOERR ? unlimited(file, info.dimensions, &first, unlimdimidsp) : 0;
  if (code == PIO_NOERR && nunlimdimsp != NULL) *nunlimdimsp = count;
  return spio_end_file(file, "PIOc_inq_unlimdims", code);
}

int PIOc_inq_format(int ncid, int* formatp) {
  SPIO_FILE("PIOc_inq_format", ncid);
  if (formatp != NULL) *formatp = file->format;
  return spio_end_file(file, "PIOc_inq_format", PIO_NOERR);
}

const char* spio_type_name(nc_type xtype) {
  static const char* const names[] = {"",      "byte",   "char", "short", "int",    "float", "double",
                                      "ubyte", "ushort", "uint", "int64", "uint64", "string"};
  return spio_type_size(xtype) == 0 ? "" : names[xtype];
}

int PIOc_inq_type(int ncid, nc_type xtype, char* name, PIO_Offset* sizep) {
  SPIO_FILE("PIOc_inq_type", ncid);
  const size_t size = spio_type_size(xtype);
  int code = PIO_NOERR;
  if (size == 0) {
    code = spio_fail(PIO_EBADTYPE, "there is no type %d", xtype);
  } else {
    give_name(spio_type_name(xtype), name);
    if (sizep != NULL) *sizep = (PIO_Offset)size;
  }
  return spio_end_file(file, "PIOc_inq_type", code);
}

/* ---- Dimensions ---------------------------------------------------------------------------- */

static int inq_dim(const spio_file* file, int dimid, char* name, PIO_Offset* lenp) {
  shoal_dim_info dim = SHOAL_DIM_INFO_INIT;
  if (shoal_inq_dim(file->dataset, dimid, &dim) != SHOAL_OK)
    return spio_fail(PIO_EBADDIM, "no dimension has the id %d", dimid);
  give_name(dim.name, name);
  if (lenp != NULL) *lenp = (PIO_Offset)dim.length;
  return PIO_NOERR;
}

int PIOc_inq_dim(int ncid, int dimid, char* name, PIO_Offset* lenp) {
  SPIO_FILE("PIOc_inq_dim", ncid);
  return spio_end_file(file, "PIOc_inq_dim", inq_dim(file, dimid, name, lenp));
}

int PIOc_inq_dimname(int ncid, int dimid, char* name) {
  SPIO_FILE("PIOc_inq_dimname", ncid);
  return spio_end_file(file, "PIOc_inq_dimname", inq_dim(file, dimid, name, NULL));
}

int PIOc_inq_dimlen(int ncid, int dimid, PIO_Offset* lenp) {
  SPIO_FILE("PIOc_inq_dimlen", ncid);
  return spio_end_file(file, "PIOc_inq_dimlen", inq_dim(file, dimid, NULL, lenp));
}

static int inq_dimid(const spio_file* file, const char* name, int* idp) {
  if (name == NULL) return spio_fail(PIO_EINVAL, "no name was given");
  int index = -1;
  if (shoal_find_dim(file->dataset, name, &index) != SHOAL_OK)
    return spio_fail(PIO_EBADDIM, "there is no dimension '%s'", name);
  if (idp != NULL) *idp = index;
  return PIO_NOERR;
}

int PIOc_inq_dimid(int ncid, const char* name, int* idp) {
  SPIO_FILE("PIOc_inq_dimid", ncid);
  return spio_end_file(file, "PIOc_inq_dimid", inq_dimid(file, name, idp));
}

/* ---- Variables ----------------------------------------------------------------------------- */

static int inq_varid(spio_file* file, const char* name, int* varidp) {
  if (name == NULL) return spio_fail(PIO_EINVAL, "no name was given");
  const int varid = spio_variable_named(file, name);
  if (varid < 0) return spio_fail(PIO_ENOTVAR, "there is no variable '%s'", name);
  if (varidp != NULL) *varidp = varid;
  return PIO_NOERR;
}

int PIOc_inq_varid(int ncid, const char* name, int* varidp) {
  SPIO_FILE("PIOc_inq_varid", ncid);
  return spio_end_file(file, "PIOc_inq_varid", inq_varid(file, name, varidp));
}

static int inq_var(spio_file* file, int varid, char* name, nc_type* xtypep, int* ndimsp, int* dimidsp,
                   int* nattsp) {
  int code = PIO_NOERR;
  const spio_variable* variable = spio_variable_of(file, varid, &code);
  if (variable == NULL) return code;
  shoal_var_info info = SHOAL_VAR_INFO_INIT;
  code = spio_code(shoal_inq_var(file->dataset, variable->index, &info));
  if (code != PIO_NOERR) return code;
  give_name(variable->name, name);
  if (xtypep != NULL) *xtypep = variable->type;
  if (ndimsp != NULL) *ndimsp = variable->ndims;
  if (nattsp != NULL) *nattsp = info.attributes;
  for (int i = 0; dimidsp != NULL && i < info.ndims; ++i)
    dimidsp[i] = info.dims[i];
  return PIO_NOERR;
}

int PIOc_inq_var(int ncid, int varid, char* name, nc_type* xtypep, int* ndimsp, int* dimidsp, int* nattsp) {
  SPIO_FILE("PIOc_inq_var", ncid);
  return spio_end_file(file, "PIOc_inq_var", inq_var(file, varid, name, xtypep, ndimsp, dimidsp, nattsp));
}

int PIOc_inq_varname(int ncid, int varid, char* name) {
  SPIO_FILE("PIOc_inq_varname", ncid);
  return spio_end_file(file, "PIOc_inq_varname", inq_var(file, varid, name, NULL, NULL, NULL, NULL));
}

int PIOc_inq_vartype(int ncid, int varid, nc_type* xtypep) {
  SPIO_FILE("PIOc_inq_vartype", ncid);
  return spio_end_file(file, "PIOc_inq_vartype", inq_var(file, varid, NULL, xtypep, NULL, NULL, NULL));
}

int PIOc_inq_varndims(int ncid, int varid, int* ndimsp) {
  SPIO_FILE("PIOc_inq_varndims", ncid);
  return spio_end_file(file, "PIOc_inq_varndims", inq_var(file, varid, NULL, NULL, ndimsp, NULL, NULL));
}

int PIOc_inq_vardimid(int ncid, int varid, int* dimidsp) {
  SPIO_FILE("PIOc_inq_vardimid", ncid);
  return spio_end_file(file, "PIOc_inq_vardimid", inq_var(file, varid, NULL, NULL, NULL, dimidsp, NULL));
}

int PIOc_inq_varnatts(int ncid, int varid, int* nattsp) {
  SPIO_FILE("PIOc_inq_varnatts", ncid);
  return spio_end_file(file, "PIOc_inq_varnatts", inq_var(file, varid, NULL, NULL, NULL, NULL, nattsp));
}
