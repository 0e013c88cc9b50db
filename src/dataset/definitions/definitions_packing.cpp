// SPDX-License-Identifier: BSD-3-Clause
// Which variables are packed: by the program, by the setting, and in the file.
#include <algorithm>

#include "base/error.hpp"
#include "dataset/definitions/definitions.hpp"
#include "dataset/definitions/quantized.hpp"
#include "format/format_traits.hpp"

namespace shoal {

namespace {

using Kind = PackRequest::Kind;

bool is_real(const VariableDef& variable) {
  return variable.type == Type::float_ || variable.type == Type::double_;
}

// The number of cells without a value stands in the file, for readers that know no default.
void add_fill_value(VariableDef& variable) {
  if (find_attribute(variable.attributes, k_fill_name) != nullptr) return;
  variable.attributes.insert(variable.attributes.begin(),
                             Attribute::numbers(k_fill_name, variable.type, fill_of(variable).data(), 1));
}

std::string left_as_it_is(const Status& why) {
  return fmt::format("variable '{}' stays as it is, whatever the setting pack says: {}", why.variable,
                     why.message);
}

// The file's numbers are those of the request.
void check_same(const VariableDef& variable, const VariablePacking& packing, const PackRequest& request) {
  VariableDef wanted;
  wanted.type = Type::double_;
  if (make_packed(wanted, request).packing == packing.packing && wanted.type == variable.type) return;
  throw Error(
      Code::setting,
      "setting pack gives the packing {}, and the file has numbers of type {} with scale_factor {} and "
      "add_offset {}; append as the file has it: pack={}=attributes",
      text_of(request), name_of(variable.type), packing.packing.scale_factor, packing.packing.add_offset,
      variable.name)
      .of_variable(variable.name);
}

}  // namespace

void Definitions::def_pack(const std::string& name, const std::string& text) {
  const VariableDef& v = new_variable(name, "packing");
  PackRequest request;
  try {
    request = pack_request_of(text);
  } catch (const Error& e) {
    throw Error(Code::invalid_argument, e.status().message).of_variable(name);
  }
  if (request.kind == Kind::range && !is_real(v)) {
    VariableDef copy = v;
    make_packed(copy, request);  // says why not
  }
  given_.insert({"pack", v.name});
  pack_requests_[v.name] = request;
}

bool Definitions::stays_packed(int variable, const std::string& attribute) const {
  return is_packing_attribute(attribute) && variable < variables_in_file_ &&
         packings_.contains(schema().variable(variable).name);
}

// By a pattern: those that it is for; CF wants coordinates as they are.
bool Definitions::may_be_packed(const VariableDef& v, const PackRequest& request,
                                const std::set<std::string>& coordinates) const {
  if (request.kind == Kind::attributes) return has_packing(v);
  return is_real(v) && v.distributed && !given_.contains({"quantize", v.name}) &&
         !coordinates.contains(v.name) && !dim_by_name_.contains(v.name);
}

// On Error nothing of the variable was changed.
void Definitions::pack_new(VariableDef& v, const PackRequest& request) {
  if (request.kind == Kind::range && !holds(schema().format, request.type))
    throw Error(Code::not_supported, "it is packed as {}, and format {} has no numbers of type {}",
                text_of(request), name_of(schema().format), name_of(request.type))
        .of_variable(v.name);
  if (given_.contains({"quantize", v.name}) && quantized_.contains(v.name))
    throw Error(Code::invalid_argument, "its values are to be packed ({}) and quantized ({}); leave one out",
                text_of(request), text_of(quantized_.at(v.name)))
        .of_variable(v.name);
  packings_[v.name] = request.kind == Kind::range ? make_packed(v, request) : packing_in_attributes(v);
  add_fill_value(v);
  quantized_.erase(v.name);
  by_pattern_.erase(v.name);
  if (v.distributed && traits_of(schema().format).has_chunks) take_default_chunks(v);  // for smaller elements
}

std::vector<std::string> Definitions::describe_packed() {
  std::vector<std::string> left;
  if (pack_requests_.empty() && defaults_.packing.all().empty()) return left;
  auto& variables = wanted().variables;
  const auto coordinates = names_of_coordinates(schema());
  for (auto i = static_cast<std::size_t>(variables_in_file_); i < variables.size(); ++i) {
    VariableDef& v = variables[i];
    const auto given = pack_requests_.find(v.name);
    if (given != pack_requests_.end()) {
      if (given->second.kind != Kind::none) pack_new(v, given->second);
      continue;
    }
    const auto* const choice = defaults_.packing.of(v.name);
    const PackRequest request = choice == nullptr ? PackRequest() : pack_request_of(choice->value);
    if (request.kind == Kind::none) continue;
    if (!choice->named && !may_be_packed(v, request, coordinates)) continue;
    const Status packed = caught([&] { pack_new(v, request); });
    if (!packed.ok() && choice->named)
      throw Error(packed.code, "{} (setting pack; '{}=none' leaves it as it is)", packed.message, v.name)
          .of_variable(v.name);
    if (!packed.ok()) left.push_back(left_as_it_is(packed));
    taken_.insert({"pack", choice->pattern});
  }
  return left;
}

std::vector<std::string> Definitions::find_packed(bool writable) {
  std::vector<std::string> left;
  for (const auto& v : schema().variables) {
    const auto* const choice = defaults_.packing.of(v.name);
    const PackRequest request = choice == nullptr ? PackRequest() : pack_request_of(choice->value);
    // What new variables get says nothing of others' files.
    if (request.kind == Kind::none || (request.kind == Kind::range && !writable) || !v.fits_plainly) continue;
    const bool by_attributes = request.kind == Kind::attributes;
    if (!has_packing(v) && !(choice->named && by_attributes)) continue;
    VariablePacking packing;
    const Status known = caught([&] {
      packing = packing_in_attributes(v);
      if (!by_attributes) check_same(v, packing, request);
    });
    if (!known.ok() && choice->named) throw Error(known);
    if (!known.ok()) {
      left.push_back(left_as_it_is(known));
      continue;
    }
    packing.of_floating_point = !by_attributes;
    packings_[v.name] = std::move(packing);
    taken_.insert({"pack", choice->pattern});
  }
  return left;
}

}  // namespace shoal
