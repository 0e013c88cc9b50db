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
#include <string.h>

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

/* After a match in which ranks came to different calls: do some wait in a write that all others refused
 * before they came to theirs? Then all get the code of the lowest of those, otherwise PIO_NOERR. Collective.
 */
static int find_refused(const spio_file* file, const char* call, int refused) {
  const int of_write = refused || strcmp(call, SPIO_WRITE) == 0;
  int code = refused ? file->unanswered.code : PIO_NOERR;
  const int status = shoal_match_data(file->dataset, of_write ? "a refused write" : "no write", "-", &code,
                                      refused ? file->unanswered.message : NULL);
  return status == SHOAL_OK ? code : PIO_NOERR;
}

int spio_match_file(spio_file* file, const char* call, int code, const char* format, ...) {
  if (file->system->size == 1) return code;
  DETAILS(format);
  char wrong[512] = "";
  char differs[512] = "";
  if (code != PIO_NOERR) snprintf(wrong, sizeof wrong, "%s", spio_message());
  for (;;) {
    int agreed = code;
    const int status =
        shoal_match_data(file->dataset, call, details, &agreed, code == PIO_NOERR ? NULL : wrong);
    if (status == SHOAL_OK) file->unanswered = (spio_refused){0};
    const int result = outcome(status, agreed);
    if (status != SHOAL_OUT_OF_STEP) return result;
    snprintf(differs, sizeof differs, "%s", spio_message());
    const int refused = file->unanswered.which > 0;
    const int found = find_refused(file, call, refused);
    if (found == PIO_NOERR) return spio_fail(result, "%s", differs);
    if (!refused) return spio_fail(found, "%s", shoal_error_message());
    --file->unanswered.which; /* the others go on behind the write: this rank's call once more */
  }
}

/* ---- Ids that this rank does not know ------------------------------------------------------- */

/* Where there is one file alone the call is one of it for the other ranks. */
int spio_no_file_of_all(const char* call, const char* matched, int ncid) {
  spio_file* only = spio_only_file();
  int code = spio_fail_no_file(ncid);
  if (only != NULL) code = spio_match_file(only, matched, code, "id %d", ncid);
  return spio_end(NULL, call, code);
}

int spio_no_system_of_all(const char* call, const char* matched, int iosysid) {
  const spio_system* only = spio_only_system();
  int code = spio_fail_no_system(iosysid);
  if (only != NULL) code = spio_match(only, matched, code, "id %d", iosysid);
  return spio_end(NULL, call, code);
}

/* ---- Writes that were refused --------------------------------------------------------------- */

static void keep_refused(spio_refused* refused, int code) {
  if (refused->code != PIO_NOERR) return;
  refused->code = code;
  snprintf(refused->message, sizeof refused->message, "%s", spio_message());
}

void spio_refuse_unmatched(spio_file* file, int code) {
  if (file->system->size == 1) return;
  if (file->unanswered.which == 0) file->unanswered.code = PIO_NOERR;
  keep_refused(&file->unanswered, code);
  ++file->unanswered.which;
}

void spio_note_write(spio_file* file, int code) {
  ++file->writes;
  if (code == PIO_NOERR || file->system->size == 1) return;
  spio_refused* refused = &file->refused;
  keep_refused(refused, code);
  refused->which = (refused->which ^ file->writes) * UINT64_C(0x9fb21c651e98df25);
}

int spio_end_write(spio_file* file, const char* call, int code) {
  spio_note_write(file, code);
  return spio_end_file(file, call, code);
}

/* What all ranks refused all were told; what some refused, the others hear here. Ranks compare their writes
 * when all have come to this call: no match follows one that failed, as others than these may have been in
 * it, who come to no second one. */
int spio_match_refused(spio_file* file, const char* call, int* untold) {
  char next[80];
  *untold = PIO_NOERR;
  int code = spio_match_file(file, call, PIO_NOERR, "-");
  if (code != PIO_NOERR) return code;
  const spio_refused refused = file->refused;
  file->refused = (spio_refused){0};
  snprintf(next, sizeof next, "%s, its refused writes", call);
  code = spio_match_file(file, next, PIO_NOERR, "%016llx", (unsigned long long)refused.which);
  if (code != SPIO_EOUTOFSTEP) return code;
  if (refused.code != PIO_NOERR) spio_fail(refused.code, "%s", refused.message);
  snprintf(next, sizeof next, "%s, what they lacked", call);
  code = spio_match_file(file, next, refused.code, "-");
  if (code == SPIO_EOUTOFSTEP || code == PIO_EIO) return code;
  *untold = code;
  return PIO_NOERR;
}
