/* SPDX-License-Identifier: BSD-3-Clause
 *
 * The interface of PIO 2 in C, on top of Shoal. Programs that call PIO are compiled with this file and linked
 * with libpioc; docs/guide/pio.md says how, and what differs.
 *
 * For all functions:
 *  1. They return 0 or a code: netCDF's (negative), PIO's own (-500 and below) or the system's (positive).
 *     What happens then is up to the error handler of the iosystem: PIO_INTERNAL_ERROR, which is the default,
 *     prints a message and stops all ranks; the others return the code.
 *  2. Dimensions are in C order, the slowest first; ids and indices are from 0.
 *  3. Each is marked Collective (all ranks of the iosystem call it, in the same order) or Local. Collective
 *     ones are matched first: where one rank is wrong all get its code, where ranks make other calls -250.
 *     Collective in order: as Collective, but no rank waits for another in it, save where it says so.
 *  4. Output arguments may be NULL where nothing else is said.
 */
#ifndef SHOAL_PIO_H
#define SHOAL_PIO_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* netCDF's names: from its header where there is one, otherwise those that programs over PIO use. */
#ifdef __has_include
#if __has_include(<netcdf.h>) && !defined(SHOAL_PIO_WITHOUT_NETCDF)
#include <netcdf.h>
#define SHOAL_PIO_HAS_NETCDF 1
#endif
#endif
#ifndef SHOAL_PIO_HAS_NETCDF
typedef int nc_type;
#define NC_NAT 0
#define NC_BYTE 1
#define NC_CHAR 2
#define NC_SHORT 3
#define NC_INT 4
#define NC_LONG NC_INT
#define NC_FLOAT 5
#define NC_DOUBLE 6
#define NC_UBYTE 7
#define NC_USHORT 8
#define NC_UINT 9
#define NC_INT64 10
#define NC_UINT64 11
#define NC_STRING 12
#define NC_GLOBAL (-1)
#define NC_UNLIMITED 0L
#define NC_NOERR 0
#define NC_NOWRITE 0x0000
#define NC_WRITE 0x0001
#define NC_CLOBBER 0x0000
#define NC_NOCLOBBER 0x0004
#define NC_64BIT_DATA 0x0020
#define NC_CDF5 NC_64BIT_DATA
#define NC_CLASSIC_MODEL 0x0100
#define NC_64BIT_OFFSET 0x0200
#define NC_NETCDF4 0x1000
#define NC_FILL 0
#define NC_NOFILL 0x100
#define NC_CHUNKED 0
#define NC_CONTIGUOUS 1
#define NC_ENDIAN_NATIVE 0
#define NC_ENDIAN_LITTLE 1
#define NC_ENDIAN_BIG 2
#define NC_FORMAT_CLASSIC 1
#define NC_FORMAT_64BIT_OFFSET 2
#define NC_FORMAT_NETCDF4 3
#define NC_FORMAT_NETCDF4_CLASSIC 4
#define NC_FORMAT_64BIT_DATA 5
#define NC_FORMAT_CDF5 NC_FORMAT_64BIT_DATA
#define NC_MAX_NAME 256
#define NC_MAX_DIMS 1024
#define NC_MAX_ATTRS 8192
#define NC_MAX_VARS 8192
#define NC_MAX_VAR_DIMS 1024
#define NC_FILL_BYTE ((signed char)-127)
#define NC_FILL_CHAR ((char)0)
#define NC_FILL_SHORT ((short)-32767)
#define NC_FILL_INT (-2147483647)
#define NC_FILL_FLOAT (9.9692099683868690e+36f)
#define NC_FILL_DOUBLE (9.9692099683868690e+36)
#define NC_FILL_UBYTE (255)
#define NC_FILL_USHORT (65535)
#define NC_FILL_UINT (4294967295U)
#define NC_FILL_INT64 ((long long)-9223372036854775806LL)
#define NC_FILL_UINT64 ((unsigned long long)18446744073709551614ULL)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Constants --------------------------------------------------------------------------- */

#ifndef MPI_OFFSET
#define MPI_OFFSET MPI_LONG_LONG
#endif
#define PIO_OFFSET MPI_OFFSET
#define PIO_Offset MPI_Offset

#define PIO_DEFAULT (-1) /* PIOc_set_iosystem_error_handling: what new iosystems get */
#define PIO_GLOBAL (-1)
#define PIO_UNLIMITED 0

#define PIO_MAX_NAME 256
#define PIO_MAX_DIMS 1024
#define PIO_MAX_VARS 8192
#define PIO_MAX_ATTRS 8192
#define PIO_MAX_VAR_DIMS 1024
#define PIO_IODESC_START_ID 512  /* the first ioid */
#define PIO_IODESC_MAX_IDS 65024 /* so many; iosystems have higher numbers */

/* How files are made: the first two are classic formats, with PIO_64BIT_OFFSET or PIO_64BIT_DATA in the mode
 * CDF-2 or CDF-5; the next two, and HDF5's, are netCDF-4. Others are refused (PIO_EBADIOTYPE). */
enum PIO_IOTYPE {
  PIO_IOTYPE_PNETCDF = 1,
  PIO_IOTYPE_NETCDF = 2,
  PIO_IOTYPE_NETCDF4C = 3,
  PIO_IOTYPE_NETCDF4P = 4,
  PIO_IOTYPE_NETCDF4P_NCZARR = 5,
  PIO_IOTYPE_ADIOS = 6,
  PIO_IOTYPE_ADIOSC = 7,
  PIO_IOTYPE_HDF5 = 8,
  PIO_IOTYPE_HDF5C = 9
};

