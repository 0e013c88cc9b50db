/* SPDX-License-Identifier: BSD-3-Clause
 *
 * What the programs share: lines that rank 0 prints for all ranks, and checks that are counted. What a
 * program prints is the same in each run, whoever comes first: two runs are compared line by line.
 */
#ifndef SHOAL_TESTS_DOORS_LINES_H
#define SHOAL_TESTS_DOORS_LINES_H

#include <stddef.h>

extern int my_rank, all_ranks; /* in MPI_COMM_WORLD, since begin() */

/* Starts MPI, and looks at the arguments: PROGRAM FOLDER [others]. Returns the folder. Collective. */
const char* begin(int* argc, char*** argv);
/* Ends MPI. Returns 0 if all checks of all ranks were good, otherwise 1. Collective. */
int finish(void);

/* FOLDER/name, in a buffer that the next call takes. */
const char* in_folder(const char* name);

/* One line "what: text", of what a rank says; where ranks differ "what: [0] text [1] text". Collective. */
void say(const char* what, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* Counts what is wrong, and tells it on standard error. Local. */
void check(int good, const char* format, ...) __attribute__((format(printf, 2, 3)));

/* Ends all ranks if a call that a program cannot go on without did not succeed. Local. */
#define NEEDS(CALL) needs(CALL, #CALL, __FILE__, __LINE__)
void needs(int code, const char* call, const char* file, int line);

/* The first and the number of the cells of part `part` of `parts` nearly equal ones of `all`. */
void part_of(long all, int parts, int part, long* first, long* count);

/* Which libraries answer calls of netCDF and PnetCDF, on standard error. Local. */
void tell_libraries(void);

#endif
