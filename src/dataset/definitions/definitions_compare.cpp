// SPDX-License-Identifier: BSD-3-Clause
// Did all ranks define the same? Packs definitions to bytes, and finds the first difference in words.
#include <fmt/core.h>

#include <algorithm>

#include "base/language.hpp"
#include "base/text.hpp"
#include "dataset/definitions/definitions.hpp"

namespace shoal {

Bytes Definitions::packed() const {
  // What ranks may know differently between two commits is no difference of definitions: record counts, and
  // that a variable of the file was written with a decomposition.
  Schema plain = schema();
  for (auto& dim : plain.dims)
    if (dim.unlimited) dim.length = 0;
  for (int v = 0; v < variables_in_file_; ++v)
    plain.variable(v).distributed = false;
  ByteWriter out;
  pack(out, plain);
  // Decompositions are objects of one rank; what ranks share is which variables have the same one.
  std::vector<std::int64_t> numbers;
  std::vector<const Decomposition*> seen;
  for (const auto& d : decompositions_) {
    if (d == nullptr) {
      numbers.push_back(-1);
      continue;
    }
    const auto at = std::find(seen.begin(), seen.end(), d.get());
    numbers.push_back(at - seen.begin());
    if (at == seen.end()) seen.push_back(d.get());
  }
  out.put(numbers);
  // What becomes of values. By the setting: a variable that turns out to be a coordinate is not quantized.
  std::vector<std::string> values;
  for (const auto& [name, quantization] : quantized_)
    values.push_back(fmt::format("variable '{}' is quantized ({}{})", name, text_of(quantization),
                                 by_pattern_.contains(name) ? ", by the setting" : ""));
  for (const auto& [name, request] : pack_requests_)
    values.push_back(fmt::format("variable '{}' is packed ({})", name, text_of(request)));
  out.put(values);
  return out.take();
}

void Definitions::take_attribute_values(const Bytes& of_root) {
  const auto take = [](std::vector<Attribute>& mine, std::vector<Attribute>& root) {
    for (std::size_t i = 0; i < std::min(mine.size(), root.size()); ++i)
      if (mine[i].name == root[i].name && mine[i].type == root[i].type) mine[i] = std::move(root[i]);
  };
  ByteReader in(of_root);
  Schema root = unpack_schema(in);
  Schema& mine = wanted();
  take(mine.attributes, root.attributes);
  for (std::size_t g = 0; g < std::min(mine.groups.size(), root.groups.size()); ++g)
    take(mine.groups[g].attributes, root.groups[g].attributes);
  for (std::size_t v = 0; v < std::min(mine.variables.size(), root.variables.size()); ++v)
    take(mine.variables[v].attributes, root.variables[v].attributes);
}

namespace {

std::string quoted(const std::string& name) {
  return fmt::format("'{}'", name);
}

std::string dims_text(const Schema& schema, const VariableDef& v) {
  std::vector<std::string> names;
  for (const int d : v.dims)
    names.push_back(schema.dim(d).name);
  return fmt::format("({})", joined(as_listed(std::move(names)), " "));
}

std::string attributes_difference(const std::vector<Attribute>& mine, const std::vector<Attribute>& root,
                                  const std::string& of) {
  for (std::size_t i = 0; i < std::max(mine.size(), root.size()); ++i) {
    if (i >= mine.size()) return fmt::format("attribute {}{} is missing here", quoted(root[i].name), of);
    if (i >= root.size()) return fmt::format("attribute {}{} is missing on rank 0", quoted(mine[i].name), of);
    if (mine[i].name != root[i].name)
      return fmt::format("attribute {}{} is {} here and {} on rank 0", i, of, quoted(mine[i].name),
                         quoted(root[i].name));
    if (!have_same_values(mine[i], root[i]))
      return fmt::format(
          "attribute {}{} has another value than on rank 0 (a time of day? let rank 0 broadcast it, or set "
          "attributes=rank0)",
          quoted(mine[i].name), of);
  }
  return "";
}

std::string groups_difference(const Schema& mine, const Schema& root) {
  for (std::size_t i = 0; i < std::max(mine.groups.size(), root.groups.size()); ++i) {
    if (i >= mine.groups.size()) return fmt::format("group {} is missing here", quoted(root.groups[i].name));
    if (i >= root.groups.size())
      return fmt::format("group {} is missing on rank 0", quoted(mine.groups[i].name));
    const GroupDef& m = mine.groups[i];
    const GroupDef& r = root.groups[i];
    if (m.name != r.name)
      return fmt::format("group {} is {} here and {} on rank 0", i, quoted(m.name), quoted(r.name));
    const std::string difference =
        attributes_difference(m.attributes, r.attributes, " of group " + quoted(m.name));
    if (!difference.empty()) return difference;
  }
  return "";
}

std::string dims_difference(const Schema& mine, const Schema& root) {
  for (std::size_t i = 0; i < std::max(mine.dims.size(), root.dims.size()); ++i) {
    if (i >= mine.dims.size()) return fmt::format("dimension {} is missing here", quoted(root.dims[i].name));
    if (i >= root.dims.size())
      return fmt::format("dimension {} is missing on rank 0", quoted(mine.dims[i].name));
    const Dimension& m = mine.dims[i];
    const Dimension& r = root.dims[i];
    if (m.name != r.name)
      return fmt::format("dimension {} is {} here and {} on rank 0", i, quoted(m.name), quoted(r.name));
    if (m.length != r.length || m.unlimited != r.unlimited)
      return fmt::format("dimension {} has length {} here and {} on rank 0", quoted(m.name), m.length,
                         r.length);
  }
  return "";
}

std::string variables_difference(const Schema& mine, const Schema& root) {
  for (std::size_t i = 0; i < std::max(mine.variables.size(), root.variables.size()); ++i) {
    if (i >= mine.variables.size())
      return fmt::format("variable {} is missing here", quoted(root.variables[i].name));
    if (i >= root.variables.size())
      return fmt::format("variable {} is missing on rank 0", quoted(mine.variables[i].name));
    const VariableDef& m = mine.variables[i];
    const VariableDef& r = root.variables[i];
    if (m.name != r.name)
      return fmt::format("variable {} is {} here and {} on rank 0", i, quoted(m.name), quoted(r.name));
    const std::string name = "variable " + quoted(m.name);
    if (m.type != r.type)
      return fmt::format("{} is {} here and {} on rank 0", name, name_of(m.type), name_of(r.type));
    if (m.dims != r.dims)
      return fmt::format("{} has dimensions {} here and {} on rank 0", name, dims_text(mine, m),
                         dims_text(root, r));
    if (m.distributed != r.distributed)
      return name + (m.distributed ? " has a decomposition (or def_cut) here and none on rank 0"
                                   : " has no decomposition (nor def_cut) here and one on rank 0");
    if (m.independent != r.independent)
      return name + (m.independent ? " is defined as independent here, and not on rank 0"
                                   : " is not defined as independent here, and is on rank 0");
    if (m.chunks != r.chunks) return name + " has other chunks than on rank 0";
    if (m.filters != r.filters)
      return fmt::format("{} is compressed by {} here and by {} on rank 0", name, text_of(m.filters),
                         text_of(r.filters));
    if (m.no_fill != r.no_fill) return name + " has another fill mode than on rank 0";
    const std::string difference = attributes_difference(m.attributes, r.attributes, " of " + name);
    if (!difference.empty()) return difference;
  }
  return "";
}

// Lists in words, in the order of names.
std::string values_difference(const std::vector<std::string>& mine, const std::vector<std::string>& root) {
  const auto only_in = [](const std::vector<std::string>& these, const std::vector<std::string>& those) {
    const auto found = std::find_if(these.begin(), these.end(), [&](const std::string& one) {
      return std::find(those.begin(), those.end(), one) == those.end();
    });
    return found != these.end() ? *found : std::string();
  };
  if (const std::string here = only_in(mine, root); !here.empty()) return here + " here, and not on rank 0";
  return only_in(root, mine) + " on rank 0, and not here";
}

// Names that come to the same by other calls.
std::string changes_difference(const Schema& mine, const Schema& root) {
  for (std::size_t i = 0; i < std::max(mine.changes.size(), root.changes.size()); ++i) {
    const std::string m = i < mine.changes.size() ? text_of(mine.changes[i]) : "nothing more";
    const std::string r = i < root.changes.size() ? text_of(root.changes[i]) : "nothing more";
    if (m != r) return fmt::format("this rank asked to {}, rank 0 to {}", m, r);
  }
  return "";
}

}  // namespace

std::string first_difference(const Bytes& mine, const Bytes& of_root) {
  ByteReader my_reader(mine);
  ByteReader root_reader(of_root);
  const Schema m = unpack_schema(my_reader);
  const Schema r = unpack_schema(root_reader);
  std::string difference = groups_difference(m, r);
  if (difference.empty()) difference = dims_difference(m, r);
  if (difference.empty()) difference = attributes_difference(m.attributes, r.attributes, " of the file");
  if (difference.empty()) difference = variables_difference(m, r);
  if (difference.empty()) difference = changes_difference(m, r);
  if (!difference.empty()) return difference;
  if (my_reader.get<std::vector<std::int64_t>>() != root_reader.get<std::vector<std::int64_t>>())
    return "variables share decompositions in another way than on rank 0";
  return values_difference(my_reader.get<std::vector<std::string>>(),
                           root_reader.get<std::vector<std::string>>());
}

}  // namespace shoal
