/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Attributes. Values of the first rank go to the file (setting attributes=rank0), so what other ranks give is
 * converted as far as it goes, and is no error.
 */
#define _POSIX_C_SOURCE 200809L
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

int spio_memory_type(const spio_file* file, int stored, int type) {
  const int has_ubyte = spio_last_type(file->format) >= PIO_UBYTE;
  return type == PIO_UBYTE && stored == PIO_BYTE && !has_ubyte ? PIO_BYTE : type;
}

int spio_converts(int a, int b) {
  if (a == PIO_STRING || b == PIO_STRING || a == PIO_CHAR || b == PIO_CHAR) return a == b;
  return 1;
}

int spio_own_strings(int64_t count, char** strings) {
  int code = PIO_NOERR;
  for (int64_t i = 0; i < count; ++i) {
    char* copy = strings[i] == NULL ? NULL : strdup(strings[i]);
    if (strings[i] != NULL && copy == NULL) code = spio_fail(PIO_ENOMEM, "no memory for a string");
    shoal_free_strings(1, &strings[i]);
    strings[i] = copy;
  }
  return code;
}

/* ---- Numbers of any type ------------------------------------------------------------------- */

/* negative: as an int64_t; otherwise as a uint64_t; real: as a double. */
typedef struct number {
  enum { NEGATIVE, NATURAL, REAL } kind;
  int64_t negative;
  uint64_t natural;
  double real;
} number;

static number of_signed(int64_t value) {
  number n = {value < 0 ? NEGATIVE : NATURAL, value, (uint64_t)value, 0};
  return n;
}

static number of_natural(uint64_t value) {
  number n = {NATURAL, 0, value, 0};
  return n;
}

static number of_real(double value) {
  number n = {REAL, 0, 0, value};
  return n;
}

#define INTEGERS(X)                           \
  X(PIO_BYTE, int8_t, INT8_MIN, INT8_MAX)     \
  X(PIO_SHORT, int16_t, INT16_MIN, INT16_MAX) \
  X(PIO_INT, int32_t, INT32_MIN, INT32_MAX)   \
  X(PIO_INT64, int64_t, INT64_MIN, INT64_MAX) \
  X(PIO_UBYTE, uint8_t, 0, UINT8_MAX)         \
  X(PIO_USHORT, uint16_t, 0, UINT16_MAX)      \
  X(PIO_UINT, uint32_t, 0, UINT32_MAX)        \
  X(PIO_UINT64, uint64_t, 0, UINT64_MAX)

static number load(int type, const void* at) {
  switch (type) {
#define LOAD(CODE, TYPE, LEAST, MOST)                                             \
  case CODE: {                                                                    \
    TYPE value;                                                                   \
    memcpy(&value, at, sizeof value);                                             \
    return (LEAST) < 0 ? of_signed((int64_t)value) : of_natural((uint64_t)value); \
  }
    INTEGERS(LOAD)
#undef LOAD
    case PIO_FLOAT: {
      float value;
      memcpy(&value, at, sizeof value);
      return of_real((double)value);
    }
    default: {
      double value;
      memcpy(&value, at, sizeof value);
      return of_real(value);
    }
  }
}

static double as_real(const number* n) {
  return n->kind == REAL ? n->real : n->kind == NEGATIVE ? (double)n->negative : (double)n->natural;
}

/* Is the number, without its fraction, one of [least, most]? */
static int fits(const number* n, int64_t least, uint64_t most) {
  if (n->kind == NATURAL) return n->natural <= most;
  if (n->kind == NEGATIVE) return n->negative >= least;
  const double whole = trunc(n->real);
  return whole >= (double)least && (whole <= (double)most && (whole < 18446744073709551616. || most == 0)) &&
         !(most == INT64_MAX && whole >= 9223372036854775808.);
}

/* 0: it does not fit, and something like it is stored. */
static int store(int type, const number* n, void* at) {
  switch (type) {
#define STORE(CODE, TYPE, LEAST, MOST)                     \
  case CODE: {                                             \
    const int right = fits(n, LEAST, MOST);                \
    TYPE value = !right                ? (TYPE)0           \
                 : n->kind == REAL     ? (TYPE)n->real     \
                 : n->kind == NEGATIVE ? (TYPE)n->negative \
                                       : (TYPE)n->natural; \
    memcpy(at, &value, sizeof value);                      \
    return right;                                          \
  }
    INTEGERS(STORE)
#undef STORE
    case PIO_FLOAT: {
      const double real = as_real(n);
      const int right = !(fabs(real) > (double)FLT_MAX) || isinf(real);
      const float value = right ? (float)real : real < 0 ? -FLT_MAX : FLT_MAX;
      memcpy(at, &value, sizeof value);
      return right;
    }
    default: {
      const double value = as_real(n);
      memcpy(at, &value, sizeof value);
      return 1;
    }
  }
}

