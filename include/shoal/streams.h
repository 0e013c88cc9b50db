/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Streams: a model sends fields, a file in TOML says what becomes of them (docs/guide/streams.md). The C
 * interface; conventions, error codes and arrays are those of shoal.h.
 *
 * A model describes its axes, grids and fields once, and then makes the same calls in each step:
 *
 *   shoal_streams_open(comm, "output.toml", "noleap", "1850-01-01 00:00:00", NULL, &streams);
 *   shoal_streams_axis(streams, "lev", &depths, NULL);
 *   shoal_streams_grid(streams, "ocean", "lat lon", decomposition);
 *   shoal_streams_field(streams, "temp", SHOAL_FLOAT, "lev lat lon", "ocean", NULL, SHOAL_AT_INSTANT, &temp);
 *   while (...) {
 *     ... compute the step; time += dt ...
 *     shoal_streams_advance(streams, time);       // the clock: the step ends here
 *     shoal_streams_send(streams, temp, &array);  // what the fields are at its end
 *   }
 *   shoal_streams_close(&streams);
 *
 * Time: `now` is the end of the step whose fields are sent. advance sets it first, so that the length of the
 * step, the weight of its values in means, is known when they come. Windows of time are half open: a step
 * that ends at the end of a window belongs to it. A step is complete with the next advance, with checkpoint
 * or with close; windows that end there are then finished, which writes their records.
 *
 * Errors: descriptions that differ between ranks, and what is wrong with the arguments of send, come out of
 * the next call in which ranks meet (advance where a window ends, checkpoint, close), on all ranks alike; on
 * a single rank at once. After an error of advance the streams can be used on: the records that failed are
 * lost, and said so.
 */
#ifndef SHOAL_STREAMS_H
#define SHOAL_STREAMS_H

#include <shoal/shoal.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct shoal_streams shoal_streams;

/* ---- Constants ----------------------------------------------------------------------------------------- */

/* For what a value that is sent holds. */
enum {
  SHOAL_AT_INSTANT = 0, /* for the end of the step: a state */
  SHOAL_FOR_STEP = 1    /* for the whole step that ended: a flux, rain */
};

/* ---- Opening ------------------------------------------------------------------------------------------- */

/* Begin a run.
 *  configuration  path of a TOML file, or its text if there is a newline in it; rank 0 reads it. The
 *                 environment's SHOAL_STREAMS, a path, replaces it
 *  calendar       standard (gregorian), proleptic_gregorian, julian, noleap (365_day), all_leap (366_day) or
 *                 360_day
 *  start          "YYYY-MM-DD hh:mm:ss", where seconds count from; the time may be left out: midnight
 *  now            time of this job, which goes on with the run: of the same form, or how long after the start
 *                 ("43200.5 s", "36 h"); NULL: start
 * Errors, on all ranks alike: SHOAL_NOT_FOUND no such file; SHOAL_SETTING the configuration, with file, line
 * and key; SHOAL_INVALID_ARGUMENT a calendar or date. Collective.
 */
SHOAL_API int shoal_streams_open(MPI_Comm comm, const char* configuration, const char* calendar,
                                 const char* start, const char* now, shoal_streams** out);

/* ---- Descriptions ------------------------------------------------------------------------------------- */

/* Local, the same on all ranks, before the first advance. Names are unique among axes, coordinates, areas and
 * fields, as they are names of variables. Grids have names of their own. Arrays are copied. Files get what
 * their fields need. SHOAL_EXISTS: a name is taken; SHOAL_STATE: after the first advance; SHOAL_NOT_FOUND:
 * names of dimensions, grids, with the nearest one. */

/* A dimension, and the variable of its coordinate.
 *  values  1 dimension: one value a cell. data NULL: the dimension alone, extents[0] long
 *  bounds  [cells, 2], NULL: none. They also give the thickness of cells for weighted means */
SHOAL_API int shoal_streams_axis(shoal_streams* streams, const char* name, const shoal_array* values,
                                 const shoal_array* bounds);
/* A horizontal grid, or one of all dimensions.
 *  dims           the names of the decomposition's dimensions, as in shoal_def_var; they may be axes, too,
 *                 of the same length
 *  decomposition  block or map; its mask says which cells are not looked at. It may be freed afterwards */
SHOAL_API int shoal_streams_grid(shoal_streams* streams, const char* name, const char* dims,
                                 const shoal_decomposition* decomposition);
/* A coordinate that is cut as the grid is (CF: auxiliary, as of curvilinear grids), or another field that
 * does not change; values as of shoal_write. Fields of the grid name it in `coordinates`. */
SHOAL_API int shoal_streams_coordinate(shoal_streams* streams, const char* grid, const char* name,
                                       const shoal_array* values);
/* The area of the grid's cells, all >= 0, for weighted means. Fields of the grid name it in
 * `cell_measures`. */
