/* SPDX-License-Identifier: BSD-3-Clause
 * Each type in memory against each type in the file, of distributed arrays, put and get, and attributes;
 * ranges. */
#include "check.h"

static const int k_types[] = {PIO_BYTE,  PIO_SHORT,  PIO_INT,  PIO_FLOAT, PIO_DOUBLE,
                              PIO_UBYTE, PIO_USHORT, PIO_UINT, PIO_INT64, PIO_UINT64};
enum { k_type_count = 10, k_cells = 6 };

static size_t size_of(int type) {
  static const size_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
  return sizes[type];
}

static void store(int type, void* at, int value) {
  switch (type) {
#define STORE(CODE, TYPE)       \
  case CODE: {                  \
    const TYPE v = (TYPE)value; \
    memcpy(at, &v, sizeof v);   \
    break;                      \
  }
    STORE(PIO_BYTE, signed char)
    STORE(PIO_SHORT, short)
    STORE(PIO_INT, int)
    STORE(PIO_FLOAT, float)
    STORE(PIO_DOUBLE, double)
    STORE(PIO_UBYTE, unsigned char)
    STORE(PIO_USHORT, unsigned short)
    STORE(PIO_UINT, unsigned int)
    STORE(PIO_INT64, long long)
    STORE(PIO_UINT64, unsigned long long)
    default:
      abort();
  }
}

static int put(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count, int type,
               const void* v) {
  switch (type) {
#define PUT(CODE, NAME) \
  case CODE:            \
    return PIOc_put_vara_##NAME(ncid, varid, start, count, v);
#define ALL(X)           \
  X(PIO_BYTE, schar)     \
  X(PIO_SHORT, short)    \
  X(PIO_INT, int)        \
  X(PIO_FLOAT, float)    \
  X(PIO_DOUBLE, double)  \
  X(PIO_UBYTE, uchar)    \
  X(PIO_USHORT, ushort)  \
  X(PIO_UINT, uint)      \
  X(PIO_INT64, longlong) \
  X(PIO_UINT64, ulonglong)
    ALL(PUT)
  }
  return 1;
}

static int get(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count, int type, void* v) {
  switch (type) {
#define GET(CODE, NAME) \
  case CODE:            \
    return PIOc_get_vara_##NAME(ncid, varid, start, count, v);
    ALL(GET)
  }
  return 1;
}

static int put_att(int ncid, int varid, const char* name, int xtype, int type, const void* v) {
  switch (type) {
#define PUT_ATT(CODE, NAME) \
  case CODE:                \
    return PIOc_put_att_##NAME(ncid, varid, name, xtype, k_cells, v);
    ALL(PUT_ATT)
  }
  return 1;
}

static int get_att(int ncid, int varid, const char* name, int type, void* v) {
  switch (type) {
#define GET_ATT(CODE, NAME) \
  case CODE:                \
    return PIOc_get_att_##NAME(ncid, varid, name, v);
    ALL(GET_ATT)
  }
  return 1;
}

static int in_format(const format* f, int type) {
  return type <= PIO_DOUBLE || f->number == PIO_FORMAT_CDF5 || f->number == PIO_FORMAT_NETCDF4;
}

