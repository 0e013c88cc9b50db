// SPDX-License-Identifier: BSD-3-Clause
// Attributes: put and got in any type, renamed, removed.
#include <cstring>
#include <utility>

#include "calls/calls.hpp"
#include "data/convert.hpp"

namespace door::serve {

namespace {

const char k_fill[] = "_FillValue";

ConversionRules rules_of(const File& file) {
  return {file.format == NC_FORMAT_CLASSIC || file.format == NC_FORMAT_64BIT_OFFSET, nullptr};
}

// nullptr with a code: NC_ENOTVAR, NC_ENOTATT, that of a name that is none.
Attribute* attribute_of(File& file, int varid, const char* name, int& code) {
  Attributes* all = file.attributes(varid);
  code = all == nullptr ? NC_ENOTVAR : name == nullptr ? NC_EBADNAME : check_asked(name);
  if (code != NC_NOERR) return nullptr;
  const int index = door::find(*all, name);
  if (index < 0) code = *name == '\0' && !file.netcdf4() ? NC_EBADNAME : NC_ENOTATT;
  return index < 0 ? nullptr : &(*all)[static_cast<std::size_t>(index)];
}

std::vector<const char*> pointers_of(const std::vector<std::string>& strings) {
  std::vector<const char*> pointers;
  for (const std::string& string : strings)
    pointers.push_back(string.c_str());
  return pointers;
}

Step putting(File& file, int varid, const Attribute& attribute) {
  return {[varid, attribute](const door_functions& own, int ncid) {
            if (attribute.type != NC_STRING)
              return own.nc_put_att(ncid, varid, attribute.name.c_str(), attribute.type, attribute.count,
                                    attribute.bytes.data());
            auto strings = pointers_of(attribute.strings);
            return own.nc_put_att_string(ncid, varid, attribute.name.c_str(), strings.size(), strings.data());
          },
          [owner = owner_of(file, varid), attribute](shoal_dataset* dataset) {
            const auto strings = pointers_of(attribute.strings);
            const void* values = attribute.type == NC_STRING
                                     ? static_cast<const void*>(strings.data())
                                     : static_cast<const void*>(attribute.bytes.data());
            return shoal_put_att(dataset, owner.text(), attribute.name.c_str(), attribute.type,
                                 static_cast<std::int64_t>(attribute.count), values);
          }};
}

int check_fill(const Variable& var, const Attribute& attribute) {
  if (attribute.type != var.type) return NC_EBADTYPE;
  if (attribute.count != 1) return NC_EINVAL;
  return var.made ? NC_ELATEFILL : NC_NOERR;
}

int check_type(const File& file, nc_type type) {
  if (type <= NC_NAT || type > NC_STRING) return NC_EBADTYPE;
  if (file.format == NC_FORMAT_NETCDF4_CLASSIC && type > NC_DOUBLE) return NC_ESTRICTNC3;
  if (!file.netcdf4() && (type == NC_STRING || (type > NC_DOUBLE && file.format != NC_FORMAT_64BIT_DATA)))
    return NC_EBADTYPE;
  return NC_NOERR;
}

// Keeps an attribute that is whole; `code` of its conversion comes back where nothing else is wrong.
int put(File& file, int varid, Attribute attribute, int code) {
  Attributes* all = file.attributes(varid);
  const int old = door::find(*all, attribute.name.c_str());
  if (attribute.name == k_fill && varid != NC_GLOBAL && file.netcdf4())
    if (const int wrong = check_fill(*file.variable(varid), attribute); wrong != NC_NOERR) return wrong;
  const bool fits_in_place =
      old >= 0 && attribute.bytes.size() <= (*all)[static_cast<std::size_t>(old)].bytes.size();
  if (!(file.writable && file.strict() && !file.defining && fits_in_place))
    if (const int wrong = begin_definition(file); wrong != NC_NOERR) return wrong;
  file.steps.push_back(putting(file, varid, attribute));
  if (old >= 0)
    (*all)[static_cast<std::size_t>(old)] = std::move(attribute);
  else
    all->push_back(std::move(attribute));
  return code;
}

// What all puts check first.
int check_put(File& file, int varid, const char* name, nc_type type, size_t len, const void* values) {
  if (!file.writable) return NC_EPERM;
  if (file.attributes(varid) == nullptr) return NC_ENOTVAR;
  if (const int code = check_name(name); code != NC_NOERR)
    return code == NC_EMAXNAME && file.netcdf4() ? NC_EBADNAME : code;
  if (file.netcdf4() && is_reserved(name)) return NC_ENAMEINUSE;
  if (const int code = check_type(file, type); code != NC_NOERR) return code;
  return len != 0 && values == nullptr ? NC_EINVAL : NC_NOERR;
}

int put_strings(File& file, int varid, const char* name, size_t len, const char* const* values) {
  if (const int code = check_put(file, varid, name, NC_STRING, len, values); code != NC_NOERR) return code;
  Attribute attribute{kept_name(name), NC_STRING, len, {}, {}};
  for (size_t i = 0; i < len; ++i)
    attribute.strings.emplace_back(values[i] == nullptr ? "" : values[i]);
  return put(file, varid, std::move(attribute), NC_NOERR);
}

int put_values(File& file, int varid, const char* name, nc_type type, size_t len, const void* values,
               nc_type memory) {
  if (memory == NC_NAT) memory = type;
  if (memory == NC_STRING && type == NC_STRING)
    return put_strings(file, varid, name, len, static_cast<const char* const*>(values));
  if (const int code = check_put(file, varid, name, type, len, values); code != NC_NOERR) return code;
  if (type == NC_STRING || memory == NC_STRING) return NC_ECHAR;
  Attribute attribute{kept_name(name), type, len, std::vector<char>(len * size_of(type)), {}};
  const int code = convert(memory, values, type, attribute.bytes.data(), len, rules_of(file));
  return code == NC_NOERR || code == NC_ERANGE ? put(file, varid, std::move(attribute), code) : code;
}

// The strings are the program's own, which it frees.
int get_strings(const Attribute& attribute, char** values) {
  for (std::size_t i = 0; i < attribute.strings.size(); ++i) {
    const std::string& text = attribute.strings[i];
    values[i] = static_cast<char*>(program().allocate(text.size() + 1));
    if (values[i] == nullptr) return NC_ENOMEM;
    std::memcpy(values[i], text.c_str(), text.size() + 1);
  }
  return NC_NOERR;
}

int get_values(File& file, int varid, const char* name, void* values, nc_type memory) {
  int code = NC_NOERR;
  const Attribute* attribute = attribute_of(file, varid, name, code);
  if (attribute == nullptr) return code;
  if (memory == NC_NAT) memory = attribute->type;
  if ((memory == NC_STRING) != (attribute->type == NC_STRING)) return NC_ECHAR;
  if (attribute->count == 0) return NC_NOERR;
  if (values == nullptr) return NC_EINVAL;
  if (memory == NC_STRING) return get_strings(*attribute, static_cast<char**>(values));
  return convert(attribute->type, attribute->bytes.data(), memory, values, attribute->count, rules_of(file));
}

}  // namespace

int nc_put_att_text(File& file, int varid, const char* name, size_t len, const char* values) {
  return put_values(file, varid, name, NC_CHAR, len, values, NC_CHAR);
}
int nc_get_att_text(File& file, int varid, const char* name, char* values) {
  return get_values(file, varid, name, values, NC_CHAR);
}
int nc_put_att_string(File& file, int varid, const char* name, size_t len, const char** values) {
  return put_strings(file, varid, name, len, values);
}
int nc_get_att_string(File& file, int varid, const char* name, char** values) {
  return get_values(file, varid, name, values, NC_STRING);
}

#define DATA(suffix, put, get, memory)
#define SERVED(name, parameters, arguments)
#define HANDED_BACK(name, parameters, arguments)
#define OF_TYPE(name, parameters, arguments)
#define TWO_FILES(name, parameters, arguments)
#define MAKES(name, parameters, arguments)
#define ATTRIBUTE(suffix, put, get, memory)                                                                 \
  int nc_put_att##suffix(File& file, int varid, const char* name, nc_type xtype, size_t len, put* values) { \
    return put_values(file, varid, name, xtype, len, values, memory);                                       \
  }                                                                                                         \
  int nc_get_att##suffix(File& file, int varid, const char* name, get* values) {                            \
    return get_values(file, varid, name, values, memory);                                                   \
  }
