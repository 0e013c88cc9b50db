/* SPDX-License-Identifier: BSD-3-Clause
 *
 * An atmosphere model's history, as WRF writes it with PnetCDF: character time strings, three-dimensional
 * fields of staggered tiles, requests that are queued (iput, varn) or copied (bput), and one wait_all a step;
 * read by iget.
 *   wrf_like FOLDER
 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lines.h"

enum { k_nx = 19, k_ny = 11, k_nz = 4, k_soil = 3, k_steps = 3, k_date = 19 };
enum { T, U, V, SST, TSLB, k_fields };

/* A field's place on its staggered grid: one point more in x (U), in y (V). */
static const char* const k_names[k_fields] = {"T", "U", "V", "SST", "TSLB"};
static const int k_levels[k_fields] = {k_nz, k_nz, k_nz, 1, k_soil};

typedef struct box {
  MPI_Offset start[4], count[4]; /* Time, level, south_north, west_east */
} box;

static int px, py; /* ranks along x and y */

static float value_of(int field, int step, long k, long j, long i) {
  return (float)(((field * 8 + step) * 8 + k) * 512 + j * 24 + i) + 0.5F;
}

static box box_of(int field, int step) {
  long i0, ni, j0, nj;
  part_of(k_nx, px, my_rank % px, &i0, &ni);
  part_of(k_ny, py, my_rank / px, &j0, &nj);
  if (field == U && my_rank % px == px - 1) ++ni;
  if (field == V && my_rank / px == py - 1) ++nj;
  return (box){{step, 0, j0, i0}, {1, k_levels[field], nj, ni}};
}

static size_t cells_of(const box* b) {
  return (size_t)(b->count[0] * b->count[1] * b->count[2] * b->count[3]);
}

/* The values of a box in a block of memory of its own. */
static float* values_of(int field, int step, const box* b) {
  float* values = malloc(cells_of(b) * sizeof(float) + 1);
  size_t n = 0;
  for (long k = 0; k < b->count[1]; ++k)
    for (long j = 0; j < b->count[2]; ++j)
      for (long i = 0; i < b->count[3]; ++i)
        values[n++] = value_of(field, step, k, b->start[2] + j, b->start[3] + i);
  return values;
}

static void date_of(int step, char* text) {
  snprintf(text, k_date + 1, "2005-08-28_%02d:00:00", step);
}

static void define(int ncid, int* times, int* ids) {
  int time, date, x, xs, y, ys, z, soil;
  NEEDS(ncmpi_def_dim(ncid, "Time", NC_UNLIMITED, &time));
  NEEDS(ncmpi_def_dim(ncid, "DateStrLen", k_date, &date));
  NEEDS(ncmpi_def_dim(ncid, "west_east", k_nx, &x));
  NEEDS(ncmpi_def_dim(ncid, "south_north", k_ny, &y));
  NEEDS(ncmpi_def_dim(ncid, "bottom_top", k_nz, &z));
  NEEDS(ncmpi_def_dim(ncid, "west_east_stag", k_nx + 1, &xs));
  NEEDS(ncmpi_def_dim(ncid, "south_north_stag", k_ny + 1, &ys));
  NEEDS(ncmpi_def_dim(ncid, "soil_layers_stag", k_soil, &soil));
  NEEDS(ncmpi_put_att_text(ncid, NC_GLOBAL, "TITLE", 18, "OUTPUT FROM A TEST"));
  const int numbers[] = {k_nx, k_ny, k_nz};
  for (int i = 0; i < 3; ++i) {
    char name[NC_MAX_NAME];
    const float value = (float)numbers[i] / 2;
    snprintf(name, sizeof name, "GRID_DIMENSION_%d", i);
    NEEDS(ncmpi_put_att_int(ncid, NC_GLOBAL, name, NC_INT, 1, &numbers[i]));
    snprintf(name, sizeof name, "GRID_SPACING_%d", i);
    NEEDS(ncmpi_put_att_float(ncid, NC_GLOBAL, name, NC_FLOAT, 1, &value));
  }
  const int date_dims[] = {time, date};
  NEEDS(ncmpi_def_var(ncid, "Times", NC_CHAR, 2, date_dims, times));
  for (int f = 0; f < k_fields; ++f) {
    const int dims[] = {time, f == TSLB ? soil : z, f == V ? ys : y, f == U ? xs : x};
    const int flat[] = {time, y, x};
    NEEDS(ncmpi_def_var(ncid, k_names[f], NC_FLOAT, f == SST ? 3 : 4, f == SST ? flat : dims, &ids[f]));
    NEEDS(ncmpi_put_att_text(ncid, ids[f], "MemoryOrder", 3, f == SST ? "XY " : "XYZ"));
    NEEDS(ncmpi_put_att_text(ncid, ids[f], "stagger", 1, f == U ? "X" : f == V ? "Y" : " "));
  }
  NEEDS(ncmpi_enddef(ncid));
}

