/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Codes, their words, and what is done about an error. The last error of this thread lives here.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

static _Thread_local char message[1024];
static _Thread_local int last_code; /* of the message */
static int default_handler = PIO_INTERNAL_ERROR;
static int log_level = -1;

static const struct {
  int code;
  const char* words;
} k_words[] = {
    {PIO_NOERR, "no error"},
    {PIO_EBADID, "no such iosystem, file or decomposition"},
    {PIO_ENFILE, "too many are in use"},
    {PIO_EEXIST, "the file exists"},
    {PIO_EINVAL, "invalid argument"},
    {PIO_EPERM, "the file is open for reading only"},
    {PIO_ENOTINDEFINE, "the file is not in define mode"},
    {PIO_EINDEFINE, "the file is in define mode"},
    {PIO_EINVALCOORDS, "index outside of the variable"},
    {PIO_EMAXDIMS, "too many dimensions"},
    {PIO_ENAMEINUSE, "the name is taken"},
    {PIO_ENOTATT, "no such attribute"},
    {PIO_EMAXATTS, "too many attributes"},
    {PIO_EBADTYPE, "no such type, or not one for this"},
    {PIO_EBADDIM, "no such dimension"},
    {PIO_EUNLIMPOS, "the unlimited dimension must be the first one"},
    {PIO_EMAXVARS, "too many variables"},
    {PIO_ENOTVAR, "no such variable"},
    {PIO_EGLOBAL, "not for the file as a whole"},
    {PIO_ENOTNC, "not a NetCDF file, or not of the format that was asked for"},
    {PIO_ESTS, "the text does not fit and was cut"},
    {PIO_EMAXNAME, "the name is too long"},
    {PIO_EUNLIMIT, "the format has one unlimited dimension, and it is taken"},
    {PIO_ENORECVARS, "there is no variable with records"},
    {PIO_ECHAR, "text and numbers are not converted into each other"},
    {PIO_EEDGE, "start and count go beyond the variable"},
    {PIO_ESTRIDE, "invalid stride"},
    {PIO_EBADNAME, "the name has characters that are not allowed"},
    {PIO_ERANGE, "a value does not fit the type"},
    {PIO_ENOMEM, "out of memory"},
    {PIO_EVARSIZE, "too large for the format"},
    {PIO_EDIMSIZE, "invalid length of a dimension"},
    {PIO_ETRUNC, "the file is shorter than its header says"},
    {PIO_EIO, "reading or writing failed"},
    {-92, "internal error"},
    {PIO_EHDFERR, "error in HDF5"},
    {PIO_ENOTNC4, "only netCDF-4 files have this"},
    {PIO_ESTRICTNC3, "the classic model does not have this"},
    {PIO_ELATEFILL, "too late to define a fill value: there is data"},
    {PIO_ELATEDEF, "too late: the variable's definition is in the file"},
    {PIO_ESTORAGE, "contiguous storage has no chunks"},
    {PIO_EBADCHUNK, "invalid chunk shape"},
    {PIO_ENOTBUILT, "not offered, or not in this build"},
    {PIO_EFILTER, "no code for this filter"},
    {PIO_ENOFILTER, "no such filter"},
    {-220, "no such file"},
    {-250, "ranks made different calls"},
    {PIO_EBADIOTYPE, "no such iotype, or not offered"},
    {PIO_EVARDIMMISMATCH, "the variables of one call have different dimensions"},
};

static const char* words_of(int code) {
  if (code > 0) return strerror(code);
  for (size_t i = 0; i < sizeof k_words / sizeof k_words[0]; ++i)
    if (k_words[i].code == code) return k_words[i].words;
  return "unknown error";
}

int spio_fail(int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  last_code = code;
  return code;
}

const char* spio_message(void) {
  return message;
}

int spio_default_handler(void) {
  return default_handler;
}

static const struct {
  int shoal, pio;
} k_codes[] = {
    {SHOAL_INVALID_ARGUMENT, PIO_EINVAL},
    {SHOAL_NOT_FOUND, PIO_EINVALCOORDS},
    {SHOAL_EXISTS, PIO_EEXIST},
    {SHOAL_PERMISSION, 13 /* EACCES */},
    {SHOAL_NO_SPACE, 28 /* ENOSPC */},
    {SHOAL_IO, PIO_EIO},
    {SHOAL_FORMAT, PIO_ENOTNC},
    {SHOAL_RANGE, PIO_ERANGE},
    {SHOAL_TYPE, PIO_ECHAR},
    {SHOAL_NOT_SUPPORTED, PIO_ENOTBUILT},
    {SHOAL_OVERLAP, PIO_EINVAL},
    {SHOAL_OUT_OF_STEP, -250},
    {SHOAL_TIMEOUT, PIO_EIO},
    {SHOAL_SETTING, PIO_EINVAL},
    {SHOAL_STATE, PIO_ENOTINDEFINE},
    {SHOAL_NO_MEMORY, PIO_ENOMEM},
    {SHOAL_MPI, PIO_EIO},
    {SHOAL_INTERNAL, -92},
};

int spio_code_for(int shoal_code, int not_found) {
  if (shoal_code == SHOAL_OK) return PIO_NOERR;
  int code = -92;
  for (size_t i = 0; i < sizeof k_codes / sizeof k_codes[0]; ++i)
    if (k_codes[i].shoal == shoal_code) code = k_codes[i].pio;
  if (shoal_code == SHOAL_NOT_FOUND) code = not_found;
  return spio_fail(code, "%s", shoal_error_message());
}

int spio_code(int shoal_code) {
  return spio_code_for(shoal_code, PIO_EINVALCOORDS);
}

