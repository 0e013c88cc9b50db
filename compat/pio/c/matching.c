/* SPDX-License-Identifier: BSD-3-Clause
 *
 * How ranks come together to a collective call: each says which one it has come to, with what arguments, and
 * what it found wrong with them; all learn the same code (docs/design/call_matching.md). After that what they
 * do in MPI waits for nobody.
 *
 * Calls of a file are matched among those of its dataset, those of an iosystem on its communicator.
 */
#include <stdarg.h>
#include <stdio.h>

#include "internal.h"

enum { k_details = 1024 };

/* Of what shoal_match gave: the code that all ranks have. */
static int outcome(int status, int agreed) {
  if (status != SHOAL_OK) return spio_code(status);
  return agreed == PIO_NOERR ? PIO_NOERR : spio_fail(agreed, "%s", shoal_error_message());
}

const char* spio_text(const char* text) {
  return text == NULL ? "(none)" : text;
}

#define DETAILS(FORMAT)                                  \
  char details[k_details];                               \
  va_list arguments;                                     \
  va_start(arguments, FORMAT);                           \
  vsnprintf(details, sizeof details, FORMAT, arguments); \
  va_end(arguments)

int spio_match_comm(MPI_Comm comm, const char* call, int code, const char* format, ...) {
  DETAILS(format);
  const int status = shoal_match(comm, call, details, &code, code == PIO_NOERR ? NULL : spio_message());
  return outcome(status, code);
}

int spio_match(const spio_system* system, const char* call, int code, const char* format, ...) {
  if (system->size == 1) return code;
  DETAILS(format);
  const int status =
      shoal_match(system->comm, call, details, &code, code == PIO_NOERR ? NULL : spio_message());
  return outcome(status, code);
}

int spio_match_file(const spio_file* file, const char* call, int code, const char* format, ...) {
  if (file->system->size == 1) return code;
  DETAILS(format);
  const int status =
      shoal_match_data(file->dataset, call, details, &code, code == PIO_NOERR ? NULL : spio_message());
  return outcome(status, code);
}

/* ---- Ids that this rank does not know ------------------------------------------------------- */

/* Where there is one file alone the call is one of it for the other ranks. */
int spio_no_file_of_all(const char* call, const char* matched, int ncid) {
  const spio_file* only = spio_only_file();
  int code = spio_fail(PIO_EBADID, "no file is open with the id %d (ids of files are from 128 to 511)", ncid);
  if (only != NULL) code = spio_match_file(only, matched, code, "id %d", ncid);
  return spio_end(NULL, call, code);
}

int spio_no_system_of_all(const char* call, const char* matched, int iosysid) {
  const spio_system* only = spio_only_system();
  int code = spio_fail(PIO_EBADID, "there is no iosystem with the id %d", iosysid);
  if (only != NULL) code = spio_match(only, matched, code, "id %d", iosysid);
  return spio_end(NULL, call, code);
}

/* ---- Writes that were refused --------------------------------------------------------------- */

void spio_note_write(spio_file* file, int code) {
  ++file->writes;
  if (code == PIO_NOERR || file->system->size == 1) return;
  spio_refused* refused = &file->refused;
  if (refused->code == PIO_NOERR) {
    refused->code = code;
    snprintf(refused->message, sizeof refused->message, "%s", spio_message());
  }
  refused->which = (refused->which ^ file->writes) * UINT64_C(0x9fb21c651e98df25);
}

int spio_end_write(spio_file* file, const char* call, int code) {
  spio_note_write(file, code);
  return spio_end_file(file, call, code);
}

/* What all ranks refused all were told; what some refused, the others hear here, as in a second call. */
int spio_match_refused(spio_file* file, const char* call, int* untold) {
  const spio_refused refused = file->refused;
  *untold = PIO_NOERR;
  int code =
      spio_match_file(file, call, PIO_NOERR, "refused writes %016llx", (unsigned long long)refused.which);
  if (code == PIO_NOERR || code == SPIO_EOUTOFSTEP) file->refused = (spio_refused){0};
  if (code != SPIO_EOUTOFSTEP) return code;
  char again[80];
  snprintf(again, sizeof again, "%s after refused writes", call);
  if (refused.code != PIO_NOERR) spio_fail(refused.code, "%s", refused.message);
  code = spio_match_file(file, again, refused.code, "-");
  if (code == SPIO_EOUTOFSTEP || code == PIO_EIO) return code;
  *untold = code;
  return PIO_NOERR;
}