/* Taken and kept; Shoal chooses how cells move (docs/guide/pio.md). */
enum PIO_REARRANGERS { PIO_REARR_BOX = 1, PIO_REARR_SUBSET = 2, PIO_REARR_ANY = 3, PIO_REARR_CONTIG = 4 };

enum PIO_ERROR_HANDLERS {
  PIO_INTERNAL_ERROR = -51, /* print a message, stop all ranks */
  PIO_BCAST_ERROR = -52,    /* return the code */
  PIO_RETURN_ERROR = -53,   /* return the code */
  PIO_REDUCE_ERROR = -54    /* return the code */
};

enum PIO_REARR_COMM_TYPE { PIO_REARR_COMM_P2P = 0, PIO_REARR_COMM_COLL = 1 };
enum PIO_REARR_COMM_FC_DIR {
  PIO_REARR_COMM_FC_2D_ENABLE = 0,
  PIO_REARR_COMM_FC_1D_COMP2IO = 1,
  PIO_REARR_COMM_FC_1D_IO2COMP = 2,
  PIO_REARR_COMM_FC_2D_DISABLE = 3
};
#define PIO_REARR_COMM_UNLIMITED_PEND_REQ (-1)

/* Options of PIO's rearrangers: taken and given back. */
typedef struct rearr_comm_fc_opt {
  bool hs;
  bool isend;
  int max_pend_req;
} rearr_comm_fc_opt_t;
typedef struct rearr_opt {
  int comm_type;
  int fcd;
  rearr_comm_fc_opt_t comp2io;
  rearr_comm_fc_opt_t io2comp;
} rearr_opt_t;

/* Types. */
#define PIO_BYTE 1
#define PIO_CHAR 2
#define PIO_SHORT 3
#define PIO_INT 4
#define PIO_FLOAT 5
#define PIO_REAL 5
#define PIO_DOUBLE 6
#define PIO_UBYTE 7
#define PIO_USHORT 8
#define PIO_UINT 9
#define PIO_INT64 10
#define PIO_UINT64 11
#define PIO_STRING 12

/* Modes of PIOc_createfile and PIOc_openfile, and of PIOc_set_fill. */
#define PIO_NOWRITE 0x0000
#define PIO_WRITE 0x0001
#define PIO_CLOBBER 0x0000
#define PIO_NOCLOBBER 0x0004
#define PIO_64BIT_DATA 0x0020
#define PIO_CLASSIC_MODEL 0x0100
#define PIO_64BIT_OFFSET 0x0200
#define PIO_NETCDF4 0x1000
#define PIO_FILL 0
#define PIO_NOFILL 0x100

/* Chunks, byte order, filters. */
#define PIO_CHUNKED 0
#define PIO_CONTIGUOUS 1
#define PIO_ENDIAN_NATIVE 0
#define PIO_ENDIAN_LITTLE 1
#define PIO_ENDIAN_BIG 2
#define PIO_NOQUANTIZE 0
#define PIO_QUANTIZE_BITGROOM 1
#define PIO_QUANTIZE_GRANULARBR 2
#define PIO_QUANTIZE_BITROUND 3
#define PIO_QUANTIZE_MAX_FLOAT_NSD 7
#define PIO_QUANTIZE_MAX_FLOAT_NSB 23
#define PIO_QUANTIZE_MAX_DOUBLE_NSD 15
#define PIO_QUANTIZE_MAX_DOUBLE_NSB 52

/* Formats (PIOc_inq_format). */
#define PIO_FORMAT_CLASSIC 1
#define PIO_FORMAT_64BIT_OFFSET 2
#define PIO_FORMAT_NETCDF4 3
#define PIO_FORMAT_NETCDF4_CLASSIC 4
#define PIO_FORMAT_CDF5 5

/* Fill values that a type has by default. */
#define PIO_FILL_BYTE ((signed char)-127)
#define PIO_FILL_CHAR ((char)0)
#define PIO_FILL_SHORT ((short)-32767)
#define PIO_FILL_INT (-2147483647)
#define PIO_FILL_FLOAT (9.9692099683868690e+36f)
#define PIO_FILL_DOUBLE (9.9692099683868690e+36)
#define PIO_FILL_UBYTE (255)
#define PIO_FILL_USHORT (65535)
#define PIO_FILL_UINT (4294967295U)
#define PIO_FILL_INT64 ((long long)-9223372036854775806LL)
#define PIO_FILL_UINT64 ((unsigned long long)18446744073709551614ULL)