int spio_shoal_code(int code) {
  for (size_t i = 0; i < sizeof k_codes / sizeof k_codes[0]; ++i)
    if (k_codes[i].pio == code) return k_codes[i].shoal;
  return SHOAL_INVALID_ARGUMENT;
}

int spio_earlier(spio_deferred* deferred, const char* of_what) {
  const int code = deferred->code;
  deferred->code = PIO_NOERR;
  return code == PIO_NOERR ? code
                           : spio_fail(code, "an earlier call of this %s failed (%s), and could not say so",
                                       of_what, words_of(code));
}

int spio_end_file(spio_file* file, const char* call, int code) {
  if (code == PIO_NOERR) code = spio_earlier(&file->deferred, "file");
  return spio_end(file->system, call, code);
}

int spio_end_system(spio_system* system, const char* call, int code) {
  if (code == PIO_NOERR) code = spio_earlier(&system->deferred, "iosystem");
  return spio_end(system, call, code);
}

int spio_end(spio_system* system, const char* call, int code) {
  if (code == PIO_NOERR) {
    if (log_level >= 3 && (system == NULL || system->rank == 0)) fprintf(stderr, "shoal: %s\n", call);
    return code;
  }
  if (last_code != code) spio_fail(code, "%s", words_of(code));
  const int handler = system == NULL ? default_handler : system->handler;
  if (handler == PIO_INTERNAL_ERROR) {
    char text[1400];
    snprintf(text, sizeof text, "%s: %s (code %d): %s", call, words_of(code), code, message);
    shoal_abort(system == NULL ? MPI_COMM_NULL : system->comm, spio_shoal_code(code), text);
  }
  if (log_level >= 0) fprintf(stderr, "shoal: %s: %s (code %d): %s\n", call, words_of(code), code, message);
  return code;
}

int spio_no_file(const char* call, int ncid) {
  return spio_end(
      NULL, call,
      spio_fail(PIO_EBADID, "no file is open with the id %d (ids of files are from 128 to 511)", ncid));
}

int spio_no_system(const char* call, int iosysid) {
  return spio_end(NULL, call, spio_fail(PIO_EBADID, "there is no iosystem with the id %d", iosysid));
}

int PIOc_strerror(int pioerr, char* errstr) {
  if (errstr == NULL) return spio_end(NULL, "PIOc_strerror", spio_fail(PIO_EINVAL, "no place for the text"));
  const char* words = words_of(pioerr);
  if (pioerr != PIO_NOERR && pioerr == last_code && message[0] != '\0' && strcmp(message, words) != 0)
    snprintf(errstr, PIO_MAX_NAME + 1, "%s: %.*s", words, PIO_MAX_NAME - 2 - (int)strlen(words), message);
  else
    snprintf(errstr, PIO_MAX_NAME + 1, "%s", words);
  return PIO_NOERR;
}

int PIOc_set_log_level(int level) {
  log_level = level;
  return PIO_NOERR;
}

int PIOc_set_global_log_level(int iosysid, int level) {
  SPIO_SYSTEM("PIOc_set_global_log_level", iosysid);
  log_level = level;
  return spio_end_system(system, "PIOc_set_global_log_level", PIO_NOERR);
}

static int is_handler(int method) {
  return method == PIO_INTERNAL_ERROR || method == PIO_BCAST_ERROR || method == PIO_RETURN_ERROR ||
         method == PIO_REDUCE_ERROR;
}

int PIOc_set_iosystem_error_handling(int iosysid, int method, int* old_method) {
  const char* call = "PIOc_set_iosystem_error_handling";
  spio_system* system = NULL;
  if (iosysid != PIO_DEFAULT && (system = spio_system_of(iosysid)) == NULL)
    return spio_no_system(call, iosysid);
  int* handler = system == NULL ? &default_handler : &system->handler;
  if (!is_handler(method))
    return spio_end(
        system, call,
        spio_fail(PIO_EINVAL, "%d is no error handler: -51 (internal), -52 (bcast), -53 (return)", method));
  if (old_method != NULL) *old_method = *handler;
  *handler = method;
  return PIO_NOERR; /* a deferred error waits for a call that reports: this one has none of its own */
}

/* These two give the handler before; below 0 as a code is, but in a range of its own. */
int PIOc_Set_IOSystem_Error_Handling(int iosysid, int method) {
  int before = PIO_NOERR;
  const int code = PIOc_set_iosystem_error_handling(iosysid, method, &before);
  return code != PIO_NOERR ? code : before;
}

int PIOc_Set_File_Error_Handling(int ncid, int method) {
  SPIO_FILE("PIOc_Set_File_Error_Handling", ncid);
  return PIOc_Set_IOSystem_Error_Handling(file->system->id, method);
}

void shoal_pio_defer_error(int id, int code) {
  spio_file* file = spio_file_of(id);
  spio_system* system = file != NULL ? file->system : spio_system_of(id);
  if (code == PIO_NOERR || system == NULL) return;
  spio_deferred* deferred = file != NULL ? &file->deferred : &system->deferred;
  if (deferred->code == PIO_NOERR) deferred->code = code;
  const int printed = deferred->printed == code;
  deferred->printed = code;
  if (system->rank == 0 && !printed)
    fprintf(stderr, "shoal: a call without a code failed: %s (code %d): %s\n", words_of(code), code,
            last_code == code ? message : "");
}

int shoal_pio_refuse(int id, const char* call, int code, const char* what) {
  spio_file* file = spio_file_of(id);
  spio_system* system = file != NULL ? file->system : spio_system_of(id);
  return spio_end(system, call, spio_fail(code, "%s", what));
}

int shoal_pio_iosystem_of(int ncid) {
  const spio_file* file = spio_file_of(ncid);
  return file == NULL ? PIO_EBADID : file->system->id;
}