SHOAL_API int shoal_streams_area(shoal_streams* streams, const char* grid, const char* name,
                                 const shoal_array* values);
/* A field that may be sent.
 *  type   of numbers; files have it so, unless the configuration says another one
 *  dims   slowest first; the last are those of the grid. "" is a scalar
 *  grid   NULL: the same on every rank; rank 0's values count
 *  group  a name by which the configuration may choose many fields; NULL or "": none
 *  holds  SHOAL_AT_INSTANT or SHOAL_FOR_STEP
 *  out    the number of the field, for wants and send; 0, 1, ... in the order of the calls */
SHOAL_API int shoal_streams_field(shoal_streams* streams, const char* name, int type, const char* dims,
                                  const char* grid, const char* group, int holds, int* out);
/* An attribute as of shoal_put_att.
 *  of  an axis, coordinate, area or field; NULL: of all files. A field's _FillValue or missing_value is the
 *      value of cells that do not count in any operation */
SHOAL_API int shoal_streams_put_att(shoal_streams* streams, const char* of, const char* name, int type,
                                    int64_t count, const void* values);

/* ---- The run ------------------------------------------------------------------------------------------ */

/* Does some file need the field in this step? wanted is 1 then; with 0, sending it does nothing. Where no
 * step goes on (before the first advance, after a checkpoint) it is 1: sending then is an error, which a
 * model that asks first is to get, too. Local, < 100 ns. */
SHOAL_API int shoal_streams_wants(const shoal_streams* streams, int field, int* wanted);
/* A field at the end of the step (SHOAL_FOR_STEP: during it). Extents are those of the field's dimensions,
 * with the tile's own extents, with or without halo, in those of the grid; of a map, the length of the list
 * stands for these. On a rank without cells it is not looked at. The array may be used again afterwards.
 * SHOAL_STATE, which comes as other errors of send: no step goes on, as before the first advance; advance
 * comes first. Before the first one, several ranks also print it, once. Local. */
SHOAL_API int shoal_streams_send(shoal_streams* streams, int field, const shoal_array* array);
/* The clock: a step begins that ends at this time, seconds since the start, rounded to microseconds; more
 * than before. The step before is complete. Waits for other ranks where windows end. The first advance of a
 * job that resumes nothing may be to `now` itself: what is sent then is the state at the start. Files have a
 * record of it that hold nothing but instants of states, and have a window which ends there.
 * Errors of the first one, on all ranks alike: SHOAL_NOT_FOUND, SHOAL_SETTING a field, group, coordinate or
 * folder that the configuration names and there is not, with its line; SHOAL_OUT_OF_STEP descriptions that
 * differ. Of each: SHOAL_INVALID_ARGUMENT a wrong time, which changes nothing, or another array than the
 * field has; SHOAL_STATE a field that was not sent, or twice; SHOAL_OUT_OF_STEP other times or numbers of
 * steps than other ranks have; SHOAL_TIMEOUT; those of shoal_create, shoal_write and shoal_sync. Collective.
 */
SHOAL_API int shoal_streams_advance(shoal_streams* streams, double seconds);
/* The same by date, of the form of `start`. Collective. */
SHOAL_API int shoal_streams_advance_to(shoal_streams* streams, const char* date);
/* Complete the step, and save the windows that are not finished in a NetCDF file, which is replaced if it
 * exists. Files are stored and committed. The run may go on. Collective. */
SHOAL_API int shoal_streams_checkpoint(shoal_streams* streams, const char* path);
/* Take the windows of a checkpoint, of the same configuration and `now`, on any number of ranks. After the
 * descriptions, before the first advance. Errors, on all ranks alike: SHOAL_NOT_FOUND no such file;
 * SHOAL_INVALID_ARGUMENT it is of another time, calendar or start; SHOAL_FORMAT it is damaged, or none. What
 * the configuration does not need any more, file or operation, is passed over with a warning; what is new
 * begins now, with a warning where that is in the middle of its window. Collective. */
SHOAL_API int shoal_streams_resume(shoal_streams* streams, const char* path);
/* What was described, which files, records and accumulators there are, as JSON (docs/reference/streams.md).
 * The text lives until the next call of this function in this thread. Local. */
SHOAL_API const char* shoal_streams_report(const shoal_streams* streams);
/* Complete the step, close all files and free the handle, also on error. Windows that are not finished are
 * dropped with a warning, or written as they are, as each file's `unfinished` says. Streams that nobody
 * closed are closed by MPI_Finalize, with a warning. Collective. */
SHOAL_API int shoal_streams_close(shoal_streams** streams);
/* Drop the handle without waiting for other ranks; see shoal_abandon. Local. */
SHOAL_API void shoal_streams_abandon(shoal_streams** streams);

#ifdef __cplusplus
}
#endif
#endif
