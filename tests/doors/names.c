/* SPDX-License-Identifier: BSD-3-Clause
 * Names that netCDF or PnetCDF takes and refuses, attributes of any bytes, of any length and of none, and
 * variables of many dimensions. With PNETCDF defined the calls are PnetCDF's. */
#include "say.h"

#ifdef PNETCDF
#include <pnetcdf.h>
#define CALL(name) ncmpi_##name
typedef MPI_Offset Length;
static const int modes[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA};
#define PUT_TOGETHER ncmpi_put_vara_int_all
#define GET_TOGETHER ncmpi_get_vara_int_all
#else
#define CALL(name) nc_##name
typedef size_t Length;
static const int modes[] = {NC_NETCDF4, NC_NETCDF4 | NC_CLASSIC_MODEL};
#define PUT_TOGETHER nc_put_vara_int
#define GET_TOGETHER nc_get_vara_int
#endif

static const char* const names[] = {
    "plain",
    "with blanks in it",
    "1leading digit",
    "_underscore",
    "trailing blank ",
    " leading blank",
    "sla/sh",
    "",
    "tab\tinside",
    "del\x7f",
    "-minus",
    "(paren",
    "a-b.c+d@e(f)[g]{h}%&*!?<>|\\^~`'\"#$,:;=",
    "back\\slash",
    "quote\"d",
    "gr\xc3\xb6\xc3\x9f"
    "e", /* composed */
    "gro\xcc\x88\xc3\x9f"
    "e 2",                                  /* decomposed: o and a diaeresis */
    "\xe6\xb5\xb7\xe6\xb0\xb4\xe6\xb8\xa9", /* three characters of three bytes */
    "\xf0\x9f\x8c\x8a wave",                /* four bytes */
    "\xc3",                                 /* half a character */
    "bad\xff"
    "byte",
    "over\xc0\xaf"
    "long",
    "surrogate\xed\xa0\x80",
    "beyond\xf4\x90\x80\x80",
    "nbsp\xc2\xa0", /* ends with a blank that is none of ASCII's */
    "\xe2\x80\xaf"
    "begins with one",
    "control\xc2\x85"
    "of latin 1",
    "_FillValue2",
    "_Netcdf4Dimid",
    "_NCProperties",
    "CLASS",
    "NAME",
    "DIMENSION_LIST",
    "REFERENCE_LIST",
    "_nc3_strict",
    "_Netcdf4Coordinates",
    "_IsNetcdf4",
    "_SuperblockVersion",
    "_Format",
    "_ChunkSizes",
    "_Storage",
    "_Encoding",
    "phony_dim_3",
    "..",
    ".",
};

static void say_name(const char* what, const char* name) {
  fprintf(say_log, "%s '%s'\n", what, name);
}

/* of_variable: the variable's name, NULL: the same. */
static void try_name(int ncid, const char* name, const char* of_variable) {
  int dim = -9, var = -9;
  char back[NC_MAX_NAME + 1] = "";
  const int value = 7;
  say_name("name", name);
  SAY(CALL(def_dim)(ncid, name, 2, &dim));
  SAY(CALL(def_var)(ncid, of_variable == NULL ? name : of_variable, NC_INT, 0, NULL, &var));
  const int put = CALL(put_att_int)(ncid, NC_GLOBAL, name, NC_INT, 1, &value);
  fprintf(say_log, "%d as an attribute\n", put);
  if (dim >= 0) SAY(CALL(inq_dimname)(ncid, dim, back));
  say_name("is", back);
  SAY(CALL(inq_dimid)(ncid, name, &dim));
  SAY(CALL(inq_varid)(ncid, name, &var));
  /* What netCDF itself keeps under a name that it refuses is its own affair. */
  if (put != NC_ENAMEINUSE) SAY(CALL(inq_attid)(ncid, NC_GLOBAL, name, &var));
}

static unsigned hash_of(const void* values, size_t bytes) {
  unsigned hash = 2166136261u;
  for (size_t i = 0; i < bytes; ++i)
    hash = (hash ^ ((const unsigned char*)values)[i]) * 16777619u;
  return hash;
}

