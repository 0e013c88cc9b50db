// SPDX-License-Identifier: BSD-3-Clause
// Reads the TOML text of a configuration.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "base/text.hpp"
#include "base/toml_text.hpp"
#include "dataset/settings/settings.hpp"
#include "streams/configuration.hpp"
#include "streams/value_reader.hpp"

namespace shoal::streams {

namespace {

const std::vector<std::string> k_top_keys = {"defaults", "file", "report", "title", "calendar_note"};
// Of a table [[file]]; but for the first two they may stand in [defaults], too. Settings of datasets come on
// top.
const std::vector<std::string> k_file_keys = {
    "regions",      "at",       "section",      "name",       "fields",         "every",
    "offset",       "new_file", "climatology",  "operation",  "region",         "indices",
    "levels",       "reduce",   "interpolate",  "from",       "until",          "missing",
    "unfinished",   "commit",   "time",         "time_units", "fms_attributes", "type",
    "attributes",   "enabled",  "scale_factor", "add_offset", "strict",         "time_origin",
    "sample_every", "pack",     "pyramid"};
const std::vector<std::string> k_field_keys = {"field",      "group",         "expression",   "name",
                                               "operation",  "type",          "scale_factor", "add_offset",
                                               "attributes", "enabled",       "long_name",    "standard_name",
                                               "units",      "missing_value", "sample_every", "pack"};
// Of a field: attributes of its variable that are texts.
constexpr const char* k_attribute_keys[] = {"long_name", "standard_name", "units"};

constexpr const char* k_two_brackets = "files are tables in a list: [[file]], with two brackets";

/// Of the first line that is this table's head; 0: none is.
int line_of_table(const std::string& text, const std::string& head) {
  int line = 0;
  for (std::size_t at = 0; at < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (trimmed(text.substr(at, std::min(end, text.find('#', at)) - at)) == head) return line + 1;
    at = end + 1;
  }
  return 0;
}

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const auto& key : setting_keys())
    names.emplace_back(key.name);
  return names;
}

/// Reads tables of one configuration, and keeps what is wrong.
class Reader : private SelectionReader {
 public:
  Reader(const toml::table& document, std::vector<Problem>& problems)
      : SelectionReader(problems), document_(document), setting_names_(setting_names()) {}

  void read(Configuration& out) {
    check_keys(document_, k_top_keys, "");
    if (const auto* node = document_.get("report")) out.report = text(*node, "report");
    for (const char* key : {"title", "calendar_note"})
      if (const auto* node = document_.get(key)) text(*node, key);
    if (const auto* node = document_.get("defaults")) {
      defaults_ = node->as_table();
      if (defaults_ == nullptr)
        problem(*node, "defaults", "is a table: [defaults]");
      else
        check_defaults();
    }
    const auto* node = document_.get("file");
    const toml::array* files = node == nullptr ? nullptr : node->as_array();
    if (node == nullptr)
      problems_.push_back({0, "", "there is no table [[file]], so nothing would be written"});
    else if (files == nullptr)
      problem(*node, "file", k_two_brackets);
    else
      for (const auto& entry : *files)
        read_file(entry, out);
    // Those of no line last.
    std::stable_sort(problems_.begin(), problems_.end(), [](const Problem& a, const Problem& b) {
      return static_cast<unsigned>(a.line - 1) < static_cast<unsigned>(b.line - 1);
    });
    // What is wrong in [defaults] each file finds.
    problems_.erase(std::unique(problems_.begin(), problems_.end(),
                                [](const Problem& a, const Problem& b) {
                                  return a.line == b.line && a.key == b.key && a.message == b.message;
                                }),
                    problems_.end());
  }

 private:
  void check_defaults() {
    for (const auto& [key, node] : *defaults_) {
      const std::string name(key.str());
      if (name == "name" || name == "fields")
        problem(node, name, "is of one file, and cannot be a default");
      else if (!is_file_key(name) && !is_setting(node, name))
        unknown(key, node, name, file_keys_and_settings(), "[defaults]");
    }
  }
  static bool is_file_key(const std::string& name) {
    return std::find(k_file_keys.begin(), k_file_keys.end(), name) != k_file_keys.end();
  }
  /// A wrong value is a problem of its own.
  bool is_setting(const toml::node& node, const std::string& name) {
    const bool known = std::find(setting_names_.begin(), setting_names_.end(), name) != setting_names_.end();
    if (known)
      checked(node, name, [&] { Settings().set(name, toml_value(node, name), "the configuration"); });
    return known;
  }
  std::vector<std::string> file_keys_and_settings() const {
    std::vector<std::string> names = k_file_keys;
    names.insert(names.end(), setting_names_.begin(), setting_names_.end());
    return names;
  }

