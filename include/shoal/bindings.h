/* SPDX-License-Identifier: BSD-3-Clause
 *
 * For bindings of other languages, and for libraries above Shoal: a rank that found its own arguments wrong
 * takes its part in a collective call, calls of a library above are matched, messages speak in terms of another
 * language, and tools learn what Shoal cannot read. Programs need shoal.h and streams.h alone, whose conventions
 * and error codes these are.
 */
#ifndef SHOAL_BINDINGS_H
#define SHOAL_BINDINGS_H

#include <shoal/streams.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Refused calls ------------------------------------------------------------------------- */

/* In place of shoal_create, shoal_open, shoal_wait, shoal_block, shoal_map, shoal_masked,
 * shoal_decomposition_save or shoal_decomposition_load, on a rank that has nothing to call them with: a
 * program, or another language, that found its own arguments wrong. The other ranks do not wait for it; all
 * get the same error, the lowest such rank's.
 *  code     an error code (any other number is SHOAL_INVALID_ARGUMENT)
 *  message  what is wrong, and what to do
 * Returns the error. Collective, with those calls of the other ranks. */
SHOAL_API int shoal_refuse(MPI_Comm comm, int code, const char* message);

/* The calls that shoal_refuse_data stands for. */
enum {
  SHOAL_CALL_WRITE = 0,
  SHOAL_CALL_READ = 1,
  SHOAL_CALL_PUT = 2,
  SHOAL_CALL_GET = 3,
  SHOAL_CALL_WRITE_BOXES = 4,
  SHOAL_CALL_READ_BOXES = 5
};

/* In place of shoal_write, shoal_put, shoal_read, shoal_get, shoal_write_boxes or shoal_read_boxes, on a rank that cannot make the call. It takes
 * part with nothing, so that the other ranks do not wait for it: all get the error where the call would
 * report it, of shoal_write, shoal_put and shoal_write_boxes at the next shoal_sync or shoal_close.
 *  call                     which one of these; of boxes neither variable nor section is looked at
 *  variable                 its number; -1: not known
 *  decomposition, section   as the other ranks have them, as far as they are known, otherwise NULL; all of a
 *                           variable without records is SHOAL_SECTION_INIT here
 *  code, message            as of shoal_refuse. SHOAL_OK, of shoal_write: no error comes of it, as the caller
 *                           tells the other ranks itself (shoal_match_data)
 * Returns what the call returns. Collective, with that call of the other ranks. */
SHOAL_API int shoal_refuse_data(shoal_dataset* dataset, int call, shoal_variable variable,
                                const shoal_decomposition* decomposition, const shoal_section* section,
                                int code, const char* message);

/* In place of shoal_streams_send (field -1: of a description). The other ranks learn of it where they would
 * of an error of send. Local. */
SHOAL_API int shoal_streams_refuse(shoal_streams* streams, int field, int code, const char* message);

/* ---- Calls of libraries above -------------------------------------------------------------- */

/* For programs and libraries above Shoal that have collective calls of their own: ranks match these as Shoal
 * matches its calls, so that nobody waits in vain, and learn what is wrong on any of them.
 *  call     which one, in words: "put_att"
 *  details  what must be the same on all ranks, in words: "temp:units, type 2"; NULL: nothing. Not compared
 *           with those of a rank that has an error
 *  code     [1], the program's own number for what is wrong on this rank, 0: nothing. It becomes that of the
 *           lowest rank that has one, on all ranks, and shoal_error_message() that rank's message
 *  message  of the error; NULL where there is none
 * SHOAL_OK: all ranks came to the call, whatever the code. SHOAL_OUT_OF_STEP: they came to different calls,
 * or with other details; the next call may be the same again. SHOAL_TIMEOUT: not all of them came.
 * Collective. */
SHOAL_API int shoal_match(MPI_Comm comm, const char* call, const char* details, int* code,
                          const char* message);
/* shoal_match for a call on a dataset: also ranks on their way to shoal_sync, shoal_get and its like find
 * each other in it, at once; of those nobody goes on with the dataset. Collective. */
SHOAL_API int shoal_match_data(shoal_dataset* dataset, const char* call, const char* details, int* code,
                               const char* message);

/* ---- What Shoal cannot read ----------------------------------------------------------------- */

/* Attributes of types that Shoal has not (compound, enum, opaque, variable length, ...), which shoal_inq_att and
 * its like know nothing of: for tools that say what they leave out.
 *  variable  or a group; NULL: the file
 *  index     from 0
 *  name      NULL where there are no more
 *  type      in a word or two, "compound"; may be NULL
 * The texts live until the next definition, or the end of the dataset. Local. */
SHOAL_API int shoal_inq_unread_att(const shoal_dataset* dataset, const char* variable, int index,
                                   const char** name, const char** type);

/* ---- The language of messages -------------------------------------------------------------- */

/* SHOAL_SPEAK_C: the slowest dimension first, indices from 0; SHOAL_SPEAK_PIO: as C, and advice is in terms
 * of PIO's calls and of environment variables. */
enum { SHOAL_SPEAK_C = 0, SHOAL_SPEAK_FORTRAN = 1, SHOAL_SPEAK_PYTHON = 2, SHOAL_SPEAK_PIO = 3 };
/* In whose terms messages of this thread speak of dimensions, indices and arguments from now on; a dataset
 * keeps those of the call that opened it. Returns those before. Local. */
SHOAL_API int shoal_speak(int language);

#ifdef __cplusplus
}
#endif
#endif
