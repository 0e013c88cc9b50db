// SPDX-License-Identifier: BSD-3-Clause
// What a file has, as netCDF and PnetCDF speak of it: a door answers inquiries from this, whoever writes the
// file.
#ifndef SHOAL_DOORS_FILE_DEFINITIONS_HPP
#define SHOAL_DOORS_FILE_DEFINITIONS_HPP

#include <mpi.h>
#include <netcdf.h>
#include <netcdf_par.h>

#include <cstddef>
#include <string>
#include <vector>

namespace door {

struct Attribute {
  std::string name;
  nc_type type = NC_CHAR;
  std::size_t count = 0;
  std::vector<char> bytes;           // count values in the byte order of this machine; of NC_STRING none
  std::vector<std::string> strings;  // of NC_STRING
};
using Attributes = std::vector<Attribute>;

struct Dimension {
  std::string name;
  std::size_t length = 0;  // of one that grows: 0
  bool unlimited = false;
};

struct Variable {
  std::string name;
  nc_type type = NC_CHAR;
  std::vector<int> dims;
  Attributes attributes;
  bool made = false;  // it is in the file: too late for what follows
  int number = -1;    // Shoal's, while it is served
  int no_fill = 0;    // as the library tells it: 0, 1, or NC_NOFILL of the file's fill mode
  int storage = NC_CONTIGUOUS;
  std::vector<std::size_t> chunks;  // empty: whoever makes the file chooses
  bool shuffle = false;
  int deflate = 0, zstandard = 0;  // levels; 0: without
  bool has_zstandard = false;      // whose level may be 0
  bool fletcher32 = false;
  int quantize = NC_NOQUANTIZE, digits = 0;
  int endian = NC_ENDIAN_NATIVE;
  int access = NC_INDEPENDENT;
  std::size_t cache_bytes = 0, cache_slots = 0;
  float cache_preemption = 0;

  bool filtered() const { return shuffle || deflate != 0 || has_zstandard || fletcher32; }
};

struct Definitions {
  std::vector<Dimension> dims;
  std::vector<Variable> vars;
  Attributes attributes;  // of the file
};

// Bytes of a value in memory; of NC_STRING a pointer's. 0: no type of netCDF's own.
std::size_t size_of(nc_type type);
// The index of a name; -1: there is none.
int find(const std::vector<Dimension>& dims, const char* name);
int find(const std::vector<Variable>& vars, const char* name);
int find(const Attributes& attributes, const char* name);
// NC_NOERR, or why netCDF takes no such name: NC_EBADNAME, NC_EMAXNAME.
int check_name(const char* name);
// NC_NOERR, or why nothing is looked up by such a name, which is not NULL: it is no UTF-8, or too long.
int check_asked(const char* name);
// Is it kept for netCDF-4's own attributes?
bool is_reserved(const char* name);
// A name as these libraries keep it, which is Unicode's NFC: a letter and its accent are one character.
std::string kept_name(const char* name);
// The default fill value of a type, size_of(type) bytes; of NC_CHAR 0. Not of NC_STRING.
std::vector<char> default_fill(nc_type type);
// What cells of a variable hold that nobody wrote: its attribute _FillValue, or the default.
std::vector<char> fill_of(const Variable& var);

}  // namespace door

#endif