  std::optional<double> scale_factor(const toml::node& node) {
    const auto value = number(node, "scale_factor");
    if (value == 0) problem(node, "scale_factor", "is not 0: values are packed * scale_factor + add_offset");
    return value;
  }
  std::optional<PackRequest> pack(const toml::node& node) {
    PackRequest out;
    checked(node, "pack", [&] { out = pack_request_of(text(node, "pack")); });
    if (out.kind != PackRequest::Kind::attributes) return out;
    problem(
        node, "pack",
        "is a type with the least and the greatest value, as in \"short(-2, 35)\", or \"none\"; scale_factor "
        "and add_offset are keys of their own");
    return std::nullopt;
  }
  // The keys that `pack` stands for.
  void check_pack(const toml::table& table) {
    const auto* given = table.get("pack");
    for (const char* const key : {"type", "scale_factor", "add_offset"})
      if (given != nullptr && table.contains(key))
        problem(*given, "pack", fmt::format("gives {} as well; leave one of them out", key));
  }
  std::optional<Type> type(const toml::node& node, const std::string& key) {
    std::optional<Type> out;
    const std::string given = text(node, key);
    if (given.empty()) return out;
    checked(node, key, [&] {
      const Type named = type_of(given);
      if (!is_number(named)) throw Error(Code::setting, "type {} is none of numbers", given);
      out = named;
    });
    return out;
  }
  /// NaN is one, too.
  std::optional<double> missing_value(const toml::node& node) {
    const auto value = node.is_number() ? node.value<double>() : std::nullopt;
    if (!value || std::isinf(*value)) problem(node, "missing_value", "is a number, or nan");
    return value;
  }
  std::optional<Duration> sample_every(const toml::node& node) {
    const Duration given = duration(node, "sample_every");
    if (given.count > 0) return given;
    problem(node, "sample_every", "is a length of time, or of steps, more than nothing");
    return {};
  }
  TimeOperation operation(const toml::node& node, const std::string& key) {
    TimeOperation out;
    const std::string given = text(node, key);
    if (!given.empty()) checked(node, key, [&] { out = parse_operation(given); });
    return out;
  }
  std::vector<AttributeChoice> attributes(const toml::node& node) {
    std::vector<AttributeChoice> out;
    const auto* table = node.as_table();
    if (table == nullptr) {
      problem(node, "attributes", "is a table: { title = \"...\", run = 3 }");
      return out;
    }
    for (const auto& [key, value] : *table) {
      AttributeChoice attribute{std::string(key.str()), {}, line_of_node(value)};
      if (attribute.name == "scale_factor" || attribute.name == "add_offset")
        problem(value, "attributes." + attribute.name,
                "is a key beside attributes, by which values are packed; they get the attribute");
      else if (const auto words_of = value.value_exact<std::string>())
        attribute.value = *words_of;
      else if (!numbers_of(value, attribute))
        problem(value, "attributes." + attribute.name, "is text, a number, or a list of numbers");
      out.push_back(std::move(attribute));
    }
    return out;
  }
  static bool numbers_of(const toml::node& value, AttributeChoice& attribute) {
    std::vector<double> reals;
    std::vector<std::int64_t> whole;
    const auto take = [&](const toml::node& item) {
      if (!item.is_number()) return false;
      if (item.is_integer()) whole.push_back(*item.value<std::int64_t>());
      reals.push_back(*item.value<double>());
      return true;
    };
    if (const auto* list = value.as_array()) {
      if (list->empty()) return false;
      for (const auto& item : *list)
        if (!take(item)) return false;
    } else if (!take(value)) {
      return false;
    }
    if (whole.size() == reals.size())
      attribute.value = std::move(whole);
    else
      attribute.value = std::move(reals);
    return true;
  }

