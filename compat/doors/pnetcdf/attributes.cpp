// SPDX-License-Identifier: BSD-3-Clause
// Attributes: put and got in any type, renamed, copied, removed.
#include <cstring>
#include <utility>

#include "data/convert.hpp"
#include "pnetcdf/file.hpp"

namespace door::pnetcdf::serve {

namespace {

ConversionRules rules_of(const File& file) {
  return {file.format != NC_FORMAT_CDF5, nullptr};
}

int index_of(File& file, int varid, const char* name, int& code) {
  const Attributes* all = file.attributes(varid);
  code = all == nullptr ? NC_ENOTVAR : check_key(name);
  if (code != NC_NOERR) return -1;
  const int index = door::find(*all, name);
  if (index < 0) code = NC_ENOTATT;
  return index;
}

// nullptr with a code: NC_ENOTVAR, NC_ENOTATT.
Attribute* attribute_of(File& file, int varid, const char* name, int& code) {
  const int index = index_of(file, varid, name, code);
  return code != NC_NOERR ? nullptr : &(*file.attributes(varid))[static_cast<std::size_t>(index)];
}

// In data mode a definition goes to the file at once, by all ranks.
int made(File& file) {
  return file.defining ? NC_NOERR : end_definitions(file);
}

int put(File& file, int varid, Attribute attribute) {
  Attributes* all = file.attributes(varid);
  const int old = door::find(*all, attribute.name.c_str());
  const bool fits = old >= 0 && attribute.bytes.size() <= (*all)[static_cast<std::size_t>(old)].bytes.size();
  if (!file.defining && !fits) return NC_ENOTINDEFINE;
  file.steps.push_back(
      {[varid, attribute](const door_functions& own, int id) {
         return own.ncmpi_put_att(id, varid, attribute.name.c_str(), attribute.type,
                                  static_cast<MPI_Offset>(attribute.count), attribute.bytes.data());
       },
       [owner = owner_of(file, varid), attribute](shoal_dataset* dataset) {
         return shoal_put_att(dataset, owner.text(), attribute.name.c_str(), attribute.type,
                              static_cast<std::int64_t>(attribute.count), attribute.bytes.data());
       }});
  if (old >= 0)
    (*all)[static_cast<std::size_t>(old)] = std::move(attribute);
  else
    all->push_back(std::move(attribute));
  return made(file);
}

int put_values(File& file, int varid, const char* name, nc_type type, MPI_Offset len, const void* values,
               nc_type memory) {
  if (!file.writable) return NC_EPERM;
  const Variable* var = file.variable(varid);
  if (file.attributes(varid) == nullptr) return NC_ENOTVAR;
  if (const int code = check_name(name); code != NC_NOERR) return code;
  if (type <= NC_NAT || type > NC_UINT64) return NC_EBADTYPE;
  if (file.format != NC_FORMAT_CDF5 && type > NC_DOUBLE) return NC_ESTRICTCDF2;
  if ((memory == NC_CHAR) != (type == NC_CHAR) && memory != NC_NAT) return NC_ECHAR;
  if (len < 0 || (len != 0 && values == nullptr)) return NC_EINVAL;
  if (var != nullptr && std::strcmp(name, "_FillValue") == 0) {
    if (type != var->type) return NC_EBADTYPE;
    if (len != 1) return NC_EINVAL;
    if (file.defining && var->made) return NC_ELATEFILL;
  }
  const auto count = static_cast<std::size_t>(len);
  Attribute attribute{kept_name(name), type, count, std::vector<char>(count * size_of(type)), {}};
  const std::vector<char> fill = default_fill(type);
  ConversionRules rules = rules_of(file);
  rules.out_of_range = fill.data();
  const int code =
      convert(memory == NC_NAT ? type : memory, values, type, attribute.bytes.data(), count, rules);
  if (code != NC_NOERR && code != NC_ERANGE) return code;
  const int kept = put(file, varid, std::move(attribute));
  return kept != NC_NOERR ? kept : code;
}

int get_values(File& file, int varid, const char* name, void* values, nc_type memory) {
  int code = NC_NOERR;
  const Attribute* attribute = attribute_of(file, varid, name, code);
  if (attribute == nullptr) return code;
  if (memory == NC_NAT) memory = attribute->type;
  if (attribute->count == 0) return NC_NOERR;
  if ((memory == NC_CHAR) != (attribute->type == NC_CHAR)) return NC_ECHAR;
  if (values == nullptr) return NC_EINVAL;
  const std::vector<char> fill = default_fill(memory);
  ConversionRules rules = rules_of(file);
  rules.out_of_range = fill.data();
  return convert(attribute->type, attribute->bytes.data(), memory, values, attribute->count, rules);
}

int rename_att(File& file, int varid, const char* name, const char* newname) {
  if (!file.writable) return NC_EPERM;
  if (file.attributes(varid) == nullptr) return NC_ENOTVAR;
  int code = NC_NOERR;
  if (code = check_name(newname); code != NC_NOERR) return code;
  Attribute* attribute = attribute_of(file, varid, name, code);
  if (attribute == nullptr) return code;
  if (door::find(*file.attributes(varid), newname) >= 0) return NC_ENAMEINUSE;
  if (!file.defining && kept_name(newname).size() > attribute->name.size()) return NC_ENOTINDEFINE;
  file.steps.push_back(
      {[=, o = attribute->name, n = kept_name(newname)](const door_functions& own, int id) {
         return own.ncmpi_rename_att(id, varid, o.c_str(), n.c_str());
       },
       [owner = owner_of(file, varid), o = attribute->name, n = kept_name(newname)](shoal_dataset* dataset) {
         return shoal_rename_att(dataset, owner.text(), o.c_str(), n.c_str());
       }});
  attribute->name = kept_name(newname);
  return made(file);
}

int del_att(File& file, int varid, const char* name) {
  if (!file.writable) return NC_EPERM;
  if (!file.defining) return NC_ENOTINDEFINE;
  int code = NC_NOERR;
  const int index = index_of(file, varid, name, code);
  if (code != NC_NOERR) return code;
  file.steps.push_back({[varid, n = kept_name(name)](const door_functions& own, int id) {
                          return own.ncmpi_del_att(id, varid, n.c_str());
                        },
                        [owner = owner_of(file, varid), n = kept_name(name)](shoal_dataset* dataset) {
                          return shoal_delete_att(dataset, owner.text(), n.c_str());
                        }});
  Attributes& all = *file.attributes(varid);
  all.erase(all.begin() + index);
  return NC_NOERR;
}

// Of a file of the door or of the library.
template <class Door, class Library>
int of_either(int ncid, Door&& door, Library&& in_library) {
  if (!door_is_id(ncid)) return in_library(ncid);
  const int code = door(ncid);
  return code == DOOR_PASS_ON ? in_library(serve::library_id(ncid)) : code;
}

}  // namespace

int put_att_of(int ncid, int varid, const char* name, nc_type xtype, MPI_Offset len, const void* values,
               nc_type memory) {
  return answer(ncid, [&](File& file) { return put_values(file, varid, name, xtype, len, values, memory); });
}
int get_att_of(int ncid, int varid, const char* name, void* values, nc_type memory) {
  return answer(ncid, [&](File& file) { return get_values(file, varid, name, values, memory); });
}
int ncmpi_put_att(int ncid, int varid, const char* name, nc_type xtype, MPI_Offset len, const void* values) {
  return put_att_of(ncid, varid, name, xtype, len, values, NC_NAT);
}
int ncmpi_get_att(int ncid, int varid, const char* name, void* values) {
  return get_att_of(ncid, varid, name, values, NC_NAT);
}
int ncmpi_put_att_text(int ncid, int varid, const char* name, MPI_Offset len, const char* values) {
  return put_att_of(ncid, varid, name, NC_CHAR, len, values, NC_CHAR);
}

int ncmpi_inq_att(int ncid, int varid, const char* name, nc_type* xtypep, MPI_Offset* lenp) {
  return answer(ncid, [&](File& file) {
    int code = NC_NOERR;
    const Attribute* attribute = attribute_of(file, varid, name, code);
    if (attribute == nullptr) return code;
    if (xtypep != nullptr) *xtypep = attribute->type;
    if (lenp != nullptr) *lenp = static_cast<MPI_Offset>(attribute->count);
    return NC_NOERR;
  });
}
int ncmpi_inq_atttype(int ncid, int varid, const char* name, nc_type* xtypep) {
  return serve::ncmpi_inq_att(ncid, varid, name, xtypep, nullptr);
}
int ncmpi_inq_attlen(int ncid, int varid, const char* name, MPI_Offset* lenp) {
  return serve::ncmpi_inq_att(ncid, varid, name, nullptr, lenp);
}
int ncmpi_inq_attid(int ncid, int varid, const char* name, int* idp) {
  return answer(ncid, [&](File& file) {
    int code = NC_NOERR;
    const int index = index_of(file, varid, name, code);
    if (code == NC_NOERR && idp != nullptr) *idp = index;
    return code;
  });
}
int ncmpi_inq_attname(int ncid, int varid, int attnum, char* name) {
  return answer(ncid, [&](File& file) {
    const Attributes* all = file.attributes(varid);
    if (all == nullptr) return NC_ENOTVAR;
    if (attnum < 0 || static_cast<std::size_t>(attnum) >= all->size()) return NC_ENOTATT;
    if (name != nullptr) std::strcpy(name, (*all)[static_cast<std::size_t>(attnum)].name.c_str());
    return NC_NOERR;
  });
}

int ncmpi_rename_att(int ncid, int varid, const char* name, const char* newname) {
  return answer(ncid, [&](File& file) { return rename_att(file, varid, name, newname); });
}
int ncmpi_del_att(int ncid, int varid, const char* name) {
  return answer(ncid, [&](File& file) { return del_att(file, varid, name); });
}

int ncmpi_copy_att(int ncid, int varid, const char* name, int ncid_out, int varid_out) {
  nc_type type = NC_NAT;
  MPI_Offset count = 0;
  int code = of_either(
      ncid, [&](int id) { return serve::ncmpi_inq_att(id, varid, name, &type, &count); },
      [&](int id) { return library().ncmpi_inq_att(id, varid, name, &type, &count); });
  if (code != NC_NOERR || (ncid == ncid_out && varid == varid_out)) return code;
  std::vector<char> values(static_cast<std::size_t>(count) * size_of(type) + 1);
  code = of_either(
      ncid, [&](int id) { return serve::ncmpi_get_att(id, varid, name, values.data()); },
      [&](int id) { return library().ncmpi_get_att(id, varid, name, values.data()); });
  if (code != NC_NOERR) return code;
  return of_either(
      ncid_out, [&](int id) { return serve::ncmpi_put_att(id, varid_out, name, type, count, values.data()); },
      [&](int id) { return library().ncmpi_put_att(id, varid_out, name, type, count, values.data()); });
}

}  // namespace door::pnetcdf::serve