/* Codes: netCDF's numbers. */
#define PIO_NOERR 0
#define PIO_EBADID (-33)       /* no iosystem, file or decomposition of this id */
#define PIO_ENFILE (-34)       /* too many open files */
#define PIO_EEXIST (-35)       /* the file exists */
#define PIO_EINVAL (-36)       /* an argument makes no sense */
#define PIO_EPERM (-37)        /* the file is open for reading only */
#define PIO_ENOTINDEFINE (-38) /* classic file: not in define mode */
#define PIO_EINDEFINE (-39)    /* classic file: in define mode */
#define PIO_EINVALCOORDS (-40) /* start, index or record is outside of the variable */
#define PIO_EMAXDIMS (-41)
#define PIO_ENAMEINUSE (-42) /* the name is taken */
#define PIO_ENOTATT (-43)    /* no attribute of the name */
#define PIO_EMAXATTS (-44)
#define PIO_EBADTYPE (-45)  /* no such type, or not in this format */
#define PIO_EBADDIM (-46)   /* no dimension of this id or name */
#define PIO_EUNLIMPOS (-47) /* an unlimited dimension is not the first one */
#define PIO_EMAXVARS (-48)
#define PIO_ENOTVAR (-49) /* no variable of this id or name */
#define PIO_EGLOBAL (-50) /* not for PIO_GLOBAL */
#define PIO_ENOTNC (-51)  /* not a NetCDF file, or not of the iotype's format */
#define PIO_ESTS (-52)    /* text was cut */
#define PIO_EMAXNAME (-53)
#define PIO_EUNLIMIT (-54) /* a classic file has one unlimited dimension */
#define PIO_ENORECVARS (-55)
#define PIO_ECHAR (-56) /* text and numbers are not converted into each other */
#define PIO_EEDGE (-57) /* start + count is outside of the variable */
#define PIO_ESTRIDE (-58)
#define PIO_EBADNAME (-59)
#define PIO_ERANGE (-60) /* a value does not fit the type */
#define PIO_ENOMEM (-61)
#define PIO_EVARSIZE (-62) /* too large for the format */
#define PIO_EDIMSIZE (-63)
#define PIO_ETRUNC (-64)
#define PIO_EAXISTYPE (-65)
#define PIO_EDAP (-66)
#define PIO_ECURL (-67)
#define PIO_EIO (-68) /* reading or writing failed */
#define PIO_ENODATA (-69)
#define PIO_EDAPSVC (-70)
#define PIO_EDAS (-71)
#define PIO_EDDS (-72)
#define PIO_EDATADDS (-73)
#define PIO_EDAPURL (-74)
#define PIO_EDAPCONSTRAINT (-75)
#define PIO_ETRANSLATION (-76)
#define PIO_EHDFERR (-101)
#define PIO_ECANTREAD (-102)
#define PIO_ECANTWRITE (-103)
#define PIO_ECANTCREATE (-104)
#define PIO_EFILEMETA (-105)
#define PIO_EDIMMETA (-106)
#define PIO_EATTMETA (-107)
#define PIO_EVARMETA (-108)
#define PIO_ENOCOMPOUND (-109)
#define PIO_EATTEXISTS (-110)
#define PIO_ENOTNC4 (-111) /* not in classic formats */
#define PIO_ESTRICTNC3 (-112)
#define PIO_ENOTNC3 (-113)
#define PIO_ENOPAR (-114)
#define PIO_EPARINIT (-115)
#define PIO_EBADGRPID (-116)
#define PIO_EBADTYPID (-117)
#define PIO_ETYPDEFINED (-118)
#define PIO_EBADFIELD (-119)
#define PIO_EBADCLASS (-120)
#define PIO_EMAPTYPE (-121)
#define PIO_ELATEFILL (-122)
#define PIO_ELATEDEF (-123) /* too late: the variable's definition is in the file */
#define PIO_EDIMSCALE (-124)
#define PIO_ENOGRP (-125)
#define PIO_ESTORAGE (-126)
#define PIO_EBADCHUNK (-127)
#define PIO_ENOTBUILT (-128) /* not offered, or not in this build */
#define PIO_EDISKLESS (-129)
#define PIO_EFILTER (-132)   /* no code for the filter */
#define PIO_ENOFILTER (-136) /* the variable does not have the filter */
#define PIO_EINDEP (-203)
#define PIO_FIRST_ERROR_CODE (-500)
#define PIO_EBADIOTYPE (-500)      /* no such iotype, or not offered */
#define PIO_EVARDIMMISMATCH (-501) /* variables of one call have other dimensions */
#define PIO_EINTERNAL PIO_EVARDIMMISMATCH
#define PIO_REQ_NULL (-2)

/* ---- Iosystems ---------------------------------------------------------------------------- */

/* A communicator for files, of which I/O ranks are (base + i * stride) mod ranks, i = 0 .. num_iotasks - 1.
 * What put_var, put_att and definitions give counts from rank `base`; the numbers are kept for inquiry, and
 * with SHOAL_PIO_IO_TASKS=use these ranks store. PIO_EINVAL: num_iotasks below 1, num_iotasks * stride above
 * the number of ranks, another rearranger than PIO_REARR_... Collective over comm. */
int PIOc_Init_Intracomm(MPI_Comm comm, int num_iotasks, int stride, int base, int rearr, int* iosysidp);
/* The same with a communicator of Fortran. rearr_opts may be NULL. */
int PIOc_Init_Intracomm_from_F90(int f90_comm, int num_iotasks, int stride, int base, int rearr,
                                 rearr_opt_t* rearr_opts, int* iosysidp);
/* Asynchronous: the ranks io_proc_list of world wait until all components have called PIOc_finalize; each of
 * component_count components computes on num_procs_per_comp[i] ranks, proc_list[i], and stores its files
 * itself. io_comm, comp_comm[component_count]: MPI_COMM_NULL on ranks that are not in them; may be NULL.
 * proc_list NULL: the ranks after the I/O ranks, in order; io_proc_list NULL: the first ones.
 * iosysidp[component_count]. Collective over world. */
