// SPDX-License-Identifier: BSD-3-Clause
// nc_put_ and nc_get_ of values: ten functions for each type in memory, all of them one.
#include "calls/calls.hpp"
#include "data/move.hpp"

namespace door::serve {

namespace {

using Form = Selection::Form;

// Values are only read where they are put.
int put_from(File& file, int varid, const Selection& selection, nc_type memory, const void* values) {
  return move(file, varid, selection, memory, const_cast<void*>(values), Direction::put);
}
int get_to(File& file, int varid, const Selection& selection, nc_type memory, void* values) {
  return move(file, varid, selection, memory, values, Direction::get);
}

}  // namespace

#define ONE_WAY(way, move_them, suffix, type, memory)                                           \
  int nc_##way##_var##suffix(File& file, int varid, type* values) {                             \
    return move_them(file, varid, {Form::whole}, memory, values);                               \
  }                                                                                             \
  int nc_##way##_var1##suffix(File& file, int varid, const size_t* start, type* values) {       \
    return move_them(file, varid, {Form::one, start}, memory, values);                          \
  }                                                                                             \
  int nc_##way##_vara##suffix(File& file, int varid, const size_t* start, const size_t* count,  \
                              type* values) {                                                   \
    return move_them(file, varid, {Form::section, start, count}, memory, values);               \
  }                                                                                             \
  int nc_##way##_vars##suffix(File& file, int varid, const size_t* start, const size_t* count,  \
                              const ptrdiff_t* stride, type* values) {                          \
    return move_them(file, varid, {Form::section, start, count, stride}, memory, values);       \
  }                                                                                             \
  int nc_##way##_varm##suffix(File& file, int varid, const size_t* start, const size_t* count,  \
                              const ptrdiff_t* stride, const ptrdiff_t* imap, type* values) {   \
    return move_them(file, varid, {Form::section, start, count, stride, imap}, memory, values); \
  }

#define DATA(suffix, put_type, get_type, memory)   \
  ONE_WAY(put, put_from, suffix, put_type, memory) \
  ONE_WAY(get, get_to, suffix, get_type, memory)
#define ATTRIBUTE(suffix, put_type, get_type, memory)
#include "front/functions.def"

}  // namespace door::serve
