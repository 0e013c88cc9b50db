/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Attributes and fill values: text and numbers that travel packed, in the type of the caller or of the
 * variable.
 */
#include <stdlib.h>
#include <string.h>

#include "calls.h"

static const char* owner_of(const char* variable) {
  return variable[0] != '\0' ? variable : NULL;
}

/* An attribute is a scalar or a list. rank counts without the length of strings. */
static int describe_value(const char* variable, const char* name, const CFI_cdesc_t* value,
                          shoal_f_view* view, int* rank) {
  const int code = shoal_f_describe(value, name, view);
  if (code != SHOAL_OK) return code;
  *rank = view->array.ndims - (view->array.type == SHOAL_CHAR ? 1 : 0);
  if (*rank > 1)
    return shoal_f_fail(SHOAL_INVALID_ARGUMENT,
                        "attribute %s of '%s': a value of rank %d; a scalar or an array of rank 1 is allowed",
                        name, variable, *rank);
  return SHOAL_OK;
}

/* Strings of a list without their trailing blanks, as pointers into one block; NULL if there is no memory. */
static char** make_strings(const char* packed, int64_t strings, int64_t length) {
  char** const pointers =
      malloc(((size_t)strings + 1) * sizeof *pointers + (size_t)(strings * (length + 1)) + 1);
  if (pointers == NULL) return NULL;
  char* next = (char*)(pointers + strings + 1);
  for (int64_t i = 0; i < strings; ++i) {
    int64_t used = length;
    while (used > 0 && packed[i * length + used - 1] == ' ')
      --used;
    pointers[i] = next;
    memcpy(next, packed + i * length, (size_t)used);
    next[used] = '\0';
    next += length + 1;
  }
  return pointers;
}

/* Logical values become the numbers 0 and 1 of one byte, as in variables. */
static void narrow_logicals(char* packed, int64_t count, size_t size) {
  for (int64_t i = 0; i < count; ++i) {
    char set = 0;
    for (size_t b = 0; b < size; ++b)
      set = (char)(set | packed[(size_t)i * size + b]);
    packed[i] = set != 0 ? 1 : 0;
  }
}

/* Of one of those that take attributes. */
static int put_att(int to, void* handle, const char* variable, const char* name, int type, int64_t count,
                   const void* values) {
  if (to == SHOAL_F_STREAMS)
    return shoal_streams_put_att(handle, owner_of(variable), name, type, count, values);
  return shoal_put_att(handle, owner_of(variable), name, type, count, values);
}

static int no_att(int to, void* handle, int code) {
  return to == SHOAL_F_STREAMS ? shoal_f_no_description(handle, code) : shoal_f_no_definition(handle, code);
}

int shoal_f_put_att(int to, void* handle, const char* variable, const char* name, const CFI_cdesc_t* value) {
  shoal_f_view view;
  int rank = 0;
  shoal_f_clear();
  int code = describe_value(variable, name, value, &view, &rank);
  if (code != SHOAL_OK) return no_att(to, handle, code);
  const int64_t elements = shoal_f_elements(&view);
  char* const packed = malloc((size_t)elements * view.array.element_size + 1);
  if (packed == NULL)
    return no_att(to, handle,
                  shoal_f_fail(SHOAL_NO_MEMORY, "attribute %s of '%s': out of memory", name, variable));
  shoal_f_pack(&view, packed);
  if (view.array.type == SHOAL_CHAR && rank == 1) {
    const int64_t strings = view.extents[0];
    char** const pointers = make_strings(packed, strings, view.extents[1]);
    code = pointers == NULL
               ? shoal_f_fail(SHOAL_NO_MEMORY, "attribute %s of '%s': out of memory", name, variable)
               : put_att(to, handle, variable, name, SHOAL_STRING, strings, pointers);
    free(pointers);
  } else if (view.array.type == SHOAL_LOGICAL) {
    narrow_logicals(packed, elements, view.array.element_size);
    code = put_att(to, handle, variable, name, SHOAL_BYTE, elements, packed);
  } else {
    code = put_att(to, handle, variable, name, view.array.type, elements, packed);
  }
  free(packed);
  return code;
}

/* Strings of the file into character(len=length) elements, padded with blanks. */
static int get_strings(const shoal_dataset* dataset, const char* variable, const char* name, int64_t count,
                       int64_t length, char* packed) {
  char** const pointers = calloc((size_t)count + 1, sizeof *pointers);
  if (pointers == NULL)
    return shoal_f_fail(SHOAL_NO_MEMORY, "attribute %s of '%s': out of memory", name, variable);
  int code = shoal_get_att(dataset, owner_of(variable), name, SHOAL_STRING, pointers);
  const int made = code == SHOAL_OK;
  memset(packed, ' ', (size_t)(count * length));
  for (int64_t i = 0; code == SHOAL_OK && i < count; ++i) {
    const size_t used = strlen(pointers[i]);
    if (used > (size_t)length)
      code = shoal_f_fail(SHOAL_RANGE, "attribute %s of '%s': %zu characters do not fit into %lld", name,
                          variable, used, (long long)length);
    else
      memcpy(packed + i * length, pointers[i], used);
  }
  if (made) shoal_free_strings(count, pointers);
  free(pointers);
  return code;
}

static int get_text(const shoal_dataset* dataset, const char* variable, const char* name, int64_t count,
                    int64_t length, char* packed) {
  if (count > length)
    return shoal_f_fail(SHOAL_RANGE, "attribute %s of '%s': %lld characters do not fit into %lld", name,
                        variable, (long long)count, (long long)length);
  memset(packed, ' ', (size_t)length);
  return shoal_get_att(dataset, owner_of(variable), name, SHOAL_CHAR, packed);
}