int PIOc_init_async(MPI_Comm world, int num_io_procs, int* io_proc_list, int component_count,
                    int* num_procs_per_comp, int** proc_list, MPI_Comm* io_comm, MPI_Comm* comp_comm,
                    int rearranger, int* iosysidp);
/* The same with communicators that exist. Collective over world. */
int PIOc_init_async_from_comms(MPI_Comm world, int component_count, MPI_Comm* comp_comm, MPI_Comm io_comm,
                               int rearranger, int* iosysidp);
/* SCORPIO's name of it. peer_comm has all ranks. Collective over it. */
int PIOc_init_intercomm(int component_count, MPI_Comm peer_comm, const MPI_Comm* comp_comms, MPI_Comm io_comm,
                        int rearranger, int* iosysidp);
/* For Fortran: proc_list is [component_count][largest of num_procs_per_comp], communicators are Fortran's. */
int PIOc_init_async_from_F90(int f90_world, int num_io_procs, int* io_proc_list, int component_count,
                             int* num_procs_per_comp, int* proc_list, int* f90_io_comm, int* f90_comp_comm,
                             int rearranger, int* iosysidp);
int PIOc_init_async_comms_from_F90(int f90_world, int component_count, int* f90_comp_comms, int f90_io_comm,
                                   int rearranger, int* iosysidp);
/* SCORPIO's name of that, for Fortran. */
int PIOc_Init_Intercomm_from_F90(int component_count, int f90_peer_comm, const int* f90_comp_comms,
                                 int f90_io_comm, int rearranger, int* iosysidp);
/* Close files that are open, give back the iosystem. Collective. */
int PIOc_finalize(int iosysid);
int PIOc_free_iosystem(int iosysid);

/* Local, the same on all ranks but iam_iotask and iotask_rank (-1 on a rank that is none). */
int PIOc_iam_iotask(int iosysid, bool* ioproc);
int PIOc_iotask_rank(int iosysid, int* iorank);
int PIOc_iosystem_is_active(int iosysid, bool* active); /* of an unknown id: false, and no handler acts */
int PIOc_get_numiotasks(int iosysid, int* numiotasks);
int PIOc_iotype_available(int iotype); /* 1 or 0 */

/* Local. Options of rearrangers: kept, no more. Hints for files made later: striping_factor, striping_unit,
 * nc_header_align_size, nc_var_align_size are settings of Shoal, others go to MPI-IO. */
int PIOc_set_rearr_opts(int iosysid, int comm_type, int fcd, bool enable_hs_c2i, bool enable_isend_c2i,
                        int max_pend_req_c2i, bool enable_hs_i2c, bool enable_isend_i2c,
                        int max_pend_req_i2c);
int PIOc_set_hint(int iosysid, const char* hint, const char* hintval);
/* Local; of netCDF's chunk cache: kept and given back, Shoal has none. */
int PIOc_set_chunk_cache(int iosysid, int iotype, PIO_Offset size, PIO_Offset nelems, float preemption);
int PIOc_get_chunk_cache(int iosysid, int iotype, PIO_Offset* sizep, PIO_Offset* nelemsp, float* preemptionp);
/* Local; kept, no more. set_buffer_size_limit gives the one before; below 0: nothing changes. */
int PIOc_set_blocksize(int newblocksize);
PIO_Offset PIOc_set_buffer_size_limit(PIO_Offset limit);

/* SCORPIO's; Local. The iosystem of a file, -1: there is none. */
int PIOc_get_iosystem(int ncid);
/* SCORPIO's; Local. The version of PIO whose interface this is; as the hash, Shoal's own: "shoal-0.2.0". */
int PIOc_get_version_major(void);
int PIOc_get_version_minor(void);
int PIOc_get_version_patch(void);
int PIOc_get_version_string(char* text, int size);
int PIOc_get_version(int* major, int* minor, int* patch, char* text, int size);
int PIOc_get_version_hash(char* text, int size);

/* ---- Errors: Local ------------------------------------------------------------------------ */

/* What a code means; of the last one of this rank with Shoal's message after it. errstr has PIO_MAX_NAME + 1
 * bytes. */
int PIOc_strerror(int pioerr, char* errstr);
/* 0 and more: each error is printed, 3 and more: each call of files and decompositions, too. */
int PIOc_set_log_level(int level);
int PIOc_set_global_log_level(int iosysid, int level);
/* The handler of an iosystem; the first form, and that of a file, return the one before. */
int PIOc_Set_IOSystem_Error_Handling(int iosysid, int method);
int PIOc_set_iosystem_error_handling(int iosysid, int method, int* old_method);
int PIOc_Set_File_Error_Handling(int ncid, int method);

/* ---- Decompositions ------------------------------------------------------------------------ */

/* Which cell of an array of shape gdimlen[ndims] each of this rank's maplen values is.
 *  pio_type          of the values in memory
 *  compmap [maplen]  from 1, row-major; 0 or less: a hole. init_decomp: from 0; below 0: a hole
 *  rearr, iostart, iocount  not looked at, but for a rearranger that does not exist; may be NULL
 * A cell may come twice: in a write the lowest rank's counts, and there the last one; ReadOnly ones are not
 * for writing. PIO_EINVAL on all ranks where an index is outside of the shape. Collective. */
int PIOc_InitDecomp(int iosysid, int pio_type, int ndims, const int* gdimlen, int maplen,
                    const PIO_Offset* compmap, int* ioidp, const int* rearr, const PIO_Offset* iostart,
                    const PIO_Offset* iocount);
