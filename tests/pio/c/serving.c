/* SPDX-License-Identifier: BSD-3-Clause
 * I/O ranks that serve. Arguments: ranks of a node (0: all), I/O ranks of each node, components: the first
 * ranks of each node are for I/O, the components take turns at the others. Each component writes records into
 * two files at once, reads one of them meanwhile, waits for the other components between writes, and ends
 * when it likes. Who serves is seen in the report of the files. */
#include "check.h"

enum { k_records = 6, k_cells = 3000 };

/* Odd numbers of the whole list are rank 0's of the component, if there are others. */
static int owner(int cell, int size) {
  return cell % 2 == 1 ? 0 : cell / 2 % size;
}

static double value(int component, int which, int record, int cell) {
  return 1e6 * component + 1e5 * which + 1e4 * record + cell;
}

typedef struct part {
  int component, rank, size, iosys, ioid, length;
  PIO_Offset* map;
  double* values;
} part;

static void make_part(part* p, int iosys, int component, MPI_Comm comm) {
  *p = (part){.component = component, .iosys = iosys, .ioid = -1};
  MPI_Comm_rank(comm, &p->rank);
  MPI_Comm_size(comm, &p->size);
  p->map = calloc(k_cells, sizeof *p->map);
  p->values = calloc(k_cells, sizeof *p->values);
  for (int cell = 0; cell < k_cells; ++cell)
    if (owner(cell, p->size) == p->rank) p->map[p->length++] = cell + 1;
  const int n = k_cells;
  OK(PIOc_InitDecomp(iosys, PIO_DOUBLE, 1, &n, p->length, p->map, &p->ioid, NULL, NULL, NULL));
}

static void write_record(part* p, int ncid, int varid, int which, int record) {
  for (int i = 0; i < p->length; ++i)
    p->values[i] = value(p->component, which, record, (int)p->map[i] - 1);
  OK(PIOc_setframe(ncid, varid, record));
  OK(PIOc_write_darray(ncid, varid, p->ioid, p->length, p->values, NULL));
}

static void read_record(part* p, int ncid, int varid, int which, int record) {
  memset(p->values, 0, sizeof *p->values * (size_t)p->length);
  OK(PIOc_setframe(ncid, varid, record));
  OK(PIOc_read_darray(ncid, varid, p->ioid, p->length, p->values));
  int wrong = 0;
  for (int i = 0; i < p->length; ++i)
    if (p->values[i] != value(p->component, which, record, (int)p->map[i] - 1)) ++wrong;
  CHECK(wrong == 0);
}

static void path_of(char* out, size_t room, int component, int which) {
  snprintf(out, room, "serving_%d_%d.nc", component, which);
}

static void define(part* p, const format* f, int which, int* ncid, int* varid) {
  char path[64];
  int dims[2];
  path_of(path, sizeof path, p->component, which);
  OK(create(p->iosys, f, path, ncid));
  OK(PIOc_def_dim(*ncid, "time", PIO_UNLIMITED, &dims[0]));
  OK(PIOc_def_dim(*ncid, "x", k_cells, &dims[1]));
  OK(PIOc_def_var(*ncid, "a", PIO_DOUBLE, 2, dims, varid));
  OK(PIOc_put_att_text(*ncid, *varid, "units", 1, "m"));
  OK(PIOc_enddef(*ncid));
}

/* computing: all components, which wait for each other here and there, as coupled ones do. */
static void run(part* p, const format* f, MPI_Comm computing) {
  int ncid[2];
  int varid[2];
  char path[64];
  for (int which = 0; which < 2; ++which)
    define(p, f, which, &ncid[which], &varid[which]);
  for (int record = 0; record < k_records; ++record) {
    for (int which = 0; which < 2; ++which)
      write_record(p, ncid[which], varid[which], which, record);
    if ((record + p->component) % 3 == 0) OK(PIOc_sync(ncid[0]));
    if (record == 3) read_record(p, ncid[1], varid[1], 1, 2);
    MPI_Barrier(computing);
  }
  for (int which = 0; which < 2; ++which)
    OK(PIOc_closefile(ncid[which]));
  /* Opened again, to add to it. */
  int iotype = f->iotype;
  path_of(path, sizeof path, p->component, 0);
  OK(PIOc_openfile(p->iosys, &ncid[0], &iotype, path, PIO_WRITE));
  OK(PIOc_inq_varid(ncid[0], "a", &varid[0]));
  write_record(p, ncid[0], varid[0], 0, k_records);
  OK(PIOc_closefile(ncid[0]));
  for (int which = 0; which < 2; ++which) {
    path_of(path, sizeof path, p->component, which);
    OK(PIOc_openfile(p->iosys, &ncid[which], &iotype, path, PIO_NOWRITE));
    OK(PIOc_inq_varid(ncid[which], "a", &varid[which]));
    for (int record = 0; record < k_records + 1 - which; ++record)
      read_record(p, ncid[which], varid[which], which, record);
    OK(PIOc_closefile(ncid[which]));
  }
}

/* How the ranks are dealt: -1: I/O, else the component. */
static int role(int rank, int ranks_per_node, int io, int components) {
  const int in_node = rank % ranks_per_node;
  return in_node < io ? -1 : (in_node - io) % components;
}

static void all_components(int ranks_per_node, int io, int components) {
  int io_list[64];
  int members[2][64];
  int* lists[2] = {members[0], members[1]};
  int counts[2] = {0, 0};
  int ios = 0;
  for (int rank = 0; rank < all_ranks; ++rank) {
    const int r = role(rank, ranks_per_node, io, components);
    if (r < 0)
      io_list[ios++] = rank;
    else
      members[r][counts[r]++] = rank;
  }
  const int mine = role(my_rank, ranks_per_node, io, components);
  MPI_Comm computing = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, mine < 0, my_rank, &computing);
  for (int i = 0; i < k_format_count; ++i) {
    in_case = k_formats[i].name;
    int iosys[2] = {-1, -1};
    MPI_Comm comps[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
    OK(PIOc_init_async(MPI_COMM_WORLD, ios, io_list, components, counts, lists, NULL, comps, PIO_REARR_BOX,
                       iosys));
    for (int c = 0; c < components; ++c) {
      if (c == mine) {
        part p;
        make_part(&p, iosys[c], c, comps[c]);
        run(&p, &k_formats[i], computing);
        OK(PIOc_freedecomp(iosys[c], p.ioid));
        free(p.map);
        free(p.values);
        MPI_Comm_free(&comps[c]);
      }
      OK(PIOc_finalize(iosys[c]));
    }
  }
  MPI_Comm_free(&computing);
}

int main(int argc, char** argv) {
  const int iosys = start(&argc, &argv);
  const int nodes_of = argc > 1 ? atoi(argv[1]) : 0;
  const int io = argc > 2 ? atoi(argv[2]) : 1;
  const int components = argc > 3 ? atoi(argv[3]) : 1;
  const int ranks_per_node = nodes_of > 0 ? nodes_of : all_ranks;
  if (all_ranks > 1) all_components(ranks_per_node, io, components);
  OK(PIOc_finalize(iosys));
  return finish("serving");
}
