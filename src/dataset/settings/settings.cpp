// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/settings/settings.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <string_view>

#include "base/error.hpp"
#include "base/text.hpp"
#include "codec/filters.hpp"
#include "codec/packing.hpp"
#include "codec/quantize.hpp"
#include "dataset/settings/setting_aliases.hpp"
#include "format/chunk_shape.hpp"
#include "format/schema.hpp"
#include "storage/below.hpp"

namespace shoal {

namespace {

using Kind = SettingKey::Kind;
using Level = SettingKey::Level;

// What Lustre takes as the size of a stripe.
constexpr std::int64_t k_stripe_unit = 64 * 1024;
constexpr std::int64_t k_stripe_end = std::int64_t{1} << 32;

// Where a value of "key?=value" comes from.
constexpr const char* k_own_default = "program's default";

constexpr auto k_keys = std::to_array<SettingKey>({
    // Basic: what most programs set, if anything.
    {"format", Kind::word, "cdf5", "cdf1 cdf2 cdf5 netcdf4 netcdf4-classic raw ascii zarr",
     "format of new files", true, Level::basic},
    {"layout", Kind::word, "one", "one process node domains",
     "how many files a new dataset is: one for all ranks, for each process, node, or I/O domain", true,
     Level::basic},
    {"exists", Kind::word, "replace", "replace error", "what to do when the file to create is there already",
     true, Level::basic},
    {"compression", Kind::text, "none",
     "none, or filters with + between: shuffle, deflate:1 to 12 or zstd:1 to 22, fletcher32; zarr also: "
     "gzip:0 to 9, blosc:zstd:5, ..., crc32c",
     "netcdf4, zarr: of new distributed variables that are given none of their own; by name: temp=...; "
     "salt*=...; "
     "...",
     true, Level::basic},
    {"driver", Kind::word, "native", "native pnetcdf netcdf mpiio gather", "who moves the bytes", false,
     Level::basic},
    {"background", Kind::word, "off", "off thread ranks auto",
     "driver native: who stores what is written: the ranks, within their calls, a thread of each rank while "
     "the model computes, or ranks that serve (shoal_serve); auto: a thread where ranks have cores to spare",
     false, Level::basic},
    {"stage_bytes", Kind::bytes, "256MiB", "64KiB or more",
     "shared memory of a node for fields on their way; unless set, the driver takes the part of it that is "
     "fastest",
     false, Level::basic},
    {"report", Kind::output, "", "a path, - or nothing", "where the report goes when a dataset is closed",
     false, Level::basic},
    // Expert.
    {"access", Kind::word, "collective", "collective independent nonblocking",
     "how other drivers than native call their library for distributed variables", false},
    {"replicated_access", Kind::word, "collective", "collective independent",
     "the same for replicated variables", false},
    {"replicated_read", Kind::word, "one", "one all",
     "replicated variables are read by rank 0, which spreads them, or by every rank for itself", false},
    {"missing_tiles", Kind::word, "refuse", "refuse common fill",
     "a dataset in several files that lacks some, or records in some: refuse it; leave out records that not "
     "all files have; or read what is absent (land) as the fill value",
     false},
    {"missing_fill", Kind::number, "", "a number, or nothing (NetCDF's default)",
     "the fill value of variables that have cells in no file of such a dataset, and none of their own",
     false},
    {"read_masked", Kind::word, "leave", "leave fill",
     "reading with a masked decomposition leaves land as it is in the array, and maps leave holes; or these "
     "get the fill value",
     false},
    {"hints", Kind::text, "", "key=value pairs, semicolons between",
     "for MPI-IO and PnetCDF: cb_nodes=2; romio_cb_write=enable", false},
    {"io_layout", Kind::text, "", "NXxNY, such as 2x4",
     "I/O domains: parts of the grid of tiles in its fastest and second dimension", true},
    {"replace", Kind::word, "at_commit", "at_commit at_once",
     "a file that a new one replaces stays as it is until the first sync or close of the new one, or goes at "
     "once, which needs no room for both",
     true},
    {"lock", Kind::word, "auto", "auto off",
     "auto: a file that is written is locked, where the file system can do that, and one that another job "
     "writes is refused",
     false},
    {"slot_bytes", Kind::bytes, "0", "0 (the driver chooses), or 4KiB or more", "one slot of the stage",
     false},
    {"direct_bytes", Kind::bytes, "128KiB", "1 or more",
     "where all tiles of a node are runs in the file at least this long, ranks store and fetch their own "
     "cells, "
     "past the stage",
     false},
    {"background_close", Kind::flag, "false", "true or false",
     "background=thread or ranks: close does not wait for the store; the file is whole after shoal_wait, "
     "MPI_Finalize, or "
     "when its name is opened again",
     false},
    {"store_bytes_per_second", Kind::bytes, "0", "0 (no limit) or 64KiB or more",
     "background=thread or ranks: no more is stored by all ranks in a second, until close", false},
    {"bypass_page_cache", Kind::word, "auto", "auto off",
     "background=thread or ranks: auto: while nobody waits for the store, it goes to the device without a "
     "copy "
     "in the page cache, where the file system can do that",
     false},
    {"writers", Kind::count, "0", "0 (the driver chooses) or a number of ranks",
     "ranks of a node that store at a time", false},
    {"io_ranks", Kind::count, "0", "0 (the driver chooses) or a number of ranks",
     "ranks that store and fetch boxes of fields; cells are sent to them", false},
    {"io_stride", Kind::count, "0", "0 (as far apart as they can be) or a number of ranks",
     "from one of these ranks to the next", false},
    {"io_base", Kind::count, "0", "a rank, from 0", "the first of these ranks", false},
    {"io_ranks_per_node", Kind::count, "0", "0 or a number of ranks",
     "so many of these ranks on each node, of whose ranks io_stride and io_base count", false},
    {"rearranger", Kind::word, "auto", "auto box subset",
     "each of these ranks stores an even box of a field, or what its own group of ranks has", false},
    {"rearrange", Kind::word, "auto", "auto on off",
     "several nodes: cells are sent to these ranks first, or each node stores its own; auto: by counting",
     false},
    {"ranks_per_node", Kind::count, "0", "0 (ranks that share memory) or a number of ranks",
     "make a node of every so many ranks", false},
    {"wait_seconds", Kind::seconds, "600", "more than 0",
     "a rank that does not come within this time is an error", false},
    {"header_reserve", Kind::bytes, "64KiB", "0 or more",
     "classic formats: bytes kept free for definitions made after data was written", false},
    {"hdf5_readers", Kind::word, "1.10", "1.10 1.8",
     "netcdf4: the oldest HDF5 whose programs are to read new files; with 1.8 a killed job may leave a file "
     "that 'shoal recover' has to finish",
     true},
    {"alignment", Kind::bytes, "4KiB", "1 or more",
     "data of distributed variables starts at multiples of this", false},
    {"stripe_count", Kind::count, "0", "0 (as the folder is set) or a number of storage targets",
     "Lustre: over how many storage targets a new file is spread", true},
    {"stripe_bytes", Kind::bytes, "0", "0 (as the folder is set) or a multiple of 64KiB below 4GiB",
     "Lustre: bytes on one storage target before the next one's turn; then also the default of alignment",
     true},
    {"external_files", Kind::word, "folder", "folder refuse allow",
     "netcdf4: values that lie in other files (HDF5's external storage, virtual datasets) are read and "
     "written "
     "where these are in the folder of the file or below, not at all, or wherever they are",
     false},
    {"chunk_bytes", Kind::bytes, "4MiB", "1KiB or more",
     "netcdf4, zarr: size of a chunk nobody gave a shape for", false},
    {"shard_bytes", Kind::bytes, "256MiB", "1KiB or more",
     "zarr: size of the files (shards) that a distributed variable is cut into, whole chunks each; 32MiB in "
     "an "
     "object store unless set",
     false},
    {"endpoint", Kind::text, "", "an address such as https://storage.example.org, or nothing",
     "s3: the server, where it is not Amazon's; AWS_ENDPOINT_URL says it, too", false},
    {"requests", Kind::count, "64", "1 or more",
     "s3, http: requests that a node has on their way at a time; its ranks that store share them evenly",
     false},
    {"chunks", Kind::text, "auto", "auto, map, series or a shape (1x30x100x100)",
     "netcdf4, zarr: shape of the chunks of new distributed variables, by name as compression; auto keeps "
     "records "
     "apart",
     true},
    {"quantize", Kind::text, "none", "none, bitround:N or granular_bitround:N",
     "so many bits or digits are kept of new distributed variables of type float and double; by name as "
     "compression",
     true},
    {"pack", Kind::text, "none", "none, attributes or TYPE(LEAST, MOST)",
     "floating-point values are whole numbers in the file: of new distributed variables, of the type, with "
     "scale_factor and add_offset for values from LEAST to MOST; attributes: of all variables that have "
     "scale_factor or add_offset; by name as compression",
     false},
    {"pack_out_of_range", Kind::word, "fill", "fill error",
     "values that a packed variable has no number for: the fill value and a count in the report, or an error",
     false},
    {"fill", Kind::word, "true", "true false written",
     "cells that nobody writes get the fill value; written: those that no rank owns of a field that is "
     "written, and no others; false: they are undefined in new variables, and keep what the file had where "
     "no rank owns them",
     false},
    {"attributes", Kind::word, "same", "same rank0",
     "ranks that give an attribute other values, or other numbers of them: an error, or rank 0's count",
     false},
    {"durable", Kind::flag, "false", "true or false",
     "every sync and close waits until the device has the data", false},
    {"reference", Kind::output, "", "a path, auto or nothing",
     "at close, a JSON file that says where chunks lie, so that xarray opens file or set as one", false},
    {"master", Kind::output, "", "a path, auto or nothing",
     "at close, a small netCDF-4 file of virtual datasets over a set of netcdf4 files", false},
    {"machine", Kind::text, "auto", "auto, none or a path",
     "driver native: what shoal tune measured of the machine, by which it chooses; auto: machine.toml beside "
     "shoal.toml, where there is one",
     false},
    {"unused_settings", Kind::word, "warn", "warn refuse",
     "settings that a dataset has no use for, or cannot have, from other sources than the call: a warning, "
     "or "
     "an error",
     false},
    {"quiet", Kind::flag, "false", "true or false", "print no warnings on standard error", false},
});

std::vector<std::string> key_names() {
  std::vector<std::string> names;
  for (const auto& key : k_keys)
    names.emplace_back(key.name);
  return names;
}

// Numbers of the keys in order of their names: all are looked for whenever a file is made.
constexpr auto k_in_order = [] {
  std::array<std::size_t, k_keys.size()> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [](std::size_t a, std::size_t b) {
    return std::string_view(k_keys[a].name) < std::string_view(k_keys[b].name);
  });
  return order;
}();

std::size_t index_of(const std::string& key) {
  const auto* found =
      std::lower_bound(k_in_order.begin(), k_in_order.end(), key,
                       [](std::size_t i, const std::string& wanted) { return k_keys[i].name < wanted; });
  if (found == k_in_order.end() || k_keys[*found].name != key)
    throw Error(Code::setting, "there is no setting '{}'{}", key, did_you_mean(key, key_names()));
  return *found;
}

[[noreturn]] void refuse(const SettingKey& key, const std::string& value, const std::string& origin) {
  const std::string allowed =
      key.kind == Kind::word ? joined(words(key.allowed), ", ") : std::string(key.allowed);
  throw Error(Code::setting, "setting {} is '{}' (from {}); allowed: {}", key.name, value, origin, allowed);
}

// "true" or "false" for "1", "on", ".true.", "T" ... as models and shells write them; others as they are.
std::string flag_word(const std::string& value) {
  for (const char* yes : {"true", "yes", "on", "1", "t", ".true.", ".t."})
    if (value == yes) return "true";
  for (const char* no : {"false", "no", "off", "0", "f", ".false.", ".f."})
    if (value == no) return "false";
  return value;
}

std::int64_t parse_count(const SettingKey& key, const std::string& value, const std::string& origin) {
  char* end = nullptr;
  errno = 0;
  const long long number = std::strtoll(value.c_str(), &end, 10);
  if (value.empty() || *end != '\0' || errno != 0 || number < 0 || number > 1000000000)
    refuse(key, value, origin);
  return number;
}

double parse_seconds(const SettingKey& key, const std::string& value, const std::string& origin) {
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || !trimmed(end).empty() || !std::isfinite(number) || number <= 0)
    refuse(key, value, origin);
  return number;
}

