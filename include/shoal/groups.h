/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Shoal: groups of names, which format netcdf4 has. The conventions and error codes are those of shoal.h.
 *
 * What is in a group has a path for a name: "ocean/temp" is temp in the group ocean, "ocean/ice/conc" is conc in
 * the group ice of that. "/ocean/temp" is the same, and "temp" is temp of the file itself (the root group).
 *
 * Each function that takes the name of a dimension or variable takes a path, and gives paths. A group that is not
 * there yet is made with the first name in it. shoal_rename_dim, shoal_rename_var and shoal_rename_group take a
 * plain name, or a path in the same group, as the new one.
 *
 * shoal_def_var looks for dimensions in the variable's group first, then in the group that this is in, and so on
 * up to the file: a dimension of the file is seen in all groups. "/x" is x of the file alone.
 *
 * shoal_put_att, shoal_inq_att, shoal_find_att, shoal_get_att, shoal_copy_att, shoal_rename_att and
 * shoal_delete_att take a group in place of a variable: "ocean", or "ocean/", which no variable is meant by. "/"
 * is the file, as NULL is.
 *
 * Errors: SHOAL_INVALID_ARGUMENT, a name with '/' in a format that has no groups (all but netcdf4). SHOAL_EXISTS,
 * a group has the name of a variable or dimension.
 */
#ifndef SHOAL_GROUPS_H
#define SHOAL_GROUPS_H

#include <shoal/shoal.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Groups ------------------------------------------------------------------------------ */

/* A group and those that it is in, where they are not there: for groups that nothing is in. Local, as the other
 * functions that define. SHOAL_NOT_SUPPORTED: the format has no groups. */
SHOAL_API int shoal_def_group(shoal_dataset* dataset, const char* name);

/* Another name for a group, of this define phase or of the file, which may have data: what is in it has other
 * paths from then on, and the same numbers. The rest, and the errors, are those of shoal_rename_dim; attributes
 * that name a path (coordinates = "/ocean/lat") stay as they are. Local, as the other functions that define.
 * SHOAL_NOT_SUPPORTED, when the define phase ends: the file has the group, and the driver is netcdf or gather. */
SHOAL_API int shoal_rename_group(shoal_dataset* dataset, const char* name, const char* new_name);

typedef struct shoal_group_info {
  size_t struct_size; /* sizeof(shoal_group_info) */
  const char* name;   /* its path, "ocean/ice" */
  int attributes;     /* how many */
} shoal_group_info;
#define SHOAL_GROUP_INFO_INIT \
  { sizeof(shoal_group_info), NULL, 0 }

/* How many groups there are, those in groups too; the file itself is none of them. Local. */
SHOAL_API int shoal_num_groups(const shoal_dataset* dataset, int* out);
/* Groups by number, each behind the one that it is in. Local. */
SHOAL_API int shoal_inq_group(const shoal_dataset* dataset, int index, shoal_group_info* out);
/* The number of the group of a path; SHOAL_NOT_FOUND with the nearest one. Local. */
SHOAL_API int shoal_find_group(const shoal_dataset* dataset, const char* name, int* out);

#ifdef __cplusplus
}
#endif
#endif