/* ---- Writing ------------------------------------------------------------------------------- */

/* May it be put now? In data mode a classic file takes what needs no more room than before. */
static int may_put(const spio_file* file, const char* owner, const char* name, nc_type xtype,
                   PIO_Offset len) {
  if (!file->writable || spio_is_netcdf4(file) || file->mode == SPIO_DEFINING) return spio_check_define(file);
  int index = 0;
  shoal_att_info info = SHOAL_ATT_INFO_INIT;
  if (shoal_find_att(file->dataset, owner, name, &index) == SHOAL_OK &&
      shoal_inq_att(file->dataset, owner, index, &info) == SHOAL_OK &&
      (int64_t)len <= info.count * (int64_t)spio_type_size(info.type) / (int64_t)spio_type_size(xtype))
    return PIO_NOERR;
  return spio_check_define(file);
}

static int is_fill(const char* name) {
  return name != NULL && strcmp(name, "_FillValue") == 0;
}

/* counts: the values are those that go to the file, and so is their number. */
static int check_put(spio_file* file, int varid, const char* name, nc_type xtype, PIO_Offset len, int type,
                     int counts, const char** owner) {
  int code = spio_owner_name(file, varid, owner);
  if (code == PIO_NOERR) code = spio_check_name(name);
  if (code != PIO_NOERR) return code;
  if (len < 0) return spio_fail(PIO_EINVAL, "attribute '%s' of length %lld", name, (long long)len);
  if (xtype < PIO_BYTE || xtype > spio_last_type(file->format))
    return spio_fail(PIO_EBADTYPE, "attribute '%s': type %d is not one of the file's format", name, xtype);
  if (!spio_converts(xtype, type))
    return spio_fail(PIO_ECHAR, "attribute '%s': text and numbers are not converted into each other", name);
  if (varid != PIO_GLOBAL && is_fill(name) && file->variables[varid].type != xtype)
    return spio_fail(PIO_EBADTYPE, "_FillValue of variable '%s' must have the variable's type, %d", *owner,
                     file->variables[varid].type);
  if (varid != PIO_GLOBAL && is_fill(name) && len != 1)
    return spio_fail(PIO_EINVAL, "_FillValue of variable '%s' must be one value, not %lld", *owner,
                     (long long)len);
  return counts ? may_put(file, *owner, name, xtype, len) : PIO_NOERR;
}

static int no_fit(const char* name, nc_type xtype, PIO_Offset i, PIO_Offset len, const number* n) {
  char value[40];
  if (n->kind == REAL)
    snprintf(value, sizeof value, "%.15g", n->real);
  else if (n->kind == NEGATIVE)
    snprintf(value, sizeof value, "%lld", (long long)n->negative);
  else
    snprintf(value, sizeof value, "%llu", (unsigned long long)n->natural);
  return spio_fail(PIO_ERANGE, "attribute '%s': %s (value %lld of %lld) does not fit %s", name, value,
                   (long long)i + 1, (long long)len, spio_type_name(xtype));
}

/* The values as they go to the file, in *converted where they are not so in memory; NULL values: those of a
 * rank that do not count. type: in memory. Returns what is wrong with them. */
static int convert_values(const char* name, nc_type xtype, PIO_Offset len, int type, const void* values,
                          unsigned char** converted) {
  static const char* const no_strings[1] = {""};
  const size_t size = spio_type_size(xtype);
  int code = PIO_NOERR;
  *converted = NULL;
  if (len == 0 || (values != NULL && type == xtype)) return code;
  *converted = calloc((size_t)len, size);
  if (*converted == NULL) return spio_fail(PIO_ENOMEM, "no memory for attribute '%s'", name);
  for (PIO_Offset i = 0; i < len && values != NULL; ++i) {
    const number n = load(type, (const char*)values + (size_t)i * spio_type_size(type));
    if (!store(xtype, &n, *converted + (size_t)i * size) && code == PIO_NOERR)
      code = no_fit(name, xtype, i, len, &n);
  }
  for (PIO_Offset i = 0; i < len && xtype == PIO_STRING; ++i)
    memcpy(*converted + (size_t)i * size, no_strings, sizeof no_strings[0]);
  return code;
}

