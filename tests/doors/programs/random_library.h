/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What random_calls needs of netCDF and of PnetCDF, so that one program makes calls of both.
 */
#ifndef SHOAL_TESTS_DOORS_RANDOM_LIBRARY_H
#define SHOAL_TESTS_DOORS_RANDOM_LIBRARY_H

enum { k_dims = 4, k_boxes = 3 };

/* Cells of a variable; places from 0, strides 1 or more. */
typedef struct box {
  long long start[k_dims], count[k_dims], stride[k_dims], map[k_dims];
} box;

/* Forms of calls; `lists` (varn) is PnetCDF's alone. */
enum { vara, vars, varm, var1, lists };
/* Types in memory. */
enum { as_schar, as_short, as_int, as_float, as_double, as_longlong, k_memories };
/* Who calls: all ranks; each alone; all at the next wait, of values that stay (queued) or that are copied. */
enum { collective, independent, queued, copied };

/* A put or get: n boxes of one variable, values in memory one after the other. */
typedef struct request {
  int id, ndims, form, memory, n;
  box boxes[k_boxes];
  void* values;
} request;

/* Formats: 1, 2, 5 (classic), 3, 4 (netCDF-4's classic model, netCDF-4). Types are NC_BYTE... Codes are the
 * library's. Create, open, close, redef, enddef, sync, definitions, fill_record and wait: Collective. */
typedef struct library {
  int (*create)(const char* path, int format, int* ncid);
  int (*open)(const char* path, int* ncid);
  int (*close)(int ncid);
  int (*redef)(int ncid);
  int (*enddef)(int ncid);
  int (*sync)(int ncid);
  int (*def_dim)(int ncid, const char* name, long long length, int* id); /* length 0: unlimited */
  int (*def_var)(int ncid, const char* name, int type, int ndims, const int* dims, int* id);
  int (*pack)(int ncid, int id);                   /* compresses a variable; NULL: cannot */
  int (*set_fill)(int ncid, int id, double value); /* in the variable's type */
  int (*put_att)(int ncid, int id, const char* name, int type, int n, const double* values);
  int (*put_text)(int ncid, int id, const char* name, const char* text);
  int (*rename_var)(int ncid, int id, const char* name); /* NULL: fails in some files */
  int (*length)(int ncid, int dim, long long* length);
  int (*fill_record)(int ncid, int id, long long record); /* NULL: new records are filled by themselves */
  int (*access)(int ncid, int id, int how); /* before calls of that kind: all ranks; id: netCDF's alone */
  int (*put)(int ncid, const request* r, int how);
  int (*get)(int ncid, const request* r, int how);
  int (*wait_all)(int ncid); /* moves what is queued; NULL: nothing can be queued */
} library;

extern const library netcdf_library, classic_library, pnetcdf_library;

#endif
