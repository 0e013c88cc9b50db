// SPDX-License-Identifier: BSD-3-Clause
// Variables whose values are packed: what programs define as of floating point, and what is in the file.
#include "dataset/definitions/packed.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"
#include "codec/convert.hpp"

namespace shoal {

namespace {

constexpr const char *k_scale = "scale_factor", *k_offset = "add_offset", *k_missing = "missing_value";
constexpr Element k_number{Type::double_, sizeof(double), false};

std::vector<double> numbers_in(const Attribute& attribute) {
  const Element own{attribute.type, size_of(attribute.type), false};
  std::vector<double> out(static_cast<std::size_t>(attribute.count()));
  find_conversion(own, k_number)(attribute.data.data(), static_cast<std::int64_t>(own.size),
                                 reinterpret_cast<std::byte*>(out.data()), sizeof(double), attribute.count(),
                                 nullptr);
  return out;
}

Attribute as_attribute(const std::string& name, Type type, const std::vector<double>& numbers) {
  const Element own{type, size_of(type), false};
  const auto n = static_cast<std::int64_t>(numbers.size());
  Bytes data(numbers.size() * own.size);
  find_conversion(k_number, own)(reinterpret_cast<const std::byte*>(numbers.data()), sizeof(double),
                                 data.data(), static_cast<std::int64_t>(own.size), n,
                                 static_cast<const std::byte*>(default_fill(type)));
  return Attribute::numbers(name, type, data.data(), n);
}

double default_fill_number(Type type) {
  double number = 0;
  find_conversion({type, size_of(type), false}, k_number)(static_cast<const std::byte*>(default_fill(type)),
                                                          0, reinterpret_cast<std::byte*>(&number), 0, 1,
                                                          nullptr);
  return number;
}

bool is_of_numbers(const Attribute* attribute) {
  return attribute != nullptr && is_number(attribute->type) && attribute->count() > 0;
}

// The values that programs have where there is none.
std::vector<double> missing_values_of(const VariableDef& variable) {
  std::vector<double> out{default_fill_number(variable.type)};
  for (const char* const name : {k_fill_name, k_missing}) {
    const Attribute* const found = find_attribute(variable.attributes, name);
    if (!is_of_numbers(found)) continue;
    const auto numbers = numbers_in(*found);
    out.insert(out.end(), numbers.begin(), numbers.end());
  }
  return out;
}

// As CF has it: of the packed numbers.
void pack_valid_range(VariableDef& variable, Type type, const Packer& packer) {
  const auto [least, most] = packer.range();
  for (Attribute& attribute : variable.attributes) {
    const bool is_one =
        attribute.name == "valid_min" || attribute.name == "valid_max" || attribute.name == "valid_range";
    if (!is_one || !is_of_numbers(&attribute)) continue;
    std::vector<double> numbers = numbers_in(attribute);
    for (double& number : numbers)
      number = std::isnan(number) ? least : std::clamp(number, least, most);
    packer.pack(numbers.data(), static_cast<std::int64_t>(numbers.size()));
    attribute = as_attribute(attribute.name, type, numbers);
  }
}

double number_in(const VariableDef& variable, const char* name, double otherwise) {
  const Attribute* const found = find_attribute(variable.attributes, name);
  if (found == nullptr) return otherwise;
  if (!is_number(found->type) || found->count() != 1)
    throw Error(Code::type, "attribute '{}' is no number, and says how values are packed", name)
        .of_variable(variable.name);
  return numbers_in(*found).front();
}

bool is_unsigned(const VariableDef& variable) {
  const Attribute* const found = find_attribute(variable.attributes, "_Unsigned");
  return found != nullptr && found->type == Type::char_ &&
         lower(std::string(reinterpret_cast<const char*>(found->data.data()), found->data.size())) == "true";
}

}  // namespace

bool is_packing_attribute(const std::string& name) {
  return name == k_scale || name == k_offset || name == k_missing;
}

bool has_packing(const VariableDef& variable) {
  return packs_into(variable.type) && (find_attribute(variable.attributes, k_scale) != nullptr ||
                                       find_attribute(variable.attributes, k_offset) != nullptr);
}

VariablePacking make_packed(VariableDef& variable, const PackRequest& request) {
  if (variable.type != Type::float_ && variable.type != Type::double_)
    throw Error(Code::type,
                "values of type {} cannot be packed as {}; float and double can. A variable that was defined "
                "with whole numbers is packed as its attributes scale_factor and add_offset say: attributes",
                name_of(variable.type), text_of(request))
        .of_variable(variable.name);
  for (const char* const name : {k_scale, k_offset})
    if (find_attribute(variable.attributes, name) != nullptr)
      throw Error(Code::exists,
                  "attribute '{}' is there already, and the packing {} gives another; leave one of them out",
                  name, text_of(request))
          .of_variable(variable.name);
  const double fill = default_fill_number(request.type);
  VariablePacking out{Packer::packing_of(request.type, fill, request.least, request.most), true,
                      missing_values_of(variable)};
  const Packer packer(request.type, fill, out.packing);
  for (const double value : out.missing_values)
    if (packer.has_number_for(value))
      throw Error(
          Code::invalid_argument,
          "{}, which stands for missing values, is in the range that {} packs, {}; choose another range "
          "or another fill value",
          value, text_of(request), packer.range_text())
          .of_variable(variable.name);
  pack_valid_range(variable, request.type, packer);
  variable.type = request.type;
  std::erase_if(variable.attributes,
                [](const Attribute& a) { return a.name == k_fill_name || a.name == k_missing; });
  variable.attributes.insert(variable.attributes.begin(), as_attribute(k_fill_name, request.type, {fill}));
  variable.attributes.push_back(as_attribute(k_scale, Type::double_, {out.packing.scale_factor}));
  variable.attributes.push_back(as_attribute(k_offset, Type::double_, {out.packing.add_offset}));
  return out;
}

VariablePacking packing_in_attributes(const VariableDef& variable) {
  if (!packs_into(variable.type))
    throw Error(Code::type, "it is of type {}; whole numbers of 1, 2 and 4 bytes are packed values",
                name_of(variable.type))
        .of_variable(variable.name);
  if (find_attribute(variable.attributes, k_scale) == nullptr &&
      find_attribute(variable.attributes, k_offset) == nullptr)
    throw Error(Code::not_found,
                "it has neither scale_factor nor add_offset, by which values would be packed")
        .of_variable(variable.name);
  if (is_unsigned(variable))
    throw Error(Code::not_supported,
                "its numbers are to be taken for unsigned ones (attribute _Unsigned); read them as they are "
                "(setting pack: '{}=none'), or define the variable with an unsigned type",
                variable.name)
        .of_variable(variable.name);
  // Of programs that go on with a file; the last is the one that most of them have.
  const VariablePacking out{{number_in(variable, k_scale, 1), number_in(variable, k_offset, 0)},
                            false,
                            {default_fill_number(Type::float_), default_fill_number(Type::double_), 1e20}};
  packer_of(variable, out);  // throws where it cannot be done
  return out;
}

Packer packer_of(const VariableDef& variable, const VariablePacking& packing) {
  try {
    const Attribute own = Attribute::numbers(k_fill_name, variable.type, fill_of(variable).data(), 1);
    const double fill = numbers_in(own).front();
    Packer out(variable.type, fill, packing.packing);
    // Numbers of one byte have no fill value that readers know.
    const bool is_byte = size_of(variable.type) == 1;
    if (is_byte && find_attribute(variable.attributes, k_fill_name) == nullptr) out.read_fill_as_number();
    const Attribute* const missing = find_attribute(variable.attributes, k_missing);
    if (is_of_numbers(missing) && missing->type == variable.type) out.set_missing(numbers_in(*missing));
    out.set_missing_values(packing.missing_values);
    return out;
  } catch (const Error& e) {
    throw e.of_variable(variable.name);
  }
}

}  // namespace shoal