static void put_attributes(int ncid, int var) {
  static const char bytes[] = "a\0b\xff\xfe\xc3(\n\t\x01 \0";
  static char much[300000];
  static double numbers[20000];
  for (size_t i = 0; i < sizeof much; ++i)
    much[i] = (char)(i * 31 + i / 251);
  for (int i = 0; i < 20000; ++i)
    numbers[i] = i / 8.;
  SAY(CALL(put_att_text)(ncid, var, "any bytes", sizeof bytes, bytes));
  SAY(CALL(put_att_text)(ncid, var, "zeros", 3, "\0\0\0"));
  SAY(CALL(put_att_text)(ncid, var, "zero at the end", 4, "abc"));
  SAY(CALL(put_att_text)(ncid, var, "one zero", 1, ""));
  SAY(CALL(put_att_text)(ncid, var, "blanks", 3, "   "));
  SAY(CALL(put_att_text)(ncid, var, "no text", 0, ""));
  SAY(CALL(put_att_text)(ncid, var, "no text, no pointer", 0, NULL));
  static const Length lengths[] = {65400, 65535, 65536, 65537, 300000};
  for (int i = 0; i < 5; ++i) {
    char name[32];
    snprintf(name, sizeof name, "text of %d", (int)lengths[i]);
    SAY(CALL(put_att_text)(ncid, var, name, lengths[i], much));
  }
  static const nc_type types[] = {NC_BYTE,  NC_CHAR,   NC_SHORT, NC_INT,   NC_FLOAT, NC_DOUBLE,
                                  NC_UBYTE, NC_USHORT, NC_UINT,  NC_INT64, NC_UINT64};
  for (int i = 0; i < 11; ++i) {
    char name[32];
    snprintf(name, sizeof name, "none of type %d", types[i]);
    SAY(CALL(put_att)(ncid, var, name, types[i], 0, numbers));
    snprintf(name, sizeof name, "some of type %d", types[i]);
    SAY(CALL(put_att)(ncid, var, name, types[i], 3, much));
    snprintf(name, sizeof name, "many of type %d", types[i]);
    SAY(CALL(put_att)(ncid, var, name, types[i], 20000, numbers));
  }
#ifndef PNETCDF
  const char* strings[] = {"plain",
                           "",
                           "gr\xc3\xb6\xc3\x9f"
                           "e",
                           "bad\xff",
                           "line\nbreak",
                           "",
                           "blank "};
  SAY(nc_put_att_string(ncid, var, "strings", 7, strings));
  SAY(nc_put_att_string(ncid, var, "one string", 1, &strings[2]));
  SAY(nc_put_att_string(ncid, var, "empty string", 1, &strings[1]));
  SAY(nc_put_att_string(ncid, var, "no strings", 0, strings));
  much[200000] = 0;
  for (int i = 0; i < 200000; ++i)
    much[i] = (char)('a' + i % 26);
  const char* longest = much;
  SAY(nc_put_att_string(ncid, var, "long string", 1, &longest));
  static const char* many[5000];
  for (int i = 0; i < 5000; ++i)
    many[i] = strings[i % 7];
  SAY(nc_put_att_string(ncid, var, "many strings", 5000, many));
#endif
}