int PIOc_InitDecomp_ReadOnly(int iosysid, int pio_type, int ndims, const int* gdimlen, int maplen,
                             const PIO_Offset* compmap, int* ioidp, const int* rearr,
                             const PIO_Offset* iostart, const PIO_Offset* iocount);
int PIOc_init_decomp(int iosysid, int pio_type, int ndims, const int* gdimlen, int maplen,
                     const PIO_Offset* compmap, int* ioidp, int rearranger, const PIO_Offset* iostart,
                     const PIO_Offset* iocount);
int PIOc_init_decomp_ReadOnly(int iosysid, int pio_type, int ndims, const int* gdimlen, int maplen,
                              const PIO_Offset* compmap, int* ioidp, int rearranger,
                              const PIO_Offset* iostart, const PIO_Offset* iocount);
/* This rank has the box start[ndims], from 0, count[ndims]. Collective. */
int PIOc_InitDecomp_bc(int iosysid, int pio_type, int ndims, const int* gdimlen, const long int* start,
                       const long int* count, int* ioidp);
/* iosysid may be the id of a file, which is synced before. Collective. */
int PIOc_freedecomp(int iosysid, int ioid);
/* Length of this rank's list. An error code where there is no such ioid. Local. */
int PIOc_get_local_array_size(int ioid);

/* Lists in files. readmap and writemap: PIO's text form; the list is from 1, arrays are malloc'ed. On another
 * number of ranks than the file is for, readmap gives each an even part. write_decomp writes an ioid so. The
 * NetCDF form: write_nc_decomp, read_nc_decomp (for as many ranks: PIO_EINVAL); title and history may be
 * NULL, and have PIO_MAX_NAME + 1 bytes in reading. Collective over comm, or the iosystem. */
int PIOc_readmap(const char* file, int* ndims, int** gdims, PIO_Offset* fmaplen, PIO_Offset** map,
                 MPI_Comm comm);
int PIOc_readmap_from_f90(const char* file, int* ndims, int** gdims, PIO_Offset* maplen, PIO_Offset** map,
                          int f90_comm);
int PIOc_writemap(const char* file, int ndims, const int* gdims, PIO_Offset maplen, const PIO_Offset* map,
                  MPI_Comm comm);
int PIOc_writemap_from_f90(const char* file, int ndims, const int* gdims, PIO_Offset maplen,
                           const PIO_Offset* map, int f90_comm);
int PIOc_write_decomp(const char* file, int iosysid, int ioid, MPI_Comm comm);
int PIOc_write_nc_decomp(int iosysid, const char* filename, int cmode, int ioid, const char* title,
                         const char* history, int fortran_order);
int PIOc_read_nc_decomp(int iosysid, const char* filename, int* ioid, MPI_Comm comm, int pio_type,
                        char* title, char* history, int* fortran_order);

/* ---- Distributed arrays -------------------------------------------------------------------- */

/* Which index of its first dimension, from 0, a variable with one dimension more than the decomposition is
 * written and read at. Below 0: none. Local. */
int PIOc_setframe(int ncid, int varid, int frame);
int PIOc_advanceframe(int ncid, int varid); /* the next one */
/* Write this rank's values array[arraylen]. They are copied. fillvalue [1], of the decomposition's
 * type, may be NULL: compared with the variable's where fill mode is on (PIO_EINVAL); that of the first write
 * which leaves cells out becomes the _FillValue of a variable that has none (the lowest rank's that gives
 * one; PIO_ERANGE: it does not fit the variable's type). PIO_EINVAL: arraylen is below the list's length,
 * there is no frame where one is needed, dimensions that do not fit. Collective in order; ranks meet in the
 * first write of a decomposition, after definitions, in define mode, and in the first write of such a
 * variable. In others what one rank has wrong it is told at once, and all are in sync, closefile or
 * finalize. */
int PIOc_write_darray(int ncid, int varid, int ioid, PIO_Offset arraylen, const void* array,
                      const void* fillvalue);
/* nvars variables at once: array[nvars][arraylen], frame[nvars] or NULL for variables without records,
 * fillvalue[nvars], may be NULL. flushtodisk: sync afterwards. PIO_EVARDIMMISMATCH: their dimensions differ.
 */
int PIOc_write_darray_multi(int ncid, const int* varids, int ioid, int nvars, PIO_Offset arraylen,
                            const void* array, const int* frame, void** fillvalue, bool flushtodisk);
/* Read them; holes stay as they are. Collective. */
int PIOc_read_darray(int ncid, int varid, int ioid, PIO_Offset arraylen, void* array);

/* ---- Files --------------------------------------------------------------------------------- */

/* Make a file, of the format that iotype and mode say (create: mode alone, which is classic or PIO_NETCDF4);
 * open one (*iotype is set to what it is). createfile sets no-fill mode. openfile opens every format
 * with any iotype; openfile2 and open refuse others than the iotype's (PIO_ENOTNC). Collective. */
int PIOc_createfile(int iosysid, int* ncidp, const int* iotype, const char* fname, int mode);
int PIOc_create(int iosysid, const char* path, int cmode, int* ncidp);
int PIOc_openfile(int iosysid, int* ncidp, int* iotype, const char* fname, int mode);
int PIOc_openfile2(int iosysid, int* ncidp, int* iotype, const char* fname, int mode);
int PIOc_openfile_retry(int iosysid, int* ncidp, int* iotype, const char* fname, int mode, int retry);
int PIOc_open(int iosysid, const char* path, int mode, int* ncidp);
/* Errors of write_darray, and values of put_var that do not fit, come out in sync and closefile, unless all
 * ranks were told in the call. Collective. */