  std::vector<FieldChoice> fields(const toml::node& node) {
    std::vector<FieldChoice> out;
    const auto* list = node.as_array();
    if (list == nullptr || list->empty()) {
      problem(node, "fields", "is a list: [\"temp\", { field = \"zeta\", operation = \"maximum\" }]");
      return out;
    }
    for (const auto& entry : *list)
      read_field(entry, out);
    return out;
  }
  /// Keys that stand for an attribute.
  void read_attribute_keys(const toml::table& table, FieldChoice& field) {
    for (const char* key : k_attribute_keys) {
      const auto* node = table.get(key);
      if (node == nullptr) continue;
      if (std::any_of(field.attributes.begin(), field.attributes.end(),
                      [&](const AttributeChoice& other) { return other.name == key; }))
        problem(*node, key, "stands in attributes, too");
      field.attributes.push_back({key, text(*node, key), line_of_node(*node)});
    }
    const auto* node = table.get("missing_value");
    for (const AttributeChoice& attribute : field.attributes)
      if (node != nullptr && (attribute.name == "missing_value" || attribute.name == "_FillValue"))
        problem(*node, "missing_value", "stands in attributes, too");
  }
  static FieldChoice named(const std::string& name, int line) {
    FieldChoice field;
    field.text = name;
    field.line = line;
    if (name.find_first_of("*?[") != std::string::npos) field.by = FieldChoice::By::pattern;
    return field;
  }
  void read_field(const toml::node& entry, std::vector<FieldChoice>& out) {
    if (const auto name = entry.value_exact<std::string>()) {
      if (name->empty()) return problem(entry, "fields", "the name of a field is empty");
      out.push_back(named(*name, line_of_node(entry)));
      return;
    }
    const auto* table = entry.as_table();
    if (table == nullptr)
      return problem(entry, "fields",
                     "an entry is a name, a pattern (\"u*\") or a table: { field = \"temp\" }");
    check_keys(*table, k_field_keys, "a field");
    FieldChoice field;
    int chosen = 0;
    const auto choose = [&](const char* key, FieldChoice::By by) {
      const auto* node = table->get(key);
      if (node == nullptr) return;
      const std::string given = text(*node, key);
      field = named(given, line_of_node(entry));
      if (by != FieldChoice::By::name) field.by = by;
      chosen += 1;
      if (given.empty()) problem(*node, key, "is empty");
    };
    choose("field", FieldChoice::By::name);
    choose("group", FieldChoice::By::group);
    choose("expression", FieldChoice::By::expression);
    if (chosen != 1) return problem(entry, "fields", "an entry has one of: field, group, expression");
    if (const auto* name = table->get("name")) field.name = text(*name, "name");
    if (!field.name.empty() && (field.by == FieldChoice::By::pattern || field.by == FieldChoice::By::group))
      problem(entry, "name", "is for one field; a pattern or group may be many");
    if (field.name.empty() && field.by == FieldChoice::By::expression)
      problem(entry, "name", "is missing: an expression has no name of its own");
    if (const auto* what = table->get("operation")) field.operation = operation(*what, "operation");
    if (const auto* kind = table->get("type")) field.type = type(*kind, "type");
    if (const auto* given = table->get("scale_factor")) field.scale_factor = scale_factor(*given);
    if (const auto* given = table->get("add_offset")) field.add_offset = number(*given, "add_offset");
    if (const auto* given = table->get("pack")) field.pack = pack(*given);
    check_pack(*table);
    if (const auto* given = table->get("attributes")) field.attributes = attributes(*given);
    if (const auto* given = table->get("missing_value")) field.missing_value = missing_value(*given);
    if (const auto* given = table->get("sample_every")) field.sample_every = sample_every(*given);
    read_attribute_keys(*table, field);
    const auto* enabled = table->get("enabled");
    if (enabled == nullptr || flag(*enabled, "enabled")) out.push_back(std::move(field));
  }

  /// The value of a key of a file: its own, or the default.
  const toml::node* of_file(const toml::table& table, const char* key) const {
    const auto* node = table.get(key);
    return node != nullptr || defaults_ == nullptr ? node : defaults_->get(key);
  }