#include "front/functions.def"

int nc_inq_att(File& file, int varid, const char* name, nc_type* xtypep, size_t* lenp) {
  int code = NC_NOERR;
  const Attribute* attribute = attribute_of(file, varid, name, code);
  if (attribute == nullptr) return code;
  if (xtypep != nullptr) *xtypep = attribute->type;
  if (lenp != nullptr) *lenp = attribute->count;
  return NC_NOERR;
}

int nc_inq_atttype(File& file, int varid, const char* name, nc_type* xtypep) {
  return nc_inq_att(file, varid, name, xtypep, nullptr);
}

int nc_inq_attlen(File& file, int varid, const char* name, size_t* lenp) {
  return nc_inq_att(file, varid, name, nullptr, lenp);
}

int nc_inq_attid(File& file, int varid, const char* name, int* idp) {
  int code = NC_NOERR;
  const Attribute* attribute = attribute_of(file, varid, name, code);
  if (attribute != nullptr && idp != nullptr)
    *idp = static_cast<int>(attribute - file.attributes(varid)->data());
  return code;
}

int nc_inq_attname(File& file, int varid, int attnum, char* name) {
  const Attributes* all = file.attributes(varid);
  if (all == nullptr) return NC_ENOTVAR;
  if (attnum < 0 || static_cast<std::size_t>(attnum) >= all->size()) return NC_ENOTATT;
  if (name != nullptr) std::strcpy(name, (*all)[static_cast<std::size_t>(attnum)].name.c_str());
  return NC_NOERR;
}