// "" is no number, and allowed.
void check_number(const SettingKey& key, const std::string& value, const std::string& origin) {
  char* end = nullptr;
  std::strtod(value.c_str(), &end);
  if (*end != '\0') refuse(key, value, origin);
}

std::int64_t least_bytes(const std::string& key) {
  if (key == "stage_bytes") return 64 * 1024;
  if (key == "chunk_bytes" || key == "shard_bytes") return 1024;
  if (key == "alignment" || key == "direct_bytes") return 1;
  return 0;
}

// What `parse` gives; its failure is one of the setting.
template <class Parse>
auto in_setting(const std::string& key, const std::string& origin, Parse&& parse) {
  try {
    return parse();
  } catch (const Error& e) {
    throw Error(Code::setting, "setting {} (from {}): {}", key, origin, e.status().message);
  }
}

void check_bytes(const SettingKey& key, const std::string& value, const std::string& origin) {
  const std::int64_t number = in_setting(key.name, origin, [&] { return parse_bytes(value); });
  if (number < least_bytes(key.name)) refuse(key, value, origin);
  const bool of_stripes = std::string(key.name) == "stripe_bytes";
  if (of_stripes && (number % k_stripe_unit != 0 || number >= k_stripe_end)) refuse(key, value, origin);
  if (std::string(key.name) == "store_bytes_per_second" && number != 0 && number < 64 * 1024)
    refuse(key, value, origin);
  if (std::string(key.name) == "slot_bytes" && number != 0 && number < 4096) refuse(key, value, origin);
}

