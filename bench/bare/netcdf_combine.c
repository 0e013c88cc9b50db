/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The plain way to join the tiles of a set: one process, a loop over netCDF-C. What `shoal combine` is
 * measured against. It also makes the tiles.
 *
 *   bare_netcdf_combine make PREFIX FORMAT NX NY NZ RECORDS TILES_X TILES_Y
 *   bare_netcdf_combine join OUT FORMAT PREFIX TILES
 *
 * Tiles are PREFIX.0000, PREFIX.0001, ... with a field temp(time, z, y, x) of floats and FMS's attributes.
 * FORMAT is cdf2, cdf5 or netcdf4. join reads one record of one tile at a time (nc_get_vara_float) and puts
 * it to its place in the one file (nc_put_vara_float). It prints seconds and the most memory that it used. */
#define _POSIX_C_SOURCE 200809L /* clock_gettime */
#include <netcdf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static void check(int status, const char* what, const char* path) {
  if (status == NC_NOERR) return;
  fprintf(stderr, "%s: %s: %s\n", path, what, nc_strerror(status));
  exit(1);
}

static size_t number(const char* text) {
  char* end = NULL;
  const unsigned long long value = strtoull(text, &end, 10);
  if (end == text || *end != '\0' || value == 0 || value > 1000000000ULL) {
    fprintf(stderr, "'%s' is not a number from 1 to 1000000000\n", text);
    exit(2);
  }
  return (size_t)value;
}

static int mode_of(const char* format) {
  if (strcmp(format, "cdf2") == 0) return NC_64BIT_OFFSET;
  if (strcmp(format, "cdf5") == 0) return NC_64BIT_DATA;
  if (strcmp(format, "netcdf4") == 0) return NC_NETCDF4;
  fprintf(stderr, "format '%s': there are cdf2, cdf5 and netcdf4\n", format);
  exit(2);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static float* room(size_t cells) {
  float* memory = malloc(cells * sizeof(float));
  if (memory == NULL) {
    fprintf(stderr, "no memory for %zu cells\n", cells);
    exit(1);
  }
  return memory;
}

static void tile_path(char* out, size_t size, const char* prefix, size_t tile) {
  const int length = snprintf(out, size, "%s.%04zu", prefix, tile);
  if (length < 0 || (size_t)length >= size) {
    fprintf(stderr, "%s: the name is too long\n", prefix);
    exit(2);
  }
}

/* The part of a dimension that a tile has, from 0. */
static size_t begin_of(size_t length, size_t parts, size_t part) {
  return part * length / parts;
}

static void make_axis(int file, const char* path, const char* name, int dim, size_t length, size_t first,
                      size_t count, int* variable) {
  const int decomposition[4] = {1, (int)length, (int)first + 1, (int)(first + count)};
  check(nc_def_var(file, name, NC_DOUBLE, 1, &dim, variable), "define an axis", path);
  check(nc_put_att_int(file, *variable, "domain_decomposition", NC_INT, 4, decomposition),
        "domain_decomposition", path);
}

static void fill_axis(int file, const char* path, int variable, size_t first, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const double value = (double)(first + i + 1);
    check(nc_put_var1_double(file, variable, &i, &value), "write an axis", path);
  }
}

static void make_tile(const char* prefix, int mode, const size_t shape[3], size_t records,
                      const size_t parts[2], size_t tile) {
  char path[4096];
  tile_path(path, sizeof path, prefix, tile);
  const size_t px = tile % parts[0], py = tile / parts[0];
  const size_t x0 = begin_of(shape[0], parts[0], px), nx = begin_of(shape[0], parts[0], px + 1) - x0;
  const size_t y0 = begin_of(shape[1], parts[1], py), ny = begin_of(shape[1], parts[1], py + 1) - y0;
  const int files = (int)(parts[0] * parts[1]);
  int file, dims[4], temp, x, y, filled;
  check(nc_create(path, mode | NC_CLOBBER, &file), "create", path);
  check(nc_set_fill(file, NC_NOFILL, &filled), "set fill", path);
  check(nc_put_att_int(file, NC_GLOBAL, "NumFilesInSet", NC_INT, 1, &files), "NumFilesInSet", path);
  check(nc_def_dim(file, "time", NC_UNLIMITED, &dims[0]), "define time", path);
  check(nc_def_dim(file, "z", shape[2], &dims[1]), "define z", path);
  check(nc_def_dim(file, "y", ny, &dims[2]), "define y", path);
  check(nc_def_dim(file, "x", nx, &dims[3]), "define x", path);
  make_axis(file, path, "x", dims[3], shape[0], x0, nx, &x);
  make_axis(file, path, "y", dims[2], shape[1], y0, ny, &y);
  check(nc_def_var(file, "temp", NC_FLOAT, 4, dims, &temp), "define temp", path);
  if (mode == NC_NETCDF4) {
    const size_t chunk[4] = {1, 1, ny, nx};
    check(nc_def_var_chunking(file, temp, NC_CHUNKED, chunk), "define chunks", path);
  }
  check(nc_enddef(file), "end definitions", path);
  fill_axis(file, path, x, x0, nx);
  fill_axis(file, path, y, y0, ny);
  float* level = room(nx * ny);
  for (size_t record = 0; record < records; ++record)
    for (size_t z = 0; z < shape[2]; ++z) {
      for (size_t j = 0; j < ny; ++j)
        for (size_t i = 0; i < nx; ++i)
          level[j * nx + i] = (float)((x0 + i) + 2000 * (y0 + j)) + 0.125F * (float)(z + record);
      const size_t start[4] = {record, z, 0, 0}, count[4] = {1, 1, ny, nx};
      check(nc_put_vara_float(file, temp, start, count, level), "write temp", path);
    }
  free(level);
  check(nc_close(file), "close", path);
}

