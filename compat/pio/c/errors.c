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

/* Codes are netCDF's, and so are the words: programs and people look for them. */
static const struct {
  int code;
  const char* words;
} k_words[] = {
    {PIO_NOERR, "No error"},
    {PIO_EBADID, "NetCDF: Not a valid ID"},
    {PIO_ENFILE, "NetCDF: Too many files open"},
    {PIO_EEXIST, "NetCDF: File exists && NC_NOCLOBBER"},
    {PIO_EINVAL, "NetCDF: Invalid argument"},
    {PIO_EPERM, "NetCDF: Write to read only"},
    {PIO_ENOTINDEFINE, "NetCDF: Operation not allowed in data mode"},
    {PIO_EINDEFINE, "NetCDF: Operation not allowed in define mode"},
    {PIO_EINVALCOORDS, "NetCDF: Index exceeds dimension bound"},
    {PIO_EMAXDIMS, "NetCDF: NC_MAX_DIMS or NC_MAX_VAR_DIMS exceeded"},
    {PIO_ENAMEINUSE, "NetCDF: String match to name in use"},
    {PIO_ENOTATT, "NetCDF: Attribute not found"},
    {PIO_EMAXATTS, "NetCDF: NC_MAX_ATTRS exceeded"},
    {PIO_EBADTYPE, "NetCDF: Not a valid data type or _FillValue type mismatch"},
    {PIO_EBADDIM, "NetCDF: Invalid dimension ID or name"},
    {PIO_EUNLIMPOS, "NetCDF: NC_UNLIMITED in the wrong index"},
    {PIO_EMAXVARS, "NetCDF: NC_MAX_VARS exceeded"},
    {PIO_ENOTVAR, "NetCDF: Variable not found"},
    {PIO_EGLOBAL, "NetCDF: Action prohibited on NC_GLOBAL varid"},
    {PIO_ENOTNC, "NetCDF: Unknown file format"},
    {PIO_ESTS, "NetCDF: In Fortran, string too short"},
    {PIO_EMAXNAME, "NetCDF: NC_MAX_NAME exceeded"},
    {PIO_EUNLIMIT, "NetCDF: NC_UNLIMITED size already in use"},
    {PIO_ENORECVARS, "NetCDF: nc_rec op when there are no record vars"},
    {PIO_ECHAR, "NetCDF: Attempt to convert between text & numbers"},
    {PIO_EEDGE, "NetCDF: Start+count exceeds dimension bound"},
    {PIO_ESTRIDE, "NetCDF: Illegal stride"},
    {PIO_EBADNAME, "NetCDF: Name contains illegal characters"},
    {PIO_ERANGE, "NetCDF: Numeric conversion not representable"},
    {PIO_ENOMEM, "NetCDF: Memory allocation (malloc) failure"},
    {PIO_EVARSIZE, "NetCDF: One or more variable sizes violate format constraints"},
    {PIO_EDIMSIZE, "NetCDF: Invalid dimension size"},
    {PIO_ETRUNC, "NetCDF: File likely truncated or possibly corrupted"},
    {PIO_EAXISTYPE, "NetCDF: Illegal axis type"},
    {PIO_EDAP, "NetCDF: DAP failure"},
    {PIO_ECURL, "NetCDF: libcurl failure"},
    {PIO_EIO, "NetCDF: I/O failure"},
    {PIO_ENODATA, "NetCDF: Variable has no data"},
    {PIO_EDAPSVC, "NetCDF: DAP server error"},
    {PIO_EDAS, "NetCDF: Malformed or inaccessible DAP DAS"},
    {PIO_EDDS, "NetCDF: Malformed or inaccessible DAP2 DDS or DAP4 DMR response"},
    {PIO_EDATADDS, "NetCDF: Malformed or inaccessible DAP2 DATADDS or DAP4 DAP response"},
    {PIO_EDAPURL, "NetCDF: Malformed URL"},
    {PIO_EDAPCONSTRAINT, "NetCDF: Malformed DAP Constraint"},
    {PIO_ETRANSLATION, "NetCDF: Untranslatable construct"},
    {-77, "NetCDF: Access failure"},
    {-78, "NetCDF: Authorization failure"},
    {-90, "NetCDF: file not found"},
    {-92, "NetCDF: internal library error; Please contact Unidata support"},
    {PIO_EHDFERR, "NetCDF: HDF error"},
    {PIO_ECANTREAD, "NetCDF: Can't read file"},
    {PIO_ECANTWRITE, "NetCDF: Can't write file"},
    {PIO_ECANTCREATE, "NetCDF: Can't create file"},
    {PIO_EFILEMETA, "NetCDF: Can't add HDF5 file metadata"},
    {PIO_EDIMMETA, "NetCDF: Can't define dimensional metadata"},
    {PIO_EATTMETA, "NetCDF: Can't open HDF5 attribute"},
    {PIO_EVARMETA, "NetCDF: Problem with variable metadata."},
    {PIO_ENOCOMPOUND, "NetCDF: Can't create HDF5 compound type"},
    {PIO_EATTEXISTS, "NetCDF: Attempt to create attribute that already exists"},
    {PIO_ENOTNC4, "NetCDF: Attempting netcdf-4 operation on netcdf-3 file"},
    {PIO_ESTRICTNC3, "NetCDF: Attempting netcdf-4 operation on strict nc3 netcdf-4 file"},
    {PIO_ENOTNC3, "NetCDF: Attempting netcdf-3 operation on netcdf-4 file"},
    {PIO_ENOPAR, "NetCDF: Parallel operation on file opened for non-parallel access"},
    {PIO_EPARINIT, "NetCDF: Error initializing for parallel access"},
    {PIO_EBADGRPID, "NetCDF: Bad group ID"},
    {PIO_EBADTYPID, "NetCDF: Bad type ID"},
    {PIO_ETYPDEFINED, "NetCDF: Type has already been defined and may not be edited"},
    {PIO_EBADFIELD, "NetCDF: Bad field ID"},
    {PIO_EBADCLASS, "NetCDF: Bad class"},
    {PIO_EMAPTYPE, "NetCDF: Mapped access for atomic types only"},
    {PIO_ELATEFILL, "NetCDF: Attempt to define fill value when data already exists."},
    {PIO_ELATEDEF, "NetCDF: Attempt to define var properties, like deflate, after enddef."},
    {PIO_EDIMSCALE, "NetCDF: Problem with HDF5 dimscales."},
    {PIO_ENOGRP, "NetCDF: No group found."},
    {PIO_ESTORAGE, "NetCDF: Cannot specify both contiguous and chunking."},
    {PIO_EBADCHUNK, "NetCDF: Bad chunk sizes."},
    {PIO_ENOTBUILT, "NetCDF: Attempt to use feature that was not turned on when netCDF was built."},
    {PIO_EDISKLESS, "NetCDF: Error in using diskless access"},
    {-130, "NetCDF: Extend Allocation error or file/directory exists"},
    {-131, "NetCDF: Can't open or create in memory"},
    {PIO_EFILTER, "NetCDF: Filter error: bad id or parameters or duplicate filter"},
    {PIO_ENOFILTER, "NetCDF: Filter error: undefined filter encountered"},
    {PIO_EINDEP, "PnetCDF: Attempt to call an independent function in collective mode"},
    {-220, "PnetCDF: File not found"},
    {-250, "PnetCDF: Inconsistent calls on the ranks"},
    {PIO_EBADIOTYPE, "Bad IO type"},
    {PIO_EVARDIMMISMATCH, "Variable dim mismatch in multivar call"},
};

static const char* words_of(int code) {
  if (code > 0) return strerror(code);
  for (size_t i = 0; i < sizeof k_words / sizeof k_words[0]; ++i)
    if (k_words[i].code == code) return k_words[i].words;
  return "Unknown Error: Unrecognized error code";
}

int spio_fail(int code, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  last_code = code;
  return code;
}

int spio_no_room(int code, const char* what, int limit) {
  if (code == PIO_ENFILE) return spio_fail(code, "%d %s are in use, and there can be no more", limit, what);
  return spio_fail(code, "no memory for the table of %s", what);
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

int spio_fail_no_file(int ncid) {
  return spio_fail(PIO_EBADID, "no file is open with the id %d (ids of files are from 128 to 511)", ncid);
}

int spio_fail_no_system(int iosysid) {
  return spio_fail(PIO_EBADID, "there is no iosystem with the id %d", iosysid);
}

int spio_no_file(const char* call, int ncid) {
  return spio_end(NULL, call, spio_fail_no_file(ncid));
}

int spio_no_system(const char* call, int iosysid) {
  return spio_end(NULL, call, spio_fail_no_system(iosysid));
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