bool is_by_name(const std::string& key) {
  return key == "chunks" || key == "compression" || key == "quantize" || key == "pack";
}

Choices choices_of(const std::string& key, const std::string& text) {
  return {text, [&](const std::string& value) {
            if (key == "chunks") return text_of(chunk_request_of(value));
            if (key == "pack") return text_of(pack_request_of(value));
            return key == "compression" ? text_of(filters_of(value)) : text_of(quantization_of(value));
          }};
}

// Settings that may differ between variables.
std::string checked_choices(const std::string& key, const std::string& value, const std::string& origin) {
  return in_setting(key, origin, [&] { return choices_of(key, value).text(); });
}

// The value as it is kept: words in their usual spelling, flags as true or false.
std::string checked_value(const SettingKey& key, const std::string& value, const std::string& origin) {
  switch (key.kind) {
    case Kind::text:
      return is_by_name(key.name) ? checked_choices(key.name, value, origin) : value;
    case Kind::output:
      return value;
    case Kind::flag: {
      const std::string flag = flag_word(lower(value));
      if (flag != "true" && flag != "false") refuse(key, value, origin);
      return flag;
    }
    case Kind::count:
      if (const auto count = parse_count(key, value, origin);
          count > 0 || key.allowed != std::string("1 or more"))
        return std::to_string(count);
      refuse(key, value, origin);
    case Kind::seconds:
      parse_seconds(key, value, origin);
      return value;
    case Kind::number:
      check_number(key, value, origin);
      return value;
    case Kind::bytes:
      check_bytes(key, value, origin);
      return value;
    case Kind::word:
      break;
  }
  const std::string v = lower(value);
  if (std::string(key.name) == "format")
    return in_setting(key.name, origin, [&] { return name_of(format_of(v)); });
  const auto allowed = words(key.allowed);
  for (const auto& found : {v, flag_word(v)})
    if (std::find(allowed.begin(), allowed.end(), found) != allowed.end()) return found;
  refuse(key, value, origin);
}

}  // namespace

