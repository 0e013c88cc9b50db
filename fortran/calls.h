/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the Fortran module calls (see shoal_c.f90, which declares the same to Fortran). All return a
 * code of the C interface; shoal_f_message has the message. Arguments that are CFI_cdesc_t * may be
 * NULL where the Fortran argument is optional.
 */
#ifndef SHOAL_FORTRAN_CALLS_H
#define SHOAL_FORTRAN_CALLS_H

#include "descriptor.h"
#include "shoal/bindings.h"

/* What takes an attribute. */
enum { SHOAL_F_DATASET = 1, SHOAL_F_STREAMS = 2 };

/* What is made is made in Fortran's terms: its messages list dimensions fastest first and count from 1. */
#define IN_FORTRAN(call) (shoal_speak(SHOAL_SPEAK_FORTRAN), shoal_f_back_to_c(call))
/* Returns the code. Local. */
int shoal_f_back_to_c(int code);
/* The names in the other order, blank between; malloced, NULL if there is no memory. Local. */
char* shoal_f_reversed_names(const char* names);

/* Local. */
int shoal_f_def_independent(shoal_dataset* dataset, const char* variable);
/* Each rank's box of the variable; verb: SHOAL_CALL_WRITE_BOXES or SHOAL_CALL_READ_BOXES. Collective. */
int shoal_f_move_boxes(int verb, shoal_dataset* dataset, const char* variable, const CFI_cdesc_t* values,
                       const CFI_cdesc_t* start, const CFI_cdesc_t* count, const CFI_cdesc_t* stride);
/* A box of a variable on this rank alone; verb: SHOAL_CALL_WRITE or SHOAL_CALL_READ. start: from 1. Local. */
int shoal_f_move_independent(int verb, shoal_dataset* dataset, const char* variable,
                             const CFI_cdesc_t* values, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
                             const CFI_cdesc_t* stride);
/* Keeps the message for a call of a dataset that is closed. Local. */
int shoal_f_closed(const char* path);
/* Refuses, on all ranks of the communicator, to open a variable that is open; what it holds stays. what: its
 * type. Collective, as the call that it stands for. */
int shoal_f_is_open(MPI_Comm comm, const char* what);
/* Print the message once on standard error and stop all ranks of the communicator (-1: of the world). */
void shoal_f_abort(MPI_Fint comm, int code, const char* message);

/* Collective. */
int shoal_f_wait(const CFI_cdesc_t* comm);
/* computing: takes the communicator of the computing ranks. Collective. */
int shoal_f_serve(const CFI_cdesc_t* all, int n, const CFI_cdesc_t* computing);
/* Collective. */
int shoal_f_block(const CFI_cdesc_t* comm, const CFI_cdesc_t* global, const CFI_cdesc_t* first,
                  const CFI_cdesc_t* last, const CFI_cdesc_t* halo_low, const CFI_cdesc_t* halo_high,
                  MPI_Fint* comm_out, shoal_decomposition** out);
/* cells: from 1, 0 for a hole; uncut: of the first dimensions. Collective. */
int shoal_f_map(const CFI_cdesc_t* comm, const CFI_cdesc_t* global, const CFI_cdesc_t* cells, int uncut,
                MPI_Fint* comm_out, shoal_decomposition** out);
/* Collective. */
int shoal_f_load(const CFI_cdesc_t* comm, const char* path, const char* name, MPI_Fint* comm_out,
                 shoal_decomposition** out);
/* Collective. */
int shoal_f_masked(MPI_Fint comm, const shoal_decomposition* decomposition, const CFI_cdesc_t* mask,
                   shoal_decomposition** out);
/* Collective. */
int shoal_f_unique(MPI_Fint comm, const shoal_decomposition* decomposition, shoal_decomposition** out);
/* Collective. */
int shoal_f_save(MPI_Fint comm, const shoal_decomposition* decomposition, const char* path);
/* numbers: [5][SHOAL_MAX_DIMS - 1] global, first, last, halo_low, halo_high, Fortran order, one-based.
 * Local. */
int shoal_f_decomposition(const shoal_decomposition* decomposition, int* ndims, int64_t* numbers);
/* Error(SHOAL_STATE), also of open and streams_open: *out is not NULL. Collective. */
int shoal_f_create(const CFI_cdesc_t* comm, const char* path, const char* settings, MPI_Fint* comm_out,
                   shoal_dataset** out);