static int store_att(spio_file* file, const char* owner, const char* name, nc_type xtype, PIO_Offset len,
                     const void* values) {
  const int status = shoal_put_att(file->dataset, owner, name, xtype, (int64_t)len, values);
  if (status == SHOAL_INVALID_ARGUMENT) return spio_fail(PIO_EBADNAME, "%s", shoal_error_message());
  if (status == SHOAL_STATE && is_fill(name)) return spio_fail(PIO_ELATEFILL, "%s", shoal_error_message());
  return spio_code_for(status, PIO_ENOTATT);
}

/* type: of the values in memory. Values, and how many there are, are the first rank's business: what is wrong
 * with them all ranks hear. One that does not fit is told after something like it is stored. */
static int put_att(spio_file* file, int varid, const char* name, nc_type xtype, PIO_Offset len, int type,
                   const void* values) {
  const char* owner = NULL;
  const int counts = file->system->rank == 0;
  const int converts = type != xtype;
  int fits = PIO_NOERR;
  if (!counts && len < 0) len = 0;
  if (!counts && varid != PIO_GLOBAL && is_fill(name)) { /* of one value, whatever this rank gives */
    if (len < 1) values = NULL;
    len = 1;
  }
  int code = check_put(file, varid, name, xtype, len, type, counts, &owner);
  if (code == PIO_NOERR && values == NULL && len > 0 && counts)
    code = spio_fail(PIO_EINVAL, "attribute '%s': no values were given", name);
  unsigned char* converted = NULL;
  char message[512] = "";
  if (code == PIO_NOERR) {
    code = convert_values(name, xtype, len, spio_memory_type(file, xtype, type), values, &converted);
    if (code == PIO_ERANGE) {
      fits = counts ? code : PIO_NOERR;
      code = PIO_NOERR;
      snprintf(message, sizeof message, "%s", spio_message());
    }
  }
  code = spio_match_file(file, "put_att", code, "variable %d, '%s', type %d from %d", varid, spio_text(name),
                         xtype, type);
  if (code == PIO_NOERR) {
    spio_begin_define(file);
    code = store_att(file, owner, name, xtype, len, converted != NULL ? converted : values);
    if (code == PIO_NOERR && fits != PIO_NOERR) code = spio_fail(fits, "%s", message);
    if (converts) code = spio_match_file(file, "put_att, whether values fit", code, "-");
  }
  free(converted);
  return code;
}

int PIOc_put_att(int ncid, int varid, const char* name, nc_type xtype, PIO_Offset len, const void* op) {
  SPIO_FILE_OF_ALL("PIOc_put_att", "put_att", ncid);
  return spio_end_file(file, "PIOc_put_att", put_att(file, varid, name, xtype, len, xtype, op));
}

int PIOc_put_att_text(int ncid, int varid, const char* name, PIO_Offset len, const char* op) {
  SPIO_FILE_OF_ALL("PIOc_put_att_text", "put_att", ncid);
  return spio_end_file(file, "PIOc_put_att_text", put_att(file, varid, name, PIO_CHAR, len, PIO_CHAR, op));
}

/* ---- Reading ------------------------------------------------------------------------------- */

static int inq_att(spio_file* file, int varid, const char* name, const char** owner, shoal_att_info* out,
                   int* index) {
  const int code = spio_owner_name(file, varid, owner);
  if (code != PIO_NOERR) return code;
  if (name == NULL) return spio_fail(PIO_EINVAL, "no name was given");
  if (shoal_find_att(file->dataset, *owner, name, index) != SHOAL_OK)
    return spio_fail(PIO_ENOTATT, "%s%s has no attribute '%s'", *owner == NULL ? "the file" : "variable ",
                     *owner == NULL ? "" : *owner, name);
  return spio_code_for(shoal_inq_att(file->dataset, *owner, *index, out), PIO_ENOTATT);
}