std::span<const SettingKey> setting_keys() {
  return k_keys;
}

Settings::Settings() {
  for (const auto& key : k_keys)
    values_.push_back({key.fallback, "default", ""});
}

namespace {
// What a settings file that nobody named has no say in: PnetCDF writes where its hint nc_burst_buf_dirname
// says, and files that lie elsewhere are read for a file that names them.
void check_found(const std::string& name, const std::string& value, const std::string& origin) {
  const bool path = name == "hints" && value.find('/') != std::string::npos;
  const bool opens = name == "external_files" && value == "allow";
  if (path || opens)
    throw Error(
        Code::setting,
        "setting {} is '{}' (from {}), and {}; a settings file that nobody named may not say that. Give it "
        "as an argument or as {}, or name the file by SHOAL_SETTINGS",
        name, value, origin, path ? "has a path" : "lets files elsewhere be read", variable_of(name));
}
}  // namespace

void Settings::set(const std::string& key, const std::string& value, const std::string& origin,
                   const std::string& below) {
  std::size_t i = 0;
  std::string name = lower(key);
  if (const char* today = renamed_setting(name)) {
    warn(renamed_warning(name, origin));
    name = today;
  }
  if (value.find('\0') != std::string::npos)
    throw Error(Code::setting, "setting {} (from {}) has a zero byte inside, where text ends for the system",
                name, origin);
  try {
    i = index_of(name);
  } catch (const Error& e) {
    throw Error(Code::setting, "{} (from {})", e.status().message, origin);
  }
  if (!below.empty()) check_found(name, lower(trimmed(value)), origin);
  values_[i] = {checked_value(k_keys[i], trimmed(value), origin), origin,
                k_keys[i].kind == Kind::output ? below : ""};
  if (const std::string& path = values_[i].value; path != "-" && path != "auto") check_below(name, path);
}