static void all_pairs(int iosys, const format* f) {
  in_case = f->name;
  char path[64];
  snprintf(path, sizeof path, "types_%s.nc", f->name);
  const int n = k_cells * all_ranks;
  PIO_Offset map[k_cells];
  int ioids[k_type_count];
  int ncid = -1;
  int dimid = -1;
  int varids[k_type_count][k_type_count];
  for (int c = 0; c < k_cells; ++c)
    map[c] = my_rank * k_cells + (k_cells - c);
  for (int m = 0; m < k_type_count; ++m)
    OK(PIOc_InitDecomp(iosys, k_types[m], 1, &n, k_cells, map, &ioids[m], NULL, NULL, NULL));
  OK(create(iosys, f, path, &ncid));
  OK(PIOc_def_dim(ncid, "x", n, &dimid));
  for (int t = 0; t < k_type_count; ++t)
    for (int m = 0; m < k_type_count; ++m) {
      char name[32];
      snprintf(name, sizeof name, "v_%d_%d", k_types[t], k_types[m]);
      if (!in_format(f, k_types[t])) {
        GIVES(PIO_EBADTYPE, PIOc_def_var(ncid, name, k_types[t], 1, &dimid, &varids[t][m]));
        continue;
      }
      OK(PIOc_def_var(ncid, name, k_types[t], 1, &dimid, &varids[t][m]));
      char numbers[k_cells * 8];
      for (int i = 0; i < k_cells; ++i)
        store(k_types[m], numbers + i * size_of(k_types[m]), 10 * i);
      OK(put_att(ncid, varids[t][m], "numbers", k_types[t], k_types[m], numbers));
    }
  OK(PIOc_enddef(ncid));
  for (int t = 0; t < k_type_count; ++t)
    for (int m = 0; m < k_type_count; ++m) {
      if (!in_format(f, k_types[t])) continue;
      char values[k_cells * 8];
      for (int c = 0; c < k_cells; ++c)
        store(k_types[m], values + c * size_of(k_types[m]), (int)(map[c] + m) % 120);
      OK(PIOc_write_darray(ncid, varids[t][m], ioids[m], k_cells, values, NULL));
    }
  OK(PIOc_closefile(ncid));
  OK(reopen(iosys, f, path, PIO_WRITE, &ncid));
  for (int t = 0; t < k_type_count; ++t)
    for (int m = 0; m < k_type_count; ++m) {
      if (!in_format(f, k_types[t])) continue;
      char expected[k_cells * 8];
      char found[k_cells * 8];
      const size_t bytes = k_cells * size_of(k_types[t]);
      char name[32];
      int varid = -1;
      snprintf(name, sizeof name, "v_%d_%d", k_types[t], k_types[m]);
      OK(PIOc_inq_varid(ncid, name, &varid));
      /* Distributed, by the type of the file, which another decomposition has. */
      for (int c = 0; c < k_cells; ++c)
        store(k_types[t], expected + c * size_of(k_types[t]), (int)(map[c] + m) % 120);
      OK(PIOc_read_darray(ncid, varid, ioids[t], k_cells, found));
      CHECK(memcmp(found, expected, bytes) == 0);
      /* The same on all ranks, by another type in memory. */
      const PIO_Offset start[1] = {0};
      const PIO_Offset count[1] = {k_cells};
      OK(get(ncid, varid, start, count, k_types[m], found));
      for (int c = 0; c < k_cells; ++c)
        store(k_types[m], expected + c * size_of(k_types[m]), (1 + c + m) % 120);
      CHECK(memcmp(found, expected, k_cells * size_of(k_types[m])) == 0);
      for (int c = 0; c < k_cells; ++c)
        store(k_types[m], expected + c * size_of(k_types[m]), my_rank == 0 ? 50 + c : 99);
      OK(put(ncid, varid, start, count, k_types[m], expected));
      OK(get(ncid, varid, start, count, k_types[t], found));
      for (int c = 0; c < k_cells; ++c)
        store(k_types[t], expected + c * size_of(k_types[t]), 50 + c);
      CHECK(memcmp(found, expected, bytes) == 0);
      OK(get_att(ncid, varid, "numbers", k_types[m], found));
      for (int i = 0; i < k_cells; ++i)
        store(k_types[m], expected + i * size_of(k_types[m]), 10 * i);
      CHECK(memcmp(found, expected, k_cells * size_of(k_types[m])) == 0);
    }
  OK(PIOc_closefile(ncid));
  for (int m = 0; m < k_type_count; ++m)
    OK(PIOc_freedecomp(iosys, ioids[m]));
}

