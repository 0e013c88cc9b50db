// SPDX-License-Identifier: BSD-3-Clause
#include "streams_program/model.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/array_view.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "base/toml_text.hpp"

namespace shoal::streams {

namespace {

int line_of(const toml::node& node) {
  return static_cast<int>(node.source().begin.line);
}

/// One table of the file, whose keys are taken one by one.
class Table {
 public:
  Table(const toml::table& table, std::string kind) : table_(table), kind_(std::move(kind)) {}

  void check_keys(const std::vector<std::string>& known) const {
    for (const auto& [key, node] : table_) {
      const std::string name(key.str());
      if (std::find(known.begin(), known.end(), name) == known.end())
        throw Error(Code::setting, "'{}' is no key of [[{}]]{}", name, kind_, did_you_mean(name, known));
    }
  }
  bool has(const char* key) const { return table_.contains(key); }
  std::string text(const char* key, const char* usual = nullptr) const {
    const auto* node = table_.get(key);
    if (node == nullptr && usual != nullptr) return usual;
    const auto value = node == nullptr ? std::optional<std::string>() : node->value_exact<std::string>();
    if (!value || (usual == nullptr && value->empty()))
      throw Error(Code::setting, "{} of [[{}]] is text in quotes", key, kind_);
    return *value;
  }
  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> out;
    for_each(key, "text in quotes", [&](const toml::node& item) {
      const auto value = item.value_exact<std::string>();
      if (value) out.push_back(*value);
      return value.has_value();
    });
    return out;
  }
  std::vector<double> numbers(const char* key) const {
    std::vector<double> out;
    for_each(key, "numbers", [&](const toml::node& item) {
      if (item.is_number()) out.push_back(*item.value<double>());
      return item.is_number();
    });
    return out;
  }
  std::vector<std::int64_t> lengths(const char* key) const {
    std::vector<std::int64_t> out;
    for_each(key, "whole numbers, more than 0", [&](const toml::node& item) {
      const auto value = item.value_exact<std::int64_t>();
      if (value && *value > 0) out.push_back(*value);
      return value && *value > 0;
    });
    return out;
  }
  double number(const char* key) const {
    const auto* node = table_.get(key);
    if (node == nullptr || !node->is_number())
      throw Error(Code::setting, "{} of [[{}]] is a number", key, kind_);
    return *node->value<double>();
  }
  std::int64_t length(const char* key) const {
    const auto* node = table_.get(key);
    const auto value = node == nullptr ? std::optional<std::int64_t>() : node->value_exact<std::int64_t>();
    if (!value || *value < 1)
      throw Error(Code::setting, "{} of [[{}]] is a whole number, more than 0", key, kind_);
    return *value;
  }
  const toml::table* table(const char* key) const {
    const auto* node = table_.get(key);
    return node == nullptr ? nullptr : node->as_table();
  }

 private:
  template <class Take>
  void for_each(const char* key, const char* what, Take&& take) const {
    const auto* node = table_.get(key);
    if (node == nullptr) return;
    const auto* list = node->as_array();
    for (std::size_t i = 0; list != nullptr && i < list->size(); ++i)
      if (!take(*list->get(i))) list = nullptr;
    if (list == nullptr) throw Error(Code::setting, "{} of [[{}]] is a list of {}", key, kind_, what);
  }