int nc_rename_att(File& file, int varid, const char* name, const char* newname) {
  if (!file.writable) return NC_EPERM;
  if (file.attributes(varid) == nullptr) return NC_ENOTVAR;
  if (const int wrong = check_name(newname); wrong != NC_NOERR) return wrong;
  if (door::find(*file.attributes(varid), newname) >= 0) return NC_ENAMEINUSE;
  int code = NC_NOERR;
  Attribute* attribute = attribute_of(file, varid, name, code);
  if (attribute == nullptr) return code;
  const bool in_place = file.strict() && !file.defining;
  if (in_place && kept_name(newname).size() > attribute->name.size()) return NC_ENOTINDEFINE;
  if (!in_place)
    if (code = begin_definition(file); code != NC_NOERR) return code;
  file.steps.push_back(
      {[=, o = attribute->name, n = kept_name(newname)](const door_functions& own, int ncid) {
         return own.nc_rename_att(ncid, varid, o.c_str(), n.c_str());
       },
       [owner = owner_of(file, varid), o = attribute->name, n = kept_name(newname)](shoal_dataset* dataset) {
         return shoal_rename_att(dataset, owner.text(), o.c_str(), n.c_str());
       }});
  attribute->name = kept_name(newname);
  return NC_NOERR;
}

int nc_del_att(File& file, int varid, const char* name) {
  if (!file.writable) return NC_EPERM;
  int code = NC_NOERR;
  const Attribute* attribute = attribute_of(file, varid, name, code);
  if (code == NC_ENOTVAR) return code;
  if (const int wrong = begin_definition(file); wrong != NC_NOERR) return wrong;
  if (attribute == nullptr) return code;
  file.steps.push_back({[varid, n = attribute->name](const door_functions& own, int ncid) {
                          return own.nc_del_att(ncid, varid, n.c_str());
                        },
                        [owner = owner_of(file, varid), n = attribute->name](shoal_dataset* dataset) {
                          return shoal_delete_att(dataset, owner.text(), n.c_str());
                        }});
  Attributes& all = *file.attributes(varid);
  all.erase(all.begin() + (attribute - all.data()));
  return NC_NOERR;
}

}  // namespace door::serve