int PIOc_sync(int ncid);
int PIOc_closefile(int ncid);
int PIOc_deletefile(int iosysid, const char* filename); /* Collective. */
/* Begin to define; what was defined is written in enddef. A netCDF-4 file begins by itself. PIO_ENOTINDEFINE:
 * enddef where nothing was begun. Collective. */
int PIOc_redef(int ncid);
int PIOc_enddef(int ncid);
int PIOc_File_is_Open(int ncid); /* 1 or 0. Local. */

/* What is in a file: Local. */
int PIOc_inq(int ncid, int* ndimsp, int* nvarsp, int* ngattsp, int* unlimdimidp);
int PIOc_inq_ndims(int ncid, int* ndimsp);
int PIOc_inq_nvars(int ncid, int* nvarsp);
int PIOc_inq_natts(int ncid, int* ngattsp);
int PIOc_inq_unlimdim(int ncid, int* unlimdimidp); /* -1: there is none */
int PIOc_inq_unlimdims(int ncid, int* nunlimdimsp, int* unlimdimidsp);
int PIOc_inq_format(int ncid, int* formatp);
int PIOc_inq_type(int ncid, nc_type xtype, char* name, PIO_Offset* sizep);

/* ---- Dimensions and variables: Local what inquires, Collective what defines ----------------- */

int PIOc_def_dim(int ncid, const char* name, PIO_Offset len, int* idp); /* len 0: unlimited */
int PIOc_rename_dim(int ncid, int dimid, const char* name);
int PIOc_inq_dim(int ncid, int dimid, char* name, PIO_Offset* lenp);
int PIOc_inq_dimid(int ncid, const char* name, int* idp);
int PIOc_inq_dimname(int ncid, int dimid, char* name);
int PIOc_inq_dimlen(int ncid, int dimid, PIO_Offset* lenp);

/* An unlimited dimension only as the first one (PIO_EINVAL). */
int PIOc_def_var(int ncid, const char* name, nc_type xtype, int ndims, const int* dimidsp, int* varidp);
int PIOc_rename_var(int ncid, int varid, const char* name);
int PIOc_inq_varid(int ncid, const char* name, int* varidp);
int PIOc_inq_var(int ncid, int varid, char* name, nc_type* xtypep, int* ndimsp, int* dimidsp, int* nattsp);
int PIOc_inq_varname(int ncid, int varid, char* name);
int PIOc_inq_vartype(int ncid, int varid, nc_type* xtypep);
int PIOc_inq_varndims(int ncid, int varid, int* ndimsp);
int PIOc_inq_vardimid(int ncid, int varid, int* dimidsp);
int PIOc_inq_varnatts(int ncid, int varid, int* nattsp);

/* Fill mode of variables defined from now on, PIO_FILL or PIO_NOFILL; of one variable: no_fill not 0 is none,
 * fill_value [1] of the variable's type, NULL: the type's default. */
int PIOc_set_fill(int ncid, int fillmode, int* old_modep);
int PIOc_def_var_fill(int ncid, int varid, int no_fill, const void* fill_value);
int PIOc_inq_var_fill(int ncid, int varid, int* no_fill, void* fill_valuep);

/* netCDF-4 only (PIO_ENOTNC4), and before the variable is in the file (PIO_ELATEDEF). Filters that Shoal has
 * no code for are PIO_EFILTER. Quantizing: PIO_QUANTIZE_GRANULARBR, PIO_QUANTIZE_BITROUND. */
int PIOc_def_var_deflate(int ncid, int varid, int shuffle, int deflate, int deflate_level);
int PIOc_inq_var_deflate(int ncid, int varid, int* shufflep, int* deflatep, int* deflate_levelp);
int PIOc_def_var_chunking(int ncid, int varid, int storage, const PIO_Offset* chunksizesp);
int PIOc_inq_var_chunking(int ncid, int varid, int* storagep, PIO_Offset* chunksizesp);
int PIOc_def_var_endian(int ncid, int varid, int endian);
int PIOc_inq_var_endian(int ncid, int varid, int* endianp);
int PIOc_set_var_chunk_cache(int ncid, int varid, PIO_Offset size, PIO_Offset nelems, float preemption);
int PIOc_get_var_chunk_cache(int ncid, int varid, PIO_Offset* sizep, PIO_Offset* nelemsp, float* preemptionp);
int PIOc_def_var_filter(int ncid, int varid, unsigned int id, size_t nparams, unsigned int* params);
int PIOc_inq_var_filter_ids(int ncid, int varid, size_t* nfiltersp, unsigned int* ids);
int PIOc_inq_var_filter_info(int ncid, int varid, unsigned int id, size_t* nparamsp, unsigned int* params);
int PIOc_inq_filter_avail(int ncid, unsigned int id); /* 0 or PIO_ENOFILTER */
int PIOc_def_var_zstandard(int ncid, int varid, int level);
int PIOc_inq_var_zstandard(int ncid, int varid, int* hasfilterp, int* levelp);
int PIOc_def_var_bzip2(int ncid, int varid, int level);
int PIOc_inq_var_bzip2(int ncid, int varid, int* hasfilterp, int* levelp);
int PIOc_def_var_szip(int ncid, int varid, int options_mask, int pixels_per_block);
int PIOc_inq_var_szip(int ncid, int varid, int* options_maskp, int* pixels_per_blockp);
int PIOc_def_var_quantize(int ncid, int varid, int quantize_mode, int nsd);
int PIOc_inq_var_quantize(int ncid, int varid, int* quantize_mode, int* nsdp);