/* Bytes 0 and 1 to logicals of the caller's size. */
static int get_logicals(const shoal_dataset* dataset, const char* variable, const char* name, int64_t count,
                        size_t size, char* packed) {
  const int code = shoal_get_att(dataset, owner_of(variable), name, SHOAL_BYTE, packed);
  for (int64_t i = count - 1; code == SHOAL_OK && i >= 0; --i) {
    const int64_t set = packed[i] != 0;
    const int8_t one = (int8_t)set;
    const int16_t two = (int16_t)set;
    const int32_t four = (int32_t)set;
    const void* const source = size == 1   ? (const void*)&one
                               : size == 2 ? (const void*)&two
                               : size == 4 ? (const void*)&four
                                           : (const void*)&set;
    memcpy(packed + (size_t)i * size, source, size);
  }
  return code;
}

int shoal_f_get_att(const shoal_dataset* dataset, const char* variable, const char* name,
                    const CFI_cdesc_t* value) {
  shoal_f_view view;
  shoal_att_info info = SHOAL_ATT_INFO_INIT;
  int rank = 0, index = 0;
  shoal_f_clear();
  int code = shoal_find_att(dataset, owner_of(variable), name, &index);
  if (code == SHOAL_OK) code = shoal_inq_att(dataset, owner_of(variable), index, &info);
  if (code == SHOAL_OK) code = describe_value(variable, name, value, &view, &rank);
  if (code != SHOAL_OK) return code;
  const int64_t elements = shoal_f_elements(&view);
  const int to_text = view.array.type == SHOAL_CHAR;
  const int64_t count = info.count; /* info's pointers need not outlive the next call */
  const int strings = info.type == SHOAL_STRING;
  const int64_t given = to_text ? (rank == 1 ? view.extents[0] : 1) : elements;
  if (given != (to_text && !strings ? 1 : count))
    return shoal_f_fail(SHOAL_INVALID_ARGUMENT, "attribute %s of '%s' has %lld values, the array given %lld",
                        name, variable, (long long)(to_text && !strings ? 1 : count), (long long)given);
  char* const packed = malloc((size_t)elements * view.array.element_size + 1);
  if (packed == NULL)
    return shoal_f_fail(SHOAL_NO_MEMORY, "attribute %s of '%s': out of memory", name, variable);
  if (to_text && strings)
    code = get_strings(dataset, variable, name, count, view.extents[rank], packed);
  else if (to_text)
    code = get_text(dataset, variable, name, count, elements, packed);
  else if (view.array.type == SHOAL_LOGICAL)
    code = get_logicals(dataset, variable, name, count, view.array.element_size, packed);
  else
    code = shoal_get_att(dataset, owner_of(variable), name, view.array.type, packed);
  if (code == SHOAL_OK) shoal_f_unpack(&view, packed);
  free(packed);
  return code;
}

int shoal_f_def_fill(shoal_dataset* dataset, const char* variable, const CFI_cdesc_t* value) {
  shoal_f_view view;
  shoal_f_clear();
  if (value == NULL) return shoal_def_fill(dataset, variable, 0, NULL);
  const int code = shoal_f_describe(value, variable, &view);
  if (code != SHOAL_OK) return shoal_f_no_definition(dataset, code);
  if (shoal_f_elements(&view) != 1)
    return shoal_f_no_definition(
        dataset, shoal_f_fail(SHOAL_INVALID_ARGUMENT,
                              "%s: the fill value must be one number or one character", variable));
  return shoal_def_fill(dataset, variable, view.array.type, view.array.data);
}

/* Text of one character, or a string of the file cut or padded to the text's length; numbers as they are. */
int shoal_f_inq_fill(const shoal_dataset* dataset, const char* variable, int* fill,
                     const CFI_cdesc_t* value) {
  shoal_f_view view;
  shoal_f_clear();
  if (value == NULL) return shoal_inq_fill(dataset, variable, fill, 0, NULL);
  int code = shoal_f_describe(value, variable, &view);
  if (code != SHOAL_OK) return code;
  if (view.array.type == SHOAL_CHAR && shoal_f_variable_type(dataset, variable) == SHOAL_STRING) {
    char* text = NULL;
    const int64_t length = shoal_f_elements(&view);
    code = shoal_inq_fill(dataset, variable, fill, SHOAL_STRING, &text);
    if (code != SHOAL_OK) return code;
    if (strlen(text) > (size_t)length) {
      code = shoal_f_fail(SHOAL_RANGE, "%s: the fill value has %zu characters, which do not fit into %lld",
                          variable, strlen(text), (long long)length);
    } else {
      memset(view.array.data, ' ', (size_t)length);
      memcpy(view.array.data, text, strlen(text));
    }
    shoal_free_strings(1, &text);
    return code;
  }
  if (shoal_f_elements(&view) != 1)
    return shoal_f_fail(SHOAL_INVALID_ARGUMENT, "%s: the fill value is one number or one character",
                        variable);
  return shoal_inq_fill(dataset, variable, fill, view.array.type, view.array.data);
}

int shoal_f_rename_att(shoal_dataset* dataset, const char* variable, const char* name, const char* new_name) {
  shoal_f_clear();
  return shoal_rename_att(dataset, owner_of(variable), name, new_name);
}

int shoal_f_delete_att(shoal_dataset* dataset, const char* variable, const char* name) {
  shoal_f_clear();
  return shoal_delete_att(dataset, owner_of(variable), name);
}
