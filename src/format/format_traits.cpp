// SPDX-License-Identifier: BSD-3-Clause
#include "format/format_traits.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "base/error.hpp"
#include "base/text.hpp"
#include "storage/paths.hpp"
#include "storage/store.hpp"

namespace shoal {

namespace {

std::deque<FormatTraits>& rows() {
  static std::deque<FormatTraits> known = [] {
    std::deque<FormatTraits> all;
    // A format is listed here.
    for (const auto& of_folder : {classic_formats(), netcdf4_formats(), raw_formats(), zarr_formats()})
      all.insert(all.end(), of_folder.begin(), of_folder.end());
    return all;
  }();
  return known;
}

const FormatTraits* found(Format format) {
  const auto& all = rows();
  const auto at = std::find_if(all.begin(), all.end(), [&](const auto& row) { return row.format == format; });
  return at == all.end() ? nullptr : &*at;
}

bool is_called(const FormatTraits& row, const std::string& name) {
  return name == row.name || std::any_of(row.other_names.begin(), row.other_names.end(),
                                         [&](const char* other) { return name == other; });
}

/// Is the file a header of the format? One without a byte is that of a dataset that was never committed; one
/// that cannot be read, or is of an unknown version, is one, too, and opening it says what is wrong.
bool is_header(const FormatTraits& row, Store& store) {
  std::array<std::byte, 8> start{};
  const std::size_t n = store.read(0, start);
  return n == 0 || row.recognise(store, std::span(start).first(n)).has_value();
}

}  // namespace

const std::deque<FormatTraits>& all_formats() {
  return rows();
}

const FormatTraits& traits_of(Format format) {
  const FormatTraits* const row = found(format);
  if (row == nullptr)
    throw Error(Code::internal, "there is no format with the number {}", static_cast<int>(format));
  return *row;
}

void add_formats(const std::vector<FormatTraits>& more) {
  rows().insert(rows().end(), more.begin(), more.end());
}

std::string root_object_in(Container& container) {
  std::string refused;
  for (const FormatTraits& row : rows()) {
    if (!row.holds_objects() || row.recognise == nullptr) continue;
    const Status status = caught([&] {
      if (!is_header(row, *container.open(row.root_object, StoreMode::read)))
        throw Error(Code::not_found, "it is another format's");
    });
    if (status.ok()) return row.root_object;
    if (status.code != Code::not_found && refused.empty()) refused = row.root_object;
  }
  return refused;
}

std::string header_file_of(const std::string& path) {
  if (!is_a_folder(path)) return path;
  // A pipe of this name is not opened: it would wait for a writer.
  const auto has_root = [&](const FormatTraits& row) {
    return row.holds_objects() && is_a_file(joined_path(path, row.root_object));
  };
  if (std::none_of(rows().begin(), rows().end(), has_root)) return path;
  const std::string root = root_object_in(*folder_container(path, open_posix_store));
  return root.empty() ? path : joined_path(path, root);
}

std::vector<Type> classic_types() {
  return {Type::byte_, Type::char_, Type::short_, Type::int_, Type::float_, Type::double_};
}

std::vector<Type> number_types() {
  std::vector<Type> types = classic_types();
  types.insert(types.end(), {Type::ubyte, Type::ushort, Type::uint, Type::int64, Type::uint64});
  return types;
}

const char* name_of(Format format) {
  const FormatTraits* const row = found(format);
  return row == nullptr ? "unknown" : row->name;
}

Format format_of(const std::string& name) {
  const std::string wanted = lower(trimmed(name));
  std::vector<std::string> names;
  for (const FormatTraits& row : rows()) {
    if (is_called(row, wanted)) return row.format;
    names.emplace_back(row.name);
  }
  throw Error(Code::setting, "no file format is called '{}'{}", name, did_you_mean(wanted, names));
}

bool holds(Format format, Type type) {
  const auto& types = traits_of(format).types;
  return std::find(types.begin(), types.end(), type) != types.end();
}

}  // namespace shoal