/* ---- Attributes: Local what inquires, Collective what puts and changes ---------------------- */

/* The values of rank `base` go to the file. Of put_att the values are of type xtype, of put_att_TYPE of TYPE,
 * converted to xtype (PIO_ERANGE on all ranks where one of these does not fit). */
int PIOc_put_att(int ncid, int varid, const char* name, nc_type xtype, PIO_Offset len, const void* op);
int PIOc_get_att(int ncid, int varid, const char* name, void* ip);
int PIOc_inq_att(int ncid, int varid, const char* name, nc_type* xtypep, PIO_Offset* lenp);
int PIOc_inq_attid(int ncid, int varid, const char* name, int* idp);
int PIOc_inq_attlen(int ncid, int varid, const char* name, PIO_Offset* lenp);
int PIOc_inq_atttype(int ncid, int varid, const char* name, nc_type* xtypep);
int PIOc_inq_attname(int ncid, int varid, int attnum, char* name);
int PIOc_rename_att(int ncid, int varid, const char* name, const char* newname);
int PIOc_del_att(int ncid, int varid, const char* name);
int PIOc_copy_att(int incid, int ivarid, const char* name, int oncid, int ovarid);

/* ---- Families, one function for each type in memory ---------------------------------------- */

/* X(name, type) for each. */
#define SHOAL_PIO_NUMBERS(X) \
  X(schar, signed char)      \
  X(short, short)            \
  X(int, int)                \
  X(float, float)            \
  X(double, double)          \
  X(uchar, unsigned char)    \
  X(ushort, unsigned short)  \
  X(uint, unsigned int)      \
  X(longlong, long long)     \
  X(ulonglong, unsigned long long)

/* Attributes. Text has no type in the file but PIO_CHAR. */
int PIOc_put_att_text(int ncid, int varid, const char* name, PIO_Offset len, const char* op);
int PIOc_get_att_text(int ncid, int varid, const char* name, char* ip);
#define SHOAL_PIO_ATT(NAME, TYPE)                                                               \
  int PIOc_put_att_##NAME(int ncid, int varid, const char* name, nc_type xtype, PIO_Offset len, \
                          const TYPE* op);                                                      \
  int PIOc_get_att_##NAME(int ncid, int varid, const char* name, TYPE* ip);
SHOAL_PIO_NUMBERS(SHOAL_PIO_ATT)
SHOAL_PIO_ATT(long, long)
#undef SHOAL_PIO_ATT

/* Variables that are not distributed: whole (var), one value (var1), a box (vara), every stride-th value of
 * one (vars), and with distances in memory (varm: PIO_EINVAL but for those of a contiguous array). Put: rank
 * `base`'s values count; Collective. Get: the same values on all ranks; Collective.
 * The forms without a type have values of the variable's type. PIO_EINVALCOORDS, PIO_EEDGE: start, start +
 * count outside of the variable; PIO_ECHAR: text and numbers. */
#define SHOAL_PIO_VARS(SUFFIX, TYPE)                                                               \
  int PIOc_get_var##SUFFIX(int ncid, int varid, TYPE* buf);                                        \
  int PIOc_put_var##SUFFIX(int ncid, int varid, const TYPE* buf);                                  \
  int PIOc_get_var1##SUFFIX(int ncid, int varid, const PIO_Offset* index, TYPE* buf);              \
  int PIOc_put_var1##SUFFIX(int ncid, int varid, const PIO_Offset* index, const TYPE* buf);        \
  int PIOc_get_vara##SUFFIX(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count, \
                            TYPE* buf);                                                            \
  int PIOc_put_vara##SUFFIX(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count, \
                            const TYPE* buf);                                                      \
  int PIOc_get_vars##SUFFIX(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count, \
                            const PIO_Offset* stride, TYPE* buf);                                  \
  int PIOc_put_vars##SUFFIX(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count, \
                            const PIO_Offset* stride, const TYPE* buf);
#define SHOAL_PIO_VARM(SUFFIX, TYPE)                                                               \
  int PIOc_get_varm##SUFFIX(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count, \
                            const PIO_Offset* stride, const PIO_Offset* imap, TYPE* buf);          \
  int PIOc_put_varm##SUFFIX(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count, \
                            const PIO_Offset* stride, const PIO_Offset* imap, const TYPE* buf);
/* The form of SCORPIO: bufcount elements of a type of MPI. MPI_BYTE: of the variable's own type, counted in
 * bytes; MPI_DATATYPE_NULL: of that, and bufcount is not looked at. */
int PIOc_get_varm(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count,
                  const PIO_Offset* stride, const PIO_Offset* imap, void* buf, PIO_Offset bufcount,
                  MPI_Datatype buftype);
int PIOc_put_varm(int ncid, int varid, const PIO_Offset* start, const PIO_Offset* count,
                  const PIO_Offset* stride, const PIO_Offset* imap, const void* buf, PIO_Offset bufcount,
                  MPI_Datatype buftype);