static void say_attributes(int ncid, int var) {
  int count = 0;
  if (var == NC_GLOBAL)
    SAY(CALL(inq_natts)(ncid, &count));
  else
    SAY(CALL(inq_varnatts)(ncid, var, &count));
  for (int i = 0; i < count; ++i) {
    char name[NC_MAX_NAME + 1] = "";
    nc_type type = NC_NAT;
    Length length = 77;
    SAY(CALL(inq_attname)(ncid, var, i, name));
    SAY(CALL(inq_att)(ncid, var, name, &type, &length));
    fprintf(say_log, "%d '%s' type %d length %ld", i, name, type, (long)length);
    char* values = calloc((size_t)length + 1, 8);
    if (values == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
#ifndef PNETCDF
    if (type == NC_STRING) {
      char** texts = (char**)values;
      SAY(nc_get_att_string(ncid, var, name, texts));
      unsigned hash = 0;
      for (size_t k = 0; k < length; ++k)
        hash = hash * 31 + (texts[k] == NULL ? 1 : hash_of(texts[k], strlen(texts[k])));
      fprintf(say_log, " hash %x\n", hash);
      SAY(nc_free_string(length, texts));
    } else
#endif
    {
      SAY(CALL(get_att)(ncid, var, name, values));
      fprintf(say_log, " hash %x\n", hash_of(values, 8 * ((size_t)length + 1)));
    }
    free(values);
  }
}

/* A variable of a dimension's name that has not this dimension is called otherwise in the file: long names
 * that are both are more than netCDF itself writes. */
static void try_long_name(int ncid, const char* name) {
  char other[300];
  snprintf(other, sizeof other, "%s", name);
  other[0] = 'v';
  try_name(ncid, name, other);
}

static void make(int ncid) {
  char name[300];
  for (size_t i = 0; i < sizeof names / sizeof names[0]; ++i)
    try_name(ncid, names[i], NULL);
  for (int length = 254; length < 259; ++length) {
    if (length == 256) continue; /* netCDF and PnetCDF give such a name back without an end */
    memset(name, 'n', sizeof name);
    name[length] = 0;
    try_long_name(ncid, name);
    name[length - 1] = '\xb6'; /* the same in bytes, with a character of two at the end */
    name[length - 2] = '\xc3';
    try_long_name(ncid, name);
  }
  name[0] = 'n';
  /* 298 bytes, of which NFC makes 199; and 256 of them. */
  for (int i = 0; i < 99; ++i)
    memcpy(name + 1 + 3 * i, "o\xcc\x88", 3);
  name[298] = 0;
  try_long_name(ncid, name);
  name[256] = 0;
  try_long_name(ncid, name);
}

static int new_file(const char* path, int mode) {
  int ncid = -9;
#ifdef PNETCDF
  int old = -9;
  SAY(ncmpi_create(MPI_COMM_WORLD, path, mode | NC_CLOBBER, MPI_INFO_NULL, &ncid));
  SAY(ncmpi_set_fill(ncid, NC_FILL, &old)); /* so that what nobody writes is the same */
#else
  SAY(nc_create_par(path, mode | NC_CLOBBER, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
#endif
  return ncid;
}

static int old_file(const char* path) {
  int ncid = -9;
#ifdef PNETCDF
  SAY(ncmpi_open(MPI_COMM_WORLD, path, NC_WRITE, MPI_INFO_NULL, &ncid));
#else
  SAY(nc_open_par(path, NC_WRITE, MPI_COMM_WORLD, MPI_INFO_NULL, &ncid));
#endif
  return ncid;
}

/* Records of a variable of `ndims`, of which two dimensions are cut over ranks: the second one, and the last
 * one in halves. */
static void many_dims(int mode, int number, int ndims) {
  enum { k_most = 20 };
  static const int lengths[k_most] = {0, 9, 1, 2, 1, 3, 1, 1, 2, 1, 1, 4, 1, 1, 1, 2, 1, 1, 1, 2};
  int dims[k_most], var = -9, back = -9, values[9 * 2 * 3 * 2 * 4 * 2 * 2];
  Length start[k_most] = {0}, count[k_most];
  char path[64];
  snprintf(path, sizeof path, "deep%d_%d.nc", number, ndims);
  int ncid = new_file(path, mode);
  for (int d = 0; d < ndims; ++d) {
    char name[16];
    snprintf(name, sizeof name, "d%d", d);
    count[d] = d == 0 ? 1 : (Length)(d == ndims - 1 ? 2 : lengths[d]);
    SAY(CALL(def_dim)(ncid, name, d == 0 ? (Length)NC_UNLIMITED : count[d], &dims[d]));
  }
  SAY(CALL(def_var)(ncid, "deep", NC_FLOAT, ndims, dims, &var));
  SAY(CALL(inq_varndims)(ncid, var, &back));
  fprintf(say_log, "%d dimensions\n", back);
  SAY(CALL(enddef)(ncid));
#ifndef PNETCDF
  SAY(nc_var_par_access(ncid, var, NC_COLLECTIVE));
#endif
  /* An odd rank out has both halves. */
  const int halves = rank % 2 == 0 && rank + 1 == ranks ? 1 : 2, parts = (ranks + 1) / 2, part = rank / 2;
  start[1] = (Length)(9 * part / parts);
  count[1] = (Length)(9 * (part + 1) / parts) - start[1];
  start[ndims - 1] = (Length)(halves == 2 ? rank % 2 : 0);
  count[ndims - 1] = (Length)(2 / halves);
  for (int record = 0; record < 2; ++record) {
    start[0] = (Length)record;
    for (int i = 0; i < (int)(sizeof values / sizeof *values); ++i)
      values[i] = 10000 * record + 1000 * rank + i;
    SAY(PUT_TOGETHER(ncid, var, start, count, values));
  }
  SAY(CALL(close)(ncid));
  ncid = old_file(path);
#ifndef PNETCDF
  SAY(nc_var_par_access(ncid, var, NC_COLLECTIVE));
#endif
  start[1] = start[ndims - 1] = 0;
  /* All of it on all ranks: of other boxes Open MPI's collective reads lose cells. */
  count[1] = 9;
  count[ndims - 1] = 2;
  memset(values, 0, sizeof values);
  SAY(GET_TOGETHER(ncid, var, start, count, values));
  fprintf(say_log, "values %x\n", hash_of(values, sizeof values));
  SAY(CALL(close)(ncid));
}

int main(int argc, char** argv) {
  say_start(argc, argv);
  for (size_t i = 0; i < sizeof modes / sizeof modes[0]; ++i) {
    char path[64];
    int var = -9, count = -9;
    snprintf(path, sizeof path, "names%d.nc", (int)i);
    fprintf(say_log, "file %s\n", path);
    int ncid = new_file(path, modes[i]);
    SAY(CALL(def_var)(ncid, "v", NC_INT, 0, NULL, &var));
    put_attributes(ncid, var);
    put_attributes(ncid, NC_GLOBAL);
    make(ncid);
    say_attributes(ncid, var);
    SAY(CALL(enddef)(ncid));
    say_attributes(ncid, NC_GLOBAL);
    SAY(CALL(close)(ncid));
    ncid = old_file(path);
    SAY(CALL(inq_ndims)(ncid, &count));
    for (int d = 0; d < count; ++d) {
      char name[NC_MAX_NAME + 1] = "";
      SAY(CALL(inq_dimname)(ncid, d, name));
      say_name("dimension", name);
    }
    SAY(CALL(inq_nvars)(ncid, &count));
    for (int v = 0; v < count; ++v) {
      char name[NC_MAX_NAME + 1] = "";
      SAY(CALL(inq_varname)(ncid, v, name));
      say_name("variable", name);
    }
    say_attributes(ncid, var);
    say_attributes(ncid, NC_GLOBAL);
    SAY(CALL(close)(ncid));
    many_dims(modes[i], (int)i, 12);
    many_dims(modes[i], (int)i, 16);
    many_dims(modes[i], (int)i, 20);
  }
  return say_end();
}