  void read_file(const toml::node& entry, Configuration& out) {
    const auto* table = entry.as_table();
    if (table == nullptr) return problem(entry, "file", "a file is a table: [[file]]");
    const std::size_t before = problems_.size();
    FileChoice file;
    file.line = line_of_node(entry);
    read_keys(*table, file);
    read_settings(*table, file);
    check_file(*table, file, out);
    const auto* enabled = of_file(*table, "enabled");
    const bool is_on = enabled == nullptr || flag(*enabled, "enabled");
    if (problems_.size() == before && is_on) out.files.push_back(std::move(file));
  }

  void read_keys(const toml::table& table, FileChoice& file) {
    const auto take = [&](const char* key, auto&& use) {
      const auto* node = of_file(table, key);
      if (node == nullptr) return;
      file.lines.emplace_back(key, line_of_node(*node));
      use(*node);
    };
    take("name", [&](const auto& node) { file.name = text(node, "name"); });
    take("every", [&](const auto& node) { file.every = duration(node, "every"); });
    take("offset", [&](const auto& node) { file.offset = duration(node, "offset"); });
    take("new_file", [&](const auto& node) { file.new_file = duration(node, "new_file"); });
    take("climatology", [&](const auto& node) { file.climatology = flag(node, "climatology"); });
    take("operation", [&](const auto& node) { file.operation = operation(node, "operation"); });
    take("fields", [&](const auto& node) { file.fields = fields(node); });
    take("region", [&](const auto& node) { file.region = region(node, "region"); });
    take("regions", [&](const auto& node) { file.regions = regions(node); });
    take("at", [&](const auto& node) { file.sites = at(node); });
    take("section", [&](const auto& node) { file.sites = section(node); });
    take("indices", [&](const auto& node) { file.indices = indices(node); });
    take("levels", [&](const auto& node) { file.levels = levels(node); });
    take("pyramid", [&](const auto& node) { file.pyramid = pyramid(node); });
    take("reduce", [&](const auto& node) { file.reduce = reduction(node); });
    take("interpolate", [&](const auto& node) { file.interpolate = interpolation(node); });
    take("from", [&](const auto& node) { file.from = text(node, "from"); });
    take("until", [&](const auto& node) { file.until = text(node, "until"); });
    take("missing", [&](const auto& node) {
      file.missing =
          word<MissingSteps>(node, "missing", {{"error", MissingSteps::error}, {"warn", MissingSteps::warn}});
    });
    take("unfinished", [&](const auto& node) {
      file.unfinished =
          word<Unfinished>(node, "unfinished", {{"drop", Unfinished::drop}, {"write", Unfinished::write}});
    });
    take("commit", [&](const auto& node) {
      file.commit = word<Commit>(node, "commit", {{"record", Commit::record}, {"close", Commit::close}});
    });
    take("time", [&](const auto& node) {
      file.time = word<TimePosition>(node, "time",
                                     {{"automatic", TimePosition::automatic},
                                      {"start", TimePosition::start},
                                      {"middle", TimePosition::middle},
                                      {"end", TimePosition::end}});
    });
    take("time_units", [&](const auto& node) {
      file.time_units = word<TimeUnit>(node, "time_units",
                                       {{"seconds", TimeUnit::seconds},
                                        {"minutes", TimeUnit::minutes},
                                        {"hours", TimeUnit::hours},
                                        {"days", TimeUnit::days}});
    });
    take("fms_attributes", [&](const auto& node) { file.fms_attributes = flag(node, "fms_attributes"); });
    take("type", [&](const auto& node) { file.type = type(node, "type"); });
    take("scale_factor", [&](const auto& node) { file.scale_factor = scale_factor(node); });
    take("add_offset", [&](const auto& node) { file.add_offset = number(node, "add_offset"); });
    const bool own_packing =
        table.contains("type") || table.contains("scale_factor") || table.contains("add_offset");
    if (table.contains("pack") || !own_packing)
      take("pack", [&](const auto& node) { file.pack = pack(node); });
    check_pack(table);
    take("time_origin", [&](const auto& node) { file.time_origin = text(node, "time_origin"); });
    take("sample_every", [&](const auto& node) { file.sample_every = sample_every(node); });
    take("strict", [&](const auto& node) { file.strict = flag(node, "strict"); });
    take("attributes", [&](const auto& node) { file.attributes = attributes(node); });
  }