/* A distributed array, as write_darray and read_darray with the frame recnum. */
#define SHOAL_PIO_VARD(SUFFIX, TYPE)                                                                \
  int PIOc_get_vard##SUFFIX(int ncid, int varid, int decompid, const PIO_Offset recnum, TYPE* buf); \
  int PIOc_put_vard##SUFFIX(int ncid, int varid, int decompid, const PIO_Offset recnum, const TYPE* buf);
#define SHOAL_PIO_ALL(NAME, TYPE) \
  SHOAL_PIO_VARS(_##NAME, TYPE)   \
  SHOAL_PIO_VARM(_##NAME, TYPE)   \
  SHOAL_PIO_VARD(_##NAME, TYPE)
SHOAL_PIO_NUMBERS(SHOAL_PIO_ALL)
SHOAL_PIO_ALL(text, char)
SHOAL_PIO_VARS(_long, long)
SHOAL_PIO_VARM(_long, long)
SHOAL_PIO_VARS(, void)
SHOAL_PIO_VARD(, void)

/* Left out: netCDF's own calls through PIO (NC_PIO), which a netCDF library would have to hand on. Where the
 * compiler can, it says so at each call; the linker finds none of them anyway. */
#ifdef __has_attribute
#if __has_attribute(error)
#define SHOAL_PIO_LEFT_OUT                                                                            \
  __attribute__((                                                                                     \
      error("PIO on Shoal does not offer netCDF's own calls through PIO: call PIOc_... in its place " \
            "(docs/guide/pio.md)")))
int nc_def_iosystem(MPI_Comm comm, int num_iotasks, int stride, int base, int rearr,
                    int* iosysidp) SHOAL_PIO_LEFT_OUT;
int nc_def_async(MPI_Comm world, int num_io_procs, int* io_proc_list, int component_count,
                 int* num_procs_per_comp, int** proc_list, MPI_Comm* io_comm, MPI_Comm* comp_comm,
                 int rearranger, int* iosysidp) SHOAL_PIO_LEFT_OUT;
int nc_set_iosystem(int iosysid) SHOAL_PIO_LEFT_OUT;
int nc_get_iosystem(int* iosysid) SHOAL_PIO_LEFT_OUT;
int nc_free_iosystem(int iosysid) SHOAL_PIO_LEFT_OUT;
int nc_def_decomp(int iosysid, int pio_type, int ndims, const int* gdimlen, int maplen, const size_t* compmap,
                  int* ioidp, int rearranger, const size_t* iostart,
                  const size_t* iocount) SHOAL_PIO_LEFT_OUT;
int nc_free_decomp(int ioid) SHOAL_PIO_LEFT_OUT;
#define SHOAL_PIO_NC_VARD(SUFFIX, TYPE)                                                            \
  int nc_get_vard##SUFFIX(int ncid, int varid, int decompid, const size_t recnum, TYPE* buf)       \
      SHOAL_PIO_LEFT_OUT;                                                                          \
  int nc_put_vard##SUFFIX(int ncid, int varid, int decompid, const size_t recnum, const TYPE* buf) \
      SHOAL_PIO_LEFT_OUT;
#define SHOAL_PIO_NC_VARD_OF(NAME, TYPE) SHOAL_PIO_NC_VARD(_##NAME, TYPE)
SHOAL_PIO_NUMBERS(SHOAL_PIO_NC_VARD_OF)
SHOAL_PIO_NC_VARD(_text, char)
SHOAL_PIO_NC_VARD(, void)
#undef SHOAL_PIO_NC_VARD_OF
#undef SHOAL_PIO_NC_VARD
#undef SHOAL_PIO_LEFT_OUT
#endif
#endif
#undef SHOAL_PIO_ALL
#undef SHOAL_PIO_VARS
#undef SHOAL_PIO_VARM
#undef SHOAL_PIO_VARD
#undef SHOAL_PIO_NUMBERS

/* Programs for SCORPIO define SHOAL_PIO_SCORPIO: these four then take the sizes (and ioid) that it wants. */
#ifdef SHOAL_PIO_SCORPIO
static inline int shoal_pio_copy_name(const char* from, char* to, size_t size) {
  if (to && size > 0) {
    to[0] = '\0';
    strncat(to, from, size - 1);
  }
  return PIO_NOERR;
}
static inline int shoal_pio_strerror(int code, char* text, size_t size) {
  char whole[PIO_MAX_NAME + 1];
  int status = PIOc_strerror(code, whole);
  return status ? status : shoal_pio_copy_name(whole, text, size);
}
static inline int shoal_pio_inq_var(int ncid, int varid, char* name, int size, nc_type* xtype, int* ndims,
                                    int* dimids, int* natts) {
  char whole[PIO_MAX_NAME + 1];
  int status = PIOc_inq_var(ncid, varid, whole, xtype, ndims, dimids, natts);
  return status ? status : shoal_pio_copy_name(whole, name, (size_t)size);
}
#define PIOc_strerror(code, text, size) shoal_pio_strerror(code, text, size)
#define PIOc_inq_var(ncid, varid, name, size, xtype, ndims, dimids, natts) \
  shoal_pio_inq_var(ncid, varid, name, size, xtype, ndims, dimids, natts)
#define PIOc_inq_varname(ncid, varid, name, size) \
  shoal_pio_inq_var(ncid, varid, name, size, NULL, NULL, NULL, NULL)
#define PIOc_writemap(file, ioid, ndims, gdims, maplen, map, comm) \
  ((void)(ioid), (PIOc_writemap)(file, ndims, gdims, maplen, map, comm))
#endif

#ifdef __cplusplus
}
#endif
#endif