/* What join knows of a tile. */
typedef struct Tile {
  char path[4096];
  int file, temp;
  size_t x0, nx, y0, ny;
} Tile;

static void open_axis(Tile* tile, const char* name, size_t* first, size_t* count, size_t* length) {
  int variable, decomposition[4];
  check(nc_inq_varid(tile->file, name, &variable), name, tile->path);
  check(nc_get_att_int(tile->file, variable, "domain_decomposition", decomposition), "domain_decomposition",
        tile->path);
  *first = (size_t)decomposition[2] - 1;
  *count = (size_t)(decomposition[3] - decomposition[2] + 1);
  *length = (size_t)decomposition[1];
}

static void join(const char* out, int mode, const char* prefix, size_t tiles) {
  Tile* set = calloc(tiles, sizeof(Tile));
  if (set == NULL) exit(1);
  size_t nx = 0, ny = 0, nz = 0, records = 0, most = 0;
  for (size_t t = 0; t < tiles; ++t) {
    Tile* tile = &set[t];
    int dim;
    tile_path(tile->path, sizeof tile->path, prefix, t);
    check(nc_open(tile->path, NC_NOWRITE, &tile->file), "open", tile->path);
    open_axis(tile, "x", &tile->x0, &tile->nx, &nx);
    open_axis(tile, "y", &tile->y0, &tile->ny, &ny);
    check(nc_inq_varid(tile->file, "temp", &tile->temp), "temp", tile->path);
    check(nc_inq_dimid(tile->file, "z", &dim), "z", tile->path);
    check(nc_inq_dimlen(tile->file, dim, &nz), "z", tile->path);
    check(nc_inq_dimid(tile->file, "time", &dim), "time", tile->path);
    check(nc_inq_dimlen(tile->file, dim, &records), "time", tile->path);
    if (tile->nx * tile->ny > most) most = tile->nx * tile->ny;
  }
  int file, dims[4], temp, x, y, filled;
  check(nc_create(out, mode | NC_CLOBBER, &file), "create", out);
  check(nc_set_fill(file, NC_NOFILL, &filled), "set fill", out);
  check(nc_def_dim(file, "time", NC_UNLIMITED, &dims[0]), "define time", out);
  check(nc_def_dim(file, "z", nz, &dims[1]), "define z", out);
  check(nc_def_dim(file, "y", ny, &dims[2]), "define y", out);
  check(nc_def_dim(file, "x", nx, &dims[3]), "define x", out);
  check(nc_def_var(file, "x", NC_DOUBLE, 1, &dims[3], &x), "define x", out);
  check(nc_def_var(file, "y", NC_DOUBLE, 1, &dims[2], &y), "define y", out);
  check(nc_def_var(file, "temp", NC_FLOAT, 4, dims, &temp), "define temp", out);
  check(nc_enddef(file), "end definitions", out);
  fill_axis(file, out, x, 0, nx);
  fill_axis(file, out, y, 0, ny);
  float* values = room(most * nz);
  for (size_t record = 0; record < records; ++record)
    for (size_t t = 0; t < tiles; ++t) {
      const Tile* tile = &set[t];
      const size_t count[4] = {1, nz, tile->ny, tile->nx};
      const size_t from[4] = {record, 0, 0, 0}, to[4] = {record, 0, tile->y0, tile->x0};
      check(nc_get_vara_float(tile->file, tile->temp, from, count, values), "read temp", tile->path);
      check(nc_put_vara_float(file, temp, to, count, values), "write temp", out);
    }
  free(values);
  check(nc_close(file), "close", out);
  for (size_t t = 0; t < tiles; ++t)
    nc_close(set[t].file);
  free(set);
}

int main(int argc, char** argv) {
  if (argc == 10 && strcmp(argv[1], "make") == 0) {
    const size_t shape[3] = {number(argv[4]), number(argv[5]), number(argv[6])};
    const size_t records = number(argv[7]), parts[2] = {number(argv[8]), number(argv[9])};
    const int mode = mode_of(argv[3]);
    for (size_t tile = 0; tile < parts[0] * parts[1]; ++tile)
      make_tile(argv[2], mode, shape, records, parts, tile);
    return 0;
  }
  if (argc == 6 && strcmp(argv[1], "join") == 0) {
    const double begin = now();
    join(argv[2], mode_of(argv[3]), argv[4], number(argv[5]));
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("%.3f s %.1f MiB\n", now() - begin, (double)usage.ru_maxrss / 1024);
    return 0;
  }
  fprintf(stderr,
          "usage: bare_netcdf_combine make PREFIX FORMAT NX NY NZ RECORDS TILES_X TILES_Y\n"
          "       bare_netcdf_combine join OUT FORMAT PREFIX TILES\n");
  return 2;
}