/* Collective. */
int shoal_f_open(const CFI_cdesc_t* comm, const char* path, int mode, const char* settings,
                 MPI_Fint* comm_out, shoal_dataset** out);
/* What a definition that failed before the library saw it returns: the code, with the message of what failed.
 * The rank then finishes definitions together with those where it did not fail. Local. */
int shoal_f_no_definition(shoal_dataset* dataset, int code);
/* Local. */
int shoal_f_def_dim(shoal_dataset* dataset, const char* name, const CFI_cdesc_t* length);
/* dims: fastest first. Local. */
int shoal_f_def_var(shoal_dataset* dataset, const char* name, int type, const char* dims,
                    const shoal_decomposition* decomposition);
/* dims: [ndims] numbers from 1, fastest first. Local. */
int shoal_f_def_var_dims(shoal_dataset* dataset, const char* name, int type, int ndims, const int* dims,
                         const shoal_decomposition* decomposition);
/* dims: fastest first. Local. */
int shoal_f_def_gathered(shoal_dataset* dataset, const char* name, const char* dims,
                         const shoal_decomposition* decomposition);
/* Local. */
int shoal_f_def_chunks(shoal_dataset* dataset, const char* variable, const CFI_cdesc_t* chunks);
/* value of any kind, converted to the type of the variable; NULL: no fill. Local. */
int shoal_f_def_fill(shoal_dataset* dataset, const char* variable, const CFI_cdesc_t* value);
/* to: SHOAL_F_DATASET or SHOAL_F_STREAMS, whose handle it is; variable "" is the file, or all files. Local.
 */
int shoal_f_put_att(int to, void* handle, const char* variable, const char* name, const CFI_cdesc_t* value);
int shoal_f_get_att(const shoal_dataset* dataset, const char* variable, const char* name,
                    const CFI_cdesc_t* value);
int shoal_f_rename_att(shoal_dataset* dataset, const char* variable, const char* name, const char* new_name);
int shoal_f_delete_att(shoal_dataset* dataset, const char* variable, const char* name);
/* value of any kind, NULL: not wanted. Local. */
int shoal_f_inq_fill(const shoal_dataset* dataset, const char* variable, int* fill, const CFI_cdesc_t* value);
/* shoal_write, shoal_read, shoal_put or shoal_get, as verb, a SHOAL_CALL_..., says. Collective as those. */
int shoal_f_move(int verb, shoal_dataset* dataset, const char* variable, const CFI_cdesc_t* values,
                 const CFI_cdesc_t* record, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
                 const CFI_cdesc_t* records, const shoal_decomposition* decomposition);
/* The same by the number of the variable, from 1. */
int shoal_f_move_variable(int verb, shoal_dataset* dataset, int number, const CFI_cdesc_t* values,
                          const CFI_cdesc_t* record, const CFI_cdesc_t* start, const CFI_cdesc_t* count,
                          const CFI_cdesc_t* records, const shoal_decomposition* decomposition);

/* ---- Streams. Numbers of fields count from 1, dims and bounds are fastest first. ---- */

/* now "": start. Collective. */
int shoal_f_streams_open(const CFI_cdesc_t* comm, const char* configuration, const char* calendar,
                         const char* start, const char* now, MPI_Fint* comm_out, shoal_streams** out);
/* What a description that failed before the library saw it returns: the code, with the message of what
 * failed. The other ranks learn of it where they meet. Local. */
int shoal_f_no_description(shoal_streams* streams, int code);
/* Either values or length. Local. */
int shoal_f_streams_axis(shoal_streams* streams, const char* name, const CFI_cdesc_t* values,
                         const CFI_cdesc_t* bounds, const CFI_cdesc_t* length);
/* Local. */
int shoal_f_streams_grid(shoal_streams* streams, const char* name, const char* dims,
                         const shoal_decomposition* decomposition);
/* shoal_streams_area or shoal_streams_coordinate. Local. */
int shoal_f_streams_grid_values(shoal_streams* streams, int is_area, const char* grid, const char* name,
                                const CFI_cdesc_t* values);
/* out: 0 on failure. Local. */
int shoal_f_streams_field(shoal_streams* streams, const char* name, int type, const char* dims,
                          const char* grid, const char* group, int holds, int* out);
/* Local. */
int shoal_f_streams_send(shoal_streams* streams, int field, const CFI_cdesc_t* array);

#endif