static void ranges_and_text(int iosys, const format* f) {
  in_case = f->name;
  int ncid = -1;
  int dimids[2];
  int v[4];
  const int n = all_ranks;
  const PIO_Offset map[1] = {my_rank + 1};
  int ints = -1;
  int chars = -1;
  OK(PIOc_InitDecomp(iosys, PIO_INT, 1, &n, 1, map, &ints, NULL, NULL, NULL));
  OK(PIOc_InitDecomp(iosys, PIO_CHAR, 1, &n, 1, map, &chars, NULL, NULL, NULL));
  OK(create(iosys, f, "types_ranges.nc", &ncid));
  OK(PIOc_def_dim(ncid, "x", n, &dimids[0]));
  OK(PIOc_def_dim(ncid, "letters", 12, &dimids[1]));
  OK(PIOc_def_var(ncid, "bytes", PIO_BYTE, 1, dimids, &v[0]));
  OK(PIOc_def_var(ncid, "text", PIO_CHAR, 1, dimids, &v[1]));
  OK(PIOc_def_var(ncid, "words", PIO_CHAR, 2, dimids, &v[2]));
  /* Attributes: a value that does not fit is said on all ranks, text is no number. */
  const int does_not_fit = PIO_ERANGE;
  const int large[2] = {1, 1000};
  const double real[2] = {1.75, -2.5};
  GIVES(does_not_fit, PIOc_put_att_int(ncid, v[0], "large", PIO_BYTE, 2, large));
  OK(PIOc_put_att_double(ncid, v[0], "real", PIO_SHORT, 2, real));
  GIVES(PIO_ECHAR, PIOc_put_att_int(ncid, v[0], "letters", PIO_CHAR, 2, large));
  OK(PIOc_put_att_text(ncid, PIO_GLOBAL, "title", 5, "whole"));
  int numbers[5];
  GIVES(PIO_ECHAR, PIOc_get_att_int(ncid, PIO_GLOBAL, "title", numbers));
  OK(PIOc_get_att_int(ncid, v[0], "real", numbers));
  CHECK(numbers[0] == 1 && numbers[1] == -2);
  if (f->number == PIO_FORMAT_CDF5 || f->number == PIO_FORMAT_NETCDF4) {
    const unsigned long long most[1] = {18446744073709551615ULL};
    const long long least[1] = {-1};
    GIVES(does_not_fit, PIOc_put_att_ulonglong(ncid, PIO_GLOBAL, "most", PIO_INT64, 1, most));
    GIVES(does_not_fit, PIOc_put_att_longlong(ncid, PIO_GLOBAL, "least", PIO_UINT64, 1, least));
    OK(PIOc_put_att_ulonglong(ncid, PIO_GLOBAL, "right", PIO_UINT64, 1, most));
    unsigned long long found = 0;
    OK(PIOc_get_att_ulonglong(ncid, PIO_GLOBAL, "right", &found));
    CHECK(found == most[0]);
  }
  /* A fill value must have the variable's type. */
  GIVES(PIO_EBADTYPE, PIOc_put_att_int(ncid, v[0], "_FillValue", PIO_INT, 1, large));
  OK(PIOc_enddef(ncid));
  const int values[1] = {my_rank + 1};
  GIVES(PIO_ECHAR, PIOc_write_darray(ncid, v[1], ints, 1, values, NULL));
  const char letter[1] = {(char)('a' + my_rank)};
  OK(PIOc_write_darray(ncid, v[1], chars, 1, letter, NULL));
  char text[64] = "";
  OK(PIOc_get_var_text(ncid, v[1], text));
  for (int r = 0; r < all_ranks; ++r)
    CHECK(text[r] == 'a' + r);
  GIVES(PIO_ECHAR, PIOc_get_var_int(ncid, v[1], numbers));
  for (int r = 0; r < all_ranks; ++r) {
    const PIO_Offset start[2] = {r, 0};
    const PIO_Offset count[2] = {1, 8};
    char word[32];
    snprintf(word, sizeof word, "%s%d", my_rank == 0 ? "word___" : "other__", r);
    OK(PIOc_put_vara_text(ncid, v[2], start, count, word));
    memset(text, 0, sizeof text);
    OK(PIOc_get_vara_text(ncid, v[2], start, count, text));
    snprintf(word, sizeof word, "word___%d", r);
    CHECK(strcmp(text, word) == 0);
  }
  OK(PIOc_sync(ncid));
  /* A value of put that does not fit comes out at sync, on all ranks. */
  const int much[8] = {1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000};
  const int put = PIOc_put_var_int(ncid, v[0], much);
  CHECK(put == PIO_NOERR || put == PIO_ERANGE);
  GIVES(PIO_ERANGE, PIOc_sync(ncid));
  PIOc_closefile(ncid);
  OK(PIOc_freedecomp(iosys, ints));
  OK(PIOc_freedecomp(iosys, chars));
}

int main(int argc, char** argv) {
  const int iosys = start(&argc, &argv);
  for (int f = 0; f < k_format_count; ++f) {
    all_pairs(iosys, &k_formats[f]);
    ranges_and_text(iosys, &k_formats[f]);
  }
  OK(PIOc_finalize(iosys));
  return finish("types");
}