/* type 0: the attribute's. */
static int get_att(spio_file* file, int varid, const char* name, int type, void* values) {
  const char* owner = NULL;
  shoal_att_info info = SHOAL_ATT_INFO_INIT;
  int index = 0;
  int code = inq_att(file, varid, name, &owner, &info, &index);
  if (code != PIO_NOERR) return code;
  if (type == 0) type = info.type;
  if (!spio_converts(info.type, type))
    return spio_fail(PIO_ECHAR, "attribute '%s': text and numbers are not converted into each other", name);
  if (values == NULL)
    return info.count == 0 ? PIO_NOERR
                           : spio_fail(PIO_EINVAL, "attribute '%s': no place for the values", name);
  type = spio_memory_type(file, info.type, type);
  code = spio_code_for(shoal_get_att(file->dataset, owner, name, type, values), PIO_ENOTATT);
  if (code == PIO_NOERR && type == PIO_STRING) code = spio_own_strings(info.count, values);
  return code;
}

int PIOc_get_att(int ncid, int varid, const char* name, void* ip) {
  SPIO_FILE("PIOc_get_att", ncid);
  return spio_end_file(file, "PIOc_get_att", get_att(file, varid, name, 0, ip));
}

int PIOc_get_att_text(int ncid, int varid, const char* name, char* ip) {
  SPIO_FILE("PIOc_get_att_text", ncid);
  return spio_end_file(file, "PIOc_get_att_text", get_att(file, varid, name, PIO_CHAR, ip));
}