/* TSLB in pieces: each layer by two boxes, its lower and its upper rows; memory in the order of the pieces.
 * */
static void queue_soil(int ncid, int id, int step, float** kept, int* request) {
  const box b = box_of(TSLB, step);
  MPI_Offset starts[2 * k_soil][4], counts[2 * k_soil][4];
  MPI_Offset *starts_to[2 * k_soil], *counts_to[2 * k_soil];
  *kept = malloc(cells_of(&b) * sizeof(float) + 1);
  size_t cells = 0;
  for (int piece = 0; piece < 2 * k_soil; ++piece) {
    long row, rows;
    part_of((long)b.count[2], 2, piece % 2, &row, &rows);
    const MPI_Offset start[] = {step, piece / 2, b.start[2] + row, b.start[3]};
    const MPI_Offset count[] = {1, 1, rows, b.count[3]};
    memcpy(starts[piece], start, sizeof start);
    memcpy(counts[piece], count, sizeof count);
    starts_to[piece] = starts[piece];
    counts_to[piece] = counts[piece];
    for (long j = 0; j < rows; ++j)
      for (long i = 0; i < b.count[3]; ++i)
        (*kept)[cells++] = value_of(TSLB, step, piece / 2, b.start[2] + row + j, b.start[3] + i);
  }
  NEEDS(ncmpi_iput_varn_float(ncid, id, 2 * k_soil, starts_to, counts_to, *kept, request));
}

/* One step's record: T, U and TSLB queued where they lie, V and SST copied, all moved by one wait_all. */
static void write_step(int ncid, int times, const int* ids, int step) {
  int requests[k_fields + 1], statuses[k_fields + 1], pending = 0;
  float* kept[k_fields] = {NULL};
  char date[k_date + 1];
  date_of(step, date);
  const MPI_Offset date_start[] = {step, 0}, date_count[] = {1, k_date};
  NEEDS(ncmpi_iput_vara_text(ncid, times, date_start, date_count, date, &requests[k_fields]));
  for (int f = 0; f < k_fields; ++f) {
    box b = box_of(f, step);
    if (f == TSLB) {
      queue_soil(ncid, ids[f], step, &kept[f], &requests[f]);
      continue;
    }
    MPI_Offset flat_start[] = {step, b.start[2], b.start[3]}, flat_count[] = {1, b.count[2], b.count[3]};
    const MPI_Offset* start = f == SST ? flat_start : b.start;
    const MPI_Offset* count = f == SST ? flat_count : b.count;
    kept[f] = values_of(f, step, &b);
    if (f == V || f == SST) {
      NEEDS(ncmpi_bput_vara_float(ncid, ids[f], start, count, kept[f], &requests[f]));
      memset(kept[f], 0x7f, cells_of(&b) * sizeof(float)); /* its values were copied */
    } else {
      NEEDS(ncmpi_iput_vara_float(ncid, ids[f], start, count, kept[f], &requests[f]));
    }
  }
  MPI_Offset usage = 0, before = 0, after = 0, mine = k_date;
  const box v = box_of(V, step), sst = box_of(SST, step);
  NEEDS(ncmpi_inq_nreqs(ncid, &pending));
  NEEDS(ncmpi_inq_buffer_usage(ncid, &usage));
  check(usage == (MPI_Offset)((cells_of(&v) + cells_of(&sst)) * sizeof(float)), "step %d: buffer usage %lld",
        step, (long long)usage);
  NEEDS(ncmpi_inq_put_size(ncid, &before));
  const int code = ncmpi_wait_all(ncid, k_fields + 1, requests, statuses);
  NEEDS(ncmpi_inq_put_size(ncid, &after));
  for (int f = 0; f < k_fields; ++f) {
    const box b = box_of(f, step);
    mine += (MPI_Offset)(cells_of(&b) * sizeof(float));
    check(statuses[f] == NC_NOERR, "step %d: %s has status %d", step, k_names[f], statuses[f]);
    free(kept[f]);
  }
  check(statuses[k_fields] == NC_NOERR, "step %d: Times has status %d", step, statuses[k_fields]);
  say("step", "%d: wait_all %d, pending before %d, bytes at least of its values %d, requests null %d", step,
      code, pending, after - before >= mine, requests[0] == NC_REQ_NULL && requests[k_fields] == NC_REQ_NULL);
  NEEDS(ncmpi_inq_nreqs(ncid, &pending));
  NEEDS(ncmpi_inq_buffer_usage(ncid, &usage));
  say("after it", "pending %d, buffer used %lld", pending, (long long)usage);
}

