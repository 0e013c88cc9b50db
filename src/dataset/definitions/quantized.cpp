// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/definitions/quantized.hpp"

#include <algorithm>
#include <cstring>

#include "base/build_info.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "codec/convert.hpp"
#include "format/group_paths.hpp"

namespace shoal {

namespace {

using Mode = Quantization::Mode;

// netCDF's names, which its library reads and its tools show.
constexpr const char* k_netcdf_bits = "_QuantizeBitRoundNumberOfSignificantBits";
constexpr const char* k_netcdf_digits = "_QuantizeGranularBitRoundNumberOfSignificantDigits";
// CF's.
constexpr const char* k_container = "quantization";
constexpr const char* k_bits = "quantization_nsb";
constexpr const char* k_digits = "quantization_nsd";

const char* netcdf_name(Mode mode) {
  return mode == Mode::bitround ? k_netcdf_bits : k_netcdf_digits;
}

std::string container_name(Mode mode) {
  return std::string("quantization_info_") + name_of(mode);
}

Attribute number(const char* name, int value) {
  const std::int32_t stored = value;
  return Attribute::numbers(name, Type::int_, &stored, 1);
}

}  // namespace

void check_quantization(const VariableDef& variable, const Quantization& quantization) {
  if (quantization.empty()) return;
  const int most = most_of(quantization.mode, variable.type);
  if (most == 0)
    throw Error(Code::type, "values of type {} cannot be quantized; float and double can",
                name_of(variable.type))
        .of_variable(variable.name);
  if (quantization.number > most)
    throw Error(Code::invalid_argument, "{} of values of type {}: at most {}{} are allowed",
                text_of(quantization), name_of(variable.type), most,
                quantization.mode == Mode::bitround ? " bits" : " digits")
        .of_variable(variable.name);
}

bool is_quantization_attribute(const std::string& name) {
  const auto names = {k_netcdf_bits, k_netcdf_digits, k_container, k_bits, k_digits};
  return std::find(names.begin(), names.end(), name) != names.end();
}

void describe_quantization(VariableDef& variable, const Quantization& quantization) {
  std::erase_if(variable.attributes, [](const Attribute& a) { return is_quantization_attribute(a.name); });
  const bool bits = quantization.mode == Mode::bitround;
  variable.attributes.push_back(Attribute::text(k_container, container_name(quantization.mode)));
  variable.attributes.push_back(number(bits ? k_bits : k_digits, quantization.number));
  variable.attributes.push_back(number(netcdf_name(quantization.mode), quantization.number));
}

VariableDef quantization_container(Mode mode) {
  VariableDef container;
  container.name = container_name(mode);
  container.type = Type::char_;
  container.attributes = {Attribute::text("algorithm", name_of(mode)),
                          Attribute::text("implementation", "Shoal version " + std::string(k_version))};
  return container;
}

bool is_quantization_container(const VariableDef& variable) {
  return variable.name == container_name(Mode::bitround) || variable.name == container_name(Mode::granular);
}

std::set<std::string> names_of_coordinates(const Schema& schema) {
  std::set<std::string> names;
  const auto add = [&](const std::string& group, std::string text) {
    // Also "area: cell_area", of which the first word is no name of a variable.
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == ':' || c == '\0'; }, ' ');
    for (const auto& word : words(text))
      for_groups_outwards(group, [&](const std::string& here) {
        names.insert(word.starts_with('/') ? word.substr(1) : path_in(here, word));
        return false;
      });
  };
  for (const auto& variable : schema.variables) {
    const std::string group = group_of(variable.name);
    for (const char* name : {"coordinates", "bounds", "climatology", "cell_measures", "formula_terms",
                             "grid_mapping", "node_coordinates"}) {
      const Attribute* found = find_attribute(variable.attributes, name);
      if (found == nullptr) continue;
      if (found->type == Type::char_)
        add(group, std::string(reinterpret_cast<const char*>(found->data.data()), found->data.size()));
      for (const auto& text : found->strings)
        add(group, text);
    }
  }
  return names;
}

Quantization quantization_in_file(const VariableDef& variable) {
  for (const Mode mode : {Mode::bitround, Mode::granular}) {
    const Attribute* found = find_attribute(variable.attributes, netcdf_name(mode));
    if (found == nullptr || found->type != Type::int_ || found->count() != 1) continue;
    std::int32_t value = 0;
    std::memcpy(&value, found->data.data(), sizeof value);
    if (value >= 1 && value <= most_of(mode, variable.type)) return {mode, value};
  }
  return {};
}

std::shared_ptr<const Rounding> rounding_of(const VariableDef& variable, const Quantization& quantization) {
  Bytes kept = fill_of(variable);
  const Attribute* missing = find_attribute(variable.attributes, "missing_value");
  if (missing != nullptr && is_number(missing->type)) {
    const Element from{missing->type, size_of(missing->type), false};
    const Element to{variable.type, size_of(variable.type), false};
    Bytes values(static_cast<std::size_t>(missing->count()) * to.size);
    find_conversion(from, to)(missing->data.data(), static_cast<std::int64_t>(from.size), values.data(),
                              static_cast<std::int64_t>(to.size), missing->count(), kept.data());
    kept.insert(kept.end(), values.begin(), values.end());
  }
  if (kept.size() > Rounding::k_most_kept * size_of(variable.type))
    throw Error(
        Code::not_supported,
        "missing_value has {} values; where values are quantized, {} are allowed beside the fill value",
        missing->count(), Rounding::k_most_kept - 1)
        .of_variable(variable.name);
  return std::make_shared<const Rounding>(variable.type, quantization, kept);
}

}  // namespace shoal