  const toml::table& table_;
  std::string kind_;
};

void add_axis(const Table& table, Descriptions& model) {
  table.check_keys({"name", "length", "values", "first", "step", "bounds"});
  const std::string name = table.text("name");
  std::vector<double> values = table.numbers("values");
  if (table.has("first") != table.has("step"))
    throw Error(Code::setting, "axis '{}': first and step go together", name);
  const std::int64_t length = values.empty() || table.has("length")
                                  ? table.length("length")
                                  : static_cast<std::int64_t>(values.size());
  if (!values.empty() && length != static_cast<std::int64_t>(values.size()))
    throw Error(Code::setting, "axis '{}' has {} values, and the length {}", name, values.size(), length);
  if (table.has("first")) {
    if (!values.empty())
      throw Error(Code::setting, "axis '{}' has values; first and step are in their place", name);
    for (std::int64_t i = 0; i < length; ++i)
      values.push_back(table.number("first") + static_cast<double>(i) * table.number("step"));
  }
  std::vector<double> bounds = table.numbers("bounds");
  if (!bounds.empty() && static_cast<std::int64_t>(bounds.size()) != 2 * length)
    throw Error(Code::setting, "axis '{}': bounds are two numbers for each of the {} cells, in one list",
                name, length);
  const ArrayView of_bounds = ArrayView::contiguous(bounds.data(), Type::double_, Dims{length, 2});
  model.add_axis(name,
                 ArrayView::contiguous(values.empty() ? nullptr : values.data(), Type::double_, Dims{length}),
                 bounds.empty() ? nullptr : &of_bounds);
}

void add_grid(const Comm& comm, const Table& table, Model& model) {
  table.check_keys({"name", "dims", "lengths", "coordinates", "area"});
  const std::string name = table.text("name");
  const std::vector<std::string> dims = table.texts("dims");
  std::vector<std::int64_t> lengths = table.lengths("lengths");
  if (!table.has("lengths"))
    for (const auto& dim : dims) {
      const Axis* axis = model.descriptions.axis(dim);
      if (axis == nullptr)
        throw Error(Code::setting, "grid '{}' has no lengths, and dimension '{}' is no [[axis]] before it",
                    name, dim);
      lengths.push_back(axis->length);
    }
  if (dims.empty() || dims.size() != lengths.size())
    throw Error(Code::setting, "grid '{}' has {} dims and {} lengths; there is one for each", name,
                dims.size(), lengths.size());
  Dims global(static_cast<int>(dims.size()));
  for (std::size_t d = 0; d < dims.size(); ++d)
    global[static_cast<int>(d)] = lengths[d];
  const Dims none(global.size());
  std::string names;
  for (const auto& dim : dims)
    names += (names.empty() ? "" : " ") + dim;
  model.descriptions.add_grid(name, names, Decomposition::block(comm, global, Box(none, global), none, none));
  for (const auto& coordinate : table.texts("coordinates"))
    model.unknown_coordinates.insert(coordinate);
  if (!table.has("area")) return;
  // Any areas do: nothing is computed with them.
  const std::vector<double> areas(static_cast<std::size_t>(volume(global)), 1.0);
  ArrayView view = ArrayView::contiguous(const_cast<double*>(areas.data()), Type::double_, global);
  model.descriptions.add_grid_variable(name, table.text("area"), view, true);
}

void add_field(const Table& table, Model& model) {
  table.check_keys({"name", "dims", "type", "grid", "group", "holds", "attributes"});
  const std::string name = table.text("name");
  const std::string holds = table.text("holds", "instant");
  if (holds != "instant" && holds != "step")
    throw Error(Code::setting, "field '{}': holds is '{}'; it can be \"instant\" or \"step\"", name, holds);
  std::string dims;
  for (const auto& dim : table.texts("dims"))
    dims += (dims.empty() ? "" : " ") + dim;
  model.descriptions.add_field(name, type_of(table.text("type", "double")), dims, table.text("grid", ""),
                               table.text("group", ""), holds == "step");
  const auto* attributes = table.table("attributes");
  if (attributes == nullptr) return;
  for (const auto& [key, node] : *attributes) {
    const std::string of(key.str());
    if (const auto text = node.value_exact<std::string>()) {
      model.descriptions.put_att(name, of, Type::char_, static_cast<std::int64_t>(text->size()),
                                 text->data());
    } else if (node.is_number()) {
      const double value = *node.value<double>();
      model.descriptions.put_att(name, of, Type::double_, 1, &value);
    } else {
      throw Error(Code::setting, "field '{}': attribute '{}' is neither text nor a number", name, of);
    }
  }
}

}  // namespace

Model read_model(const Comm& comm, const std::string& text, const std::string& path,
                 std::vector<Problem>& problems) {
  Model model;
  toml::table document;
  const Status parsed = caught([&] { document = parse_toml(text, path); });
  if (!parsed.ok()) {
    problems.push_back({0, "", parsed.message});
    return model;
  }
  for (const auto& [key, node] : document)
    if (key.str() != "axis" && key.str() != "grid" && key.str() != "field")
      problems.push_back({line_of(node), std::string(key.str()),
                          "is no table of a file of fields; there are [[axis]], [[grid]] and [[field]]"});
  for (const char* kind : {"axis", "grid", "field"}) {
    const auto* tables = document[kind].as_array();
    for (std::size_t i = 0; tables != nullptr && i < tables->size(); ++i) {
      const Status status = caught([&] {
        const auto* table = tables->get(i)->as_table();
        if (table == nullptr) throw Error(Code::setting, "is no table: write [[{}]]", kind);
        const Table found(*table, kind);
        if (*kind == 'a')
          add_axis(found, model.descriptions);
        else if (*kind == 'g')
          add_grid(comm, found, model);
        else
          add_field(found, model);
      });
      if (!status.ok()) problems.push_back({line_of(*tables->get(i)), kind, status.message});
    }
  }
  if (problems.empty() && model.descriptions.fields().empty())
    problems.push_back({0, "", "there is no [[field]] in it"});
  return model;
}

}  // namespace shoal::streams