void Settings::check_below(const std::string& key, const std::string& path) const {
  const Value& value = values_[index_of(key)];
  const std::string why = value.below.empty() || path.empty() ? "" : why_not_below(path, value.below);
  if (!why.empty())
    throw Error(
        Code::setting,
        "setting {} is '{}' (from {}), but {}; a settings file that nobody named has files written below "
        "its own folder alone. Give it as an argument or as {}, or name the file by SHOAL_SETTINGS",
        key, path, value.origin, why, variable_of(key));
}

void Settings::set_all(const std::string& text, const std::string& origin) {
  std::size_t at = 0;
  const auto is_end = [&](std::size_t i) { return i >= text.size() || text[i] == ',' || text[i] == '\n'; };
  // "short(-2, 35)" is one value.
  const auto behind_brackets = [&](std::size_t i) {
    const std::size_t close = text.find_first_of("()=\n", i + 1);
    return close != std::string::npos && text[close] == ')' ? close : i;
  };
  while (at < text.size()) {
    std::size_t end = at;
    bool quoted = false;
    while (end < text.size() && (quoted || !is_end(end))) {
      if (text[end] == '"') quoted = !quoted;
      if (text[end] == '(' && !quoted) end = behind_brackets(end);
      ++end;
    }
    if (quoted) throw Error(Code::setting, "settings '{}': a double quote is not closed", text);
    const std::string item = trimmed(std::string_view(text).substr(at, end - at));
    at = end + 1;
    if (item.empty()) continue;
    const std::size_t equals = item.find('=');
    if (equals == std::string::npos)
      throw Error(Code::setting, "settings '{}': '{}' is not of the form key=value", text, item);
    const bool is_own_default = equals > 0 && item[equals - 1] == '?';
    std::string value = trimmed(std::string_view(item).substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    const std::string key = trimmed(std::string_view(item).substr(0, equals - (is_own_default ? 1 : 0)));
    if (!is_own_default)
      set(key, value, origin);
    else if (is_default(lower(key)))
      set(key, value, k_own_default);
  }
}

const std::string& Settings::text(const std::string& key) const {
  return values_[index_of(key)].value;
}
const std::string& Settings::origin(const std::string& key) const {
  return values_[index_of(key)].origin;
}
std::int64_t Settings::bytes(const std::string& key) const {
  return parse_bytes(text(key));
}
std::int64_t Settings::count(const std::string& key) const {
  return parse_count(k_keys[index_of(key)], text(key), origin(key));
}
double Settings::seconds(const std::string& key) const {
  return parse_seconds(k_keys[index_of(key)], text(key), origin(key));
}
bool Settings::flag(const std::string& key) const {
  return text(key) == "true";
}
Choices Settings::choices(const std::string& key) const {
  return choices_of(key, text(key));
}
void Settings::drop_outputs_below() {
  for (std::size_t i = 0; i < k_keys.size(); ++i) {
    Value& v = values_[i];
    if (v.below.empty() || v.value.empty()) continue;
    const std::string key = k_keys[i].name;
    if (key == "report")  // the others are for files that are written in any case
      warn(fmt::format(
          "setting {} is '{}' (from {}) and not used: the file is opened to read; to use it, set {}", key,
          v.value, v.origin, variable_of(key)));
    v = {k_keys[i].fallback, "default", ""};
  }
}
void Settings::drop_those_of_new_files() {
  for (std::size_t i = 0; i < k_keys.size(); ++i)
    if (k_keys[i].creation_only && values_[i].origin == "argument")
      values_[i] = {k_keys[i].fallback, "default", ""};
}
const std::string& Settings::below(const std::string& key) const {
  return values_[index_of(key)].below;
}
bool Settings::is_default(const std::string& key) const {
  return origin(key) == "default";
}

std::string Settings::listing() const {
  constexpr std::size_t k_column = 36;
  std::string out;
  for (const auto& warning : warnings_)
    out += fmt::format("# warning: {}\n", warning);
  for (std::size_t i = 0; i < k_keys.size(); ++i) {
    if (i == 0 || k_keys[i].level != k_keys[i - 1].level)
      out += k_keys[i].level == Level::basic ? "# basic\n" : "# expert\n";
    std::string line =
        fmt::format("{} = {}", k_keys[i].name, values_[i].value.empty() ? "\"\"" : values_[i].value);
    line.resize(std::max(line.size() + 1, k_column), ' ');
    out +=
        fmt::format("{}# {}{}\n", line, values_[i].origin, k_keys[i].creation_only ? ", new files only" : "");
  }
  return out;
}

std::string setting_keys_text() {
  std::string out;
  for (const auto& key : k_keys)
    out += joined({key.name, key.level == Level::basic ? "basic" : "expert",
                   key.creation_only ? "new" : "all", key.fallback, key.allowed, key.about},
                  "\t") +
           "\n";
  return out;
}

void Settings::pack(ByteWriter& out) const {
  for (const auto& v : values_) {
    out.put(v.value);
    out.put(v.origin);
    out.put(v.below);
  }
  out.put(warnings_);
}

Settings Settings::unpack(ByteReader& in) {
  Settings settings;
  for (auto& v : settings.values_) {
    in.get(v.value);
    in.get(v.origin);
    in.get(v.below);
  }
  in.get(settings.warnings_);
  return settings;
}

}  // namespace shoal