  /// Those of the defaults first, so that the file's come last and count. A file's own name says more of its
  /// format than [defaults] do.
  void read_settings(const toml::table& table, FileChoice& file) {
    const bool is_named_zarr = !table.contains("format") && file.name.ends_with(".zarr");
    if (is_named_zarr) file.settings.emplace_back("format", "zarr");
    if (defaults_ != nullptr)
      for (const auto& [key, node] : *defaults_) {
        const std::string name(key.str());
        const bool known =
            std::find(setting_names_.begin(), setting_names_.end(), name) != setting_names_.end();
        if (known && !is_file_key(name) && !table.contains(name) && !(is_named_zarr && name == "format") &&
            (node.is_string() || node.is_number() || node.is_boolean()))
          file.settings.emplace_back(name, toml_value(node, name));
      }
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      if (is_file_key(name)) continue;
      const std::size_t before = problems_.size();
      if (!is_setting(node, name))
        unknown(key, node, name, file_keys_and_settings(), "[[file]]");
      else if (problems_.size() == before)
        file.settings.emplace_back(name, toml_value(node, name));
    }
  }

  void check_windows(const toml::table& table, const FileChoice& file) {
    const auto& every = *of_file(table, "every");
    const bool steps = file.every.kind == Duration::Kind::steps;
    if (steps && file.every.count < 1) return problem(every, "every", "is more than nothing");
    if (!steps) checked(every, "every", [&] { Windows({}, file.every, {}, {}); });
    if (!file.offset) return;
    const auto& offset = *of_file(table, "offset");
    if (steps)
      problem(offset, "offset", "windows of steps are counted from the first step, and cannot be moved");
    else
      checked(offset, "offset", [&] { Windows({}, file.every, *file.offset, {}); });
  }

  /// Values are taken at least once a window, as far as that is known without dates and steps.
  void check_sample(const FileChoice& file, const std::optional<Duration>& sample, int line) {
    if (!sample || file.every.count < 1) return;
    using Kind = Duration::Kind;
    constexpr std::int64_t k_shortest_month = 28 * k_day;
    const bool is_longer = sample->kind == file.every.kind ? sample->count > file.every.count
                           : sample->kind == Kind::months && file.every.kind == Kind::microseconds
                               ? file.every.count / k_shortest_month < sample->count
                               : false;
    if (is_longer)
      problems_.push_back(
          {line, "sample_every",
           fmt::format("{} is longer than the windows of {}, some of which would have no value",
                       text_of(*sample), text_of(file.every))});
  }

  void check_new_file(const FileChoice& file) {
    const auto add = [&](std::string message) {
      problems_.push_back({file.line_of("new_file"), "new_file", std::move(message)});
    };
    if (file.new_file->kind == Duration::Kind::steps || file.new_file->count < 1)
      return add("is a length of time (days, months, years), not of steps, and more than nothing");
    if (const Status status = caught([&] { Windows({}, *file.new_file, {}, {}); }); !status.ok())
      return add(status.message);
    if (file.climatology) return add("one file holds a climatology; new_file cannot be set with it");
    if (!tells_apart(file.name, *file.new_file))
      add(
          fmt::format("makes several files, but the name '{}' has no date that tells them apart (%Y, %m, %d, "
                      "%H, ...), so that each would replace the one before",
                      file.name));
  }
  /// Those of patterns and groups the model knows.
  void check_names(const FileChoice& file) {
    std::set<std::string> names;
    for (const auto& field : file.fields) {
      const bool has_name = !field.name.empty() || field.by == FieldChoice::By::name;
      const std::string& name = field.name.empty() ? field.text : field.name;
      if (has_name && !names.insert(name).second)
        problems_.push_back(
            {field.line, "fields",
             fmt::format("the file has '{}' twice; give one of them another name = \"...\"", name)});
    }
  }
  /// Keys that choose cells by their coordinates.
  void check_one_choice(const toml::table& table) {
    const char* first = nullptr;
    for (const char* key : {"region", "regions", "at", "section"}) {
      const auto* node = of_file(table, key);
      if (node == nullptr) continue;
      if (first != nullptr)
        problem(*node, key,
                fmt::format("a file has one of region, regions, at and section, and this one has {}, too",
                            first));
      first = key;
    }
  }
  void check_pyramid(const toml::table& table, const FileChoice& file) {
    const auto add = [&](std::string message) {
      problems_.push_back({file.pyramid->line, "pyramid", std::move(message)});
    };
    for (const char* key : {"regions", "at", "section"})
      if (of_file(table, key) != nullptr)
        add(fmt::format("is of a grid's cells, all or those of one region; this file has {}", key));
    if (const Format format = file.format(); !traits_of(format).has_groups)
      add(
          fmt::format("has its levels in groups, which format {} does not have; choose format = \"zarr\" or "
                      "\"netcdf4\"",
                      name_of(format)));
  }
  void check_climatology(const FileChoice& file) {
    const Status status = caught([&] {
      if (file.every.kind == Duration::Kind::steps)
        throw Error(Code::setting, "windows of steps are in no part of the year");
      Windows({}, file.every, file.offset.value_or(Duration{}), {}).slots_of_year();
    });
    if (!status.ok()) problems_.push_back({file.line_of("climatology"), "climatology", status.message});
    if (file.time != TimePosition::automatic && file.time != TimePosition::middle)
      problems_.push_back({file.line_of("time"), "time",
                           "records of a climatology lie in the middle of the window of its first year"});
  }

  void check_file(const toml::table& table, const FileChoice& file, const Configuration& out) {
    const std::size_t before = problems_.size();
    for (const char* key : {"name", "every", "fields"})
      if (of_file(table, key) == nullptr) problem(table, key, "is missing in this [[file]]");
    if (file.name.empty() && table.contains("name")) problem(*table.get("name"), "name", "is empty");
    if (const auto* node = of_file(table, "name"); node != nullptr && !file.name.empty())
      checked(*node, "name", [&] { check_file_name(file.name); });
    if (!file.new_file && file.until.empty() && has_end_date(file.name))
      problems_.push_back({file.line_of("name"), "name",
                           "a date of the end of the file (%EY ...) is known with new_file or until"});
    check_sample(file, file.sample_every, file.line_of("sample_every"));
    for (const auto& field : file.fields)
      check_sample(file, field.sample_every, field.line);
    if (problems_.size() == before) check_windows(table, file);
    if (file.new_file) check_new_file(file);
    if (file.climatology && problems_.size() == before) check_climatology(file);
    for (const auto& field : file.fields)
      if (!field.operation && !file.operation)
        problems_.push_back(
            {field.line, "operation",
             fmt::format("is missing: '{}' has none, nor has its file or [defaults] (instant, "
                         "mean, maximum, ...)",
                         field.text)});
    check_names(file);
    check_one_choice(table);
    if (file.pyramid && problems_.size() == before) check_pyramid(table, file);
    if (file.interpolate && !file.levels.empty())
      problems_.push_back({file.line_of("levels"), "levels", "interpolate says which levels the file has"});
    if (file.interpolate && file.interpolate->after && file.reduce)
      problems_.push_back(
          {file.line_of("interpolate"), "interpolate.when", "of values that reduce joins it is \"before\""});
    for (const auto& other : out.files)
      if (!file.name.empty() && other.name == file.name)
        problems_.push_back({file.line_of("name"), "name",
                             fmt::format("'{}' is the file of line {}, too", file.name, other.line)});
  }

  const toml::table& document_;
  const toml::table* defaults_ = nullptr;
  std::vector<std::string> setting_names_;
};

}  // namespace

Configuration read_configuration(const std::string& text, const std::string& path,
                                 std::vector<Problem>& problems) {
  Configuration out;
  out.path = path;
  out.text = text;
  toml::table document;
  const Status parsed = caught([&] { document = parse_toml(text, path); });
  if (!parsed.ok()) {
    // A second [file] is what TOML cannot have; the first one alone is a table.
    if (const int line = line_of_table(text, "[file]"); line > 0) {
      problems.push_back({line, "file", k_two_brackets});
      return out;
    }
    Problem problem{0, "", parsed.message};
    if (parsed.message.starts_with("line ")) {
      const std::size_t colon = parsed.message.find(": ");
      problem.line = std::atoi(parsed.message.c_str() + 5);
      if (colon != std::string::npos) problem.message = parsed.message.substr(colon + 2);
    }
    problems.push_back(std::move(problem));
    return out;
  }
  Reader(document, problems).read(out);
  compose_names(out);
  return out;
}

}  // namespace shoal::streams