#define FAMILY(NAME, TYPE)                                                                               \
  int PIOc_put_att_##NAME(int ncid, int varid, const char* name, nc_type xtype, PIO_Offset len,          \
                          const TYPE* op) {                                                              \
    SPIO_FILE_OF_ALL("PIOc_put_att_" #NAME, "put_att", ncid);                                            \
    return spio_end_file(file, "PIOc_put_att_" #NAME,                                                    \
                         put_att(file, varid, name, xtype, len, SPIO_TYPE_##NAME, op));                  \
  }                                                                                                      \
  int PIOc_get_att_##NAME(int ncid, int varid, const char* name, TYPE* ip) {                             \
    SPIO_FILE("PIOc_get_att_" #NAME, ncid);                                                              \
    return spio_end_file(file, "PIOc_get_att_" #NAME, get_att(file, varid, name, SPIO_TYPE_##NAME, ip)); \
  }
SPIO_NUMBERS(FAMILY)
FAMILY(long, long)
#undef FAMILY

static int give_att(spio_file* file, int varid, const char* name, nc_type* xtypep, PIO_Offset* lenp,
                    int* idp) {
  const char* owner = NULL;
  shoal_att_info info = SHOAL_ATT_INFO_INIT;
  int index = 0;
  const int code = inq_att(file, varid, name, &owner, &info, &index);
  if (code != PIO_NOERR) return code;
  if (xtypep != NULL) *xtypep = info.type;
  if (lenp != NULL) *lenp = (PIO_Offset)info.count;
  if (idp != NULL) *idp = index;
  return PIO_NOERR;
}

int PIOc_inq_att(int ncid, int varid, const char* name, nc_type* xtypep, PIO_Offset* lenp) {
  SPIO_FILE("PIOc_inq_att", ncid);
  return spio_end_file(file, "PIOc_inq_att", give_att(file, varid, name, xtypep, lenp, NULL));
}

int PIOc_inq_attid(int ncid, int varid, const char* name, int* idp) {
  SPIO_FILE("PIOc_inq_attid", ncid);
  return spio_end_file(file, "PIOc_inq_attid", give_att(file, varid, name, NULL, NULL, idp));
}

int PIOc_inq_attlen(int ncid, int varid, const char* name, PIO_Offset* lenp) {
  SPIO_FILE("PIOc_inq_attlen", ncid);
  return spio_end_file(file, "PIOc_inq_attlen", give_att(file, varid, name, NULL, lenp, NULL));
}

int PIOc_inq_atttype(int ncid, int varid, const char* name, nc_type* xtypep) {
  SPIO_FILE("PIOc_inq_atttype", ncid);
  return spio_end_file(file, "PIOc_inq_atttype", give_att(file, varid, name, xtypep, NULL, NULL));
}

static int inq_attname(spio_file* file, int varid, int attnum, char* name) {
  const char* owner = NULL;
  const int code = spio_owner_name(file, varid, &owner);
  if (code != PIO_NOERR) return code;
  shoal_att_info info = SHOAL_ATT_INFO_INIT;
  if (shoal_inq_att(file->dataset, owner, attnum, &info) != SHOAL_OK)
    return spio_fail(PIO_ENOTATT, "there is no attribute number %d (from 0)", attnum);
  if (name != NULL) {
    name[0] = '\0';
    strncat(name, info.name, PIO_MAX_NAME);
  }
  return PIO_NOERR;
}

int PIOc_inq_attname(int ncid, int varid, int attnum, char* name) {
  SPIO_FILE("PIOc_inq_attname", ncid);
  return spio_end_file(file, "PIOc_inq_attname", inq_attname(file, varid, attnum, name));
}

/* ---- Changing ------------------------------------------------------------------------------ */

static int rename_att(spio_file* file, int varid, const char* name, const char* newname) {
  const char* owner = NULL;
  shoal_att_info info = SHOAL_ATT_INFO_INIT;
  int index = 0;
  int code = spio_may_define(file);
  if (code == PIO_NOERR) code = inq_att(file, varid, name, &owner, &info, &index);
  if (code == PIO_NOERR) code = spio_check_name(newname);
  if (code != PIO_NOERR) return code;
  const int status = shoal_rename_att(file->dataset, owner, name, newname);
  return status == SHOAL_EXISTS ? spio_fail(PIO_ENAMEINUSE, "%s", shoal_error_message())
                                : spio_code_for(status, PIO_ENOTATT);
}

int PIOc_rename_att(int ncid, int varid, const char* name, const char* newname) {
  SPIO_FILE_OF_ALL("PIOc_rename_att", "rename_att", ncid);
  int code = spio_match_file(file, "rename_att", PIO_NOERR, "variable %d, '%s' to '%s'", varid,
                             spio_text(name), spio_text(newname));
  if (code == PIO_NOERR) code = rename_att(file, varid, name, newname);
  return spio_end_file(file, "PIOc_rename_att", code);
}

static int del_att(spio_file* file, int varid, const char* name) {
  const char* owner = NULL;
  shoal_att_info info = SHOAL_ATT_INFO_INIT;
  int index = 0;
  int code = spio_may_define(file);
  if (code == PIO_NOERR) code = inq_att(file, varid, name, &owner, &info, &index);
  if (code != PIO_NOERR) return code;
  return spio_code_for(shoal_delete_att(file->dataset, owner, name), PIO_ENOTATT);
}

int PIOc_del_att(int ncid, int varid, const char* name) {
  SPIO_FILE_OF_ALL("PIOc_del_att", "del_att", ncid);
  int code = spio_match_file(file, "del_att", PIO_NOERR, "variable %d, '%s'", varid, spio_text(name));
  if (code == PIO_NOERR) code = del_att(file, varid, name);
  return spio_end_file(file, "PIOc_del_att", code);
}

/* from NULL: this rank does not know the file. */
static int copy_att(spio_file* from, int ivarid, const char* name, spio_file* to, int ovarid) {
  const char* owner = NULL;
  shoal_att_info info = SHOAL_ATT_INFO_INIT;
  int index = 0;
  int code = from == NULL ? spio_fail(PIO_EBADID, "no file is open with the id of the first one")
                          : inq_att(from, ivarid, name, &owner, &info, &index);
  const int type = info.type;
  const int64_t count = info.count;
  void* values = code == PIO_NOERR ? calloc((size_t)count + 1, spio_type_size(type)) : NULL;
  if (code == PIO_NOERR)
    code = values == NULL
               ? spio_fail(PIO_ENOMEM, "no memory for attribute '%s'", name)
               : spio_code_for(shoal_get_att(from->dataset, owner, name, type, values), PIO_ENOTATT);
  const int got = code == PIO_NOERR;
  code = spio_match_file(to, "copy_att", code, "variable %d, '%s' to variable %d", ivarid, spio_text(name),
                         ovarid);
  if (code == PIO_NOERR) code = put_att(to, ovarid, name, type, (PIO_Offset)count, type, values);
  if (got && type == PIO_STRING) shoal_free_strings(count, values);
  free(values);
  return code;
}

int PIOc_copy_att(int incid, int ivarid, const char* name, int oncid, int ovarid) {
  SPIO_FILE_OF_ALL("PIOc_copy_att", "copy_att", oncid);
  return spio_end_file(file, "PIOc_copy_att", copy_att(spio_file_of(incid), ivarid, name, file, ovarid));
}