/* All fields of a step by requests and one wait_all. */
static void read_step(int ncid, const int* ids, int step) {
  int requests[k_fields], statuses[k_fields];
  float* found[k_fields];
  for (int f = 0; f < k_fields; ++f) {
    const box b = box_of(f, step);
    const MPI_Offset flat_start[] = {step, b.start[2], b.start[3]},
                     flat_count[] = {1, b.count[2], b.count[3]};
    found[f] = malloc(cells_of(&b) * sizeof(float) + 1);
    NEEDS(ncmpi_iget_vara_float(ncid, ids[f], f == SST ? flat_start : b.start,
                                f == SST ? flat_count : b.count, found[f], &requests[f]));
  }
  const int code = ncmpi_wait_all(ncid, k_fields, requests, statuses);
  for (int f = 0; f < k_fields; ++f) {
    const box b = box_of(f, step);
    float* wanted = values_of(f, step, &b);
    const int same = memcmp(wanted, found[f], cells_of(&b) * sizeof(float)) == 0;
    check(same && statuses[f] == NC_NOERR, "%s of step %d", k_names[f], step);
    say(k_names[f], "step %d: wait_all %d, status %d, right %d, first %g", step, code, statuses[f], same,
        found[f][0]);
    free(wanted);
    free(found[f]);
  }
}

static void read_dates(int ncid, int times) {
  char text[k_steps][k_date + 1] = {""}, wanted[k_date + 1];
  for (int step = 0; step < k_steps; ++step) {
    const MPI_Offset start[] = {step, 0}, count[] = {1, k_date};
    NEEDS(ncmpi_get_vara_text_all(ncid, times, start, count, text[step]));
    date_of(step, wanted);
    check(strcmp(text[step], wanted) == 0, "Times of step %d: %s", step, text[step]);
    say("Times", "%s", text[step]);
  }
}

int main(int argc, char** argv) {
  int ncid, times, ids[k_fields], dims[2] = {0, 0}, format, unlimited;
  MPI_Offset size, records;
  begin(&argc, &argv);
  MPI_Dims_create(all_ranks, 2, dims);
  px = dims[0], py = dims[1];
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "nc_header_align_size", "4096");
  MPI_Info_set(info, "nc_var_align_size", "1");
  NEEDS(ncmpi_create(MPI_COMM_WORLD, in_folder("wrfout_d01.nc"), NC_CLOBBER | NC_64BIT_OFFSET, info, &ncid));
  MPI_Info_free(&info);
  define(ncid, &times, ids);
  NEEDS(ncmpi_buffer_attach(ncid, 1 << 16));
  NEEDS(ncmpi_inq_buffer_size(ncid, &size));
  say("buffer attached", "%lld", (long long)size);
  for (int step = 0; step < k_steps; ++step) {
    write_step(ncid, times, ids, step);
    if (step == 1) NEEDS(ncmpi_sync(ncid));
  }
  NEEDS(ncmpi_buffer_detach(ncid));
  say("detached once more", "%d", ncmpi_buffer_detach(ncid));
  NEEDS(ncmpi_close(ncid));

  NEEDS(ncmpi_open(MPI_COMM_WORLD, in_folder("wrfout_d01.nc"), NC_NOWRITE, MPI_INFO_NULL, &ncid));
  NEEDS(ncmpi_inq_format(ncid, &format));
  NEEDS(ncmpi_inq_unlimdim(ncid, &unlimited));
  NEEDS(ncmpi_inq_dimlen(ncid, unlimited, &records));
  say("format, records", "%d %lld", format, (long long)records);
  NEEDS(ncmpi_inq_varid(ncid, "Times", &times));
  for (int f = 0; f < k_fields; ++f)
    NEEDS(ncmpi_inq_varid(ncid, k_names[f], &ids[f]));
  read_dates(ncid, times);
  for (int step = 0; step < k_steps; ++step)
    read_step(ncid, ids, step);
  NEEDS(ncmpi_close(ncid));
  return finish();
}
