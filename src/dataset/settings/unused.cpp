// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/settings/unused.hpp"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "base/text.hpp"
#include "codec/filters.hpp"
#include "dataset/definitions/quantized.hpp"
#include "driver/registry.hpp"
#include "format/format_traits.hpp"

namespace shoal {

namespace {

// ---- Settings that are for datasets of another kind.

bool has_chunks(const Settings& /*settings*/, const DatasetKind& kind) {
  return traits_of(kind.format).has_chunks;
}

bool has_shards(const Settings& settings, const DatasetKind& kind) {
  return has_chunks(settings, kind) && traits_of(kind.format).holds_objects();
}

bool is_classic(const Settings& /*settings*/, const DatasetKind& kind) {
  return traits_of(kind.format).is_classic;
}

bool has_accesses(const Settings& /*settings*/, const DatasetKind& kind) {
  const auto kinds = registered_drivers();
  return std::any_of(kinds.begin(), kinds.end(),
                     [&](const RegisteredDriver& k) { return kind.driver == k.name && *k.accesses != '\0'; });
}

bool may_store_in_background(const Settings& /*settings*/, const DatasetKind& kind) {
  return kind.driver == "native" || kind.driver == "tiles";
}

// Where Shoal itself chose that calls store, nobody did anything wrong.
bool stores_in_background(const Settings& settings, const DatasetKind& /*kind*/) {
  return settings.text("background") != "off" || settings.origin("background") == "auto";
}

bool is_no_set(const Settings& /*settings*/, const DatasetKind& kind) {
  return kind.driver != "tiles";
}

bool is_native(const Settings& /*settings*/, const DatasetKind& kind) {
  return kind.driver == "native";
}

bool has_own_hdf5(const Settings& settings, const DatasetKind& kind) {
  return is_native(settings, kind) && has_chunks(settings, kind) && !traits_of(kind.format).holds_objects();
}

// Boxes are what other drivers' libraries are handed anyway.
bool has_rearranger(const Settings& settings, const DatasetKind& kind) {
  return is_native(settings, kind) || (is_no_set(settings, kind) && settings.text("rearranger") != "subset");
}

// The environment speaks of addresses alone. An argument is of this path.
bool has_endpoint(const Settings& settings, const DatasetKind& kind) {
  return kind.is_remote || settings.origin("endpoint") != "argument";
}

bool has_requests(const Settings& settings, const DatasetKind& kind) {
  return kind.is_remote || settings.origin("requests") != "argument";
}

struct Use {
  const char* key;
  bool (*used)(const Settings&, const DatasetKind&);
  const char* nothing;  ///< the value that asks for nothing; nullptr: every one asks for something
  bool when_read;       ///< said of files that are only read, too
  const char* why;      ///< of a dataset that has no use for it; FORMAT and DRIVER stand for its own
  const char* instead;
  const char* of_set = nullptr;  ///< in place of why, of a set of files that is read
};

constexpr const char* k_own_cells = "each rank reads its own cells from the files of a set";
constexpr const char* k_no_stage = "driver DRIVER has no stage";
constexpr const char* k_native = "choose driver native";
constexpr const char* k_one_method = "driver DRIVER has one way of moving bytes";
constexpr const char* k_other_driver = "choose driver pnetcdf, netcdf or mpiio";
constexpr const char* k_netcdf4 = "choose format netcdf4";
constexpr const char* k_no_server = "the path is on this machine's file systems, where no server is asked";
constexpr const char* k_address = "give an address (s3://bucket/name)";
constexpr const char* k_background = "set background=thread or ranks";

constexpr auto k_uses = std::to_array<Use>({
    {"chunk_bytes", has_chunks, nullptr, false, "format FORMAT has no chunks", k_netcdf4},
    {"shard_bytes", has_shards, nullptr, false, "format FORMAT has no shards", "choose format zarr"},
    {"chunks", has_chunks, "auto", false, "format FORMAT has no chunks", k_netcdf4},
    {"compression", has_chunks, "none", false, "format FORMAT cannot be compressed", k_netcdf4},
    {"hdf5_readers", has_own_hdf5, "1.10", false,
     "a file of format FORMAT by driver DRIVER is as its library makes it, or no HDF5 file",
     "choose format netcdf4 and driver native"},
    {"header_reserve", is_classic, nullptr, false,
     "format FORMAT has no header in front of the data that would need room to grow",
     "choose format cdf1, cdf2 or cdf5"},
    {"access", has_accesses, nullptr, true, k_one_method, k_other_driver},
    {"replicated_access", has_accesses, nullptr, true, k_one_method, k_other_driver},
    {"background", may_store_in_background, "off", false,
     "driver DRIVER does not store in the background: its library makes MPI calls, or one rank has all the "
     "work",
     k_native},
    {"background_close", stores_in_background, "false", false,
     "ranks store within their calls, and there is no thread or rank to close it later", k_background},
    {"store_bytes_per_second", stores_in_background, "0", false,
     "ranks store within their calls, which would only be slower by it", k_background},
    {"slot_bytes", is_native, "0", true, k_no_stage, k_native, k_own_cells},
    {"direct_bytes", is_native, nullptr, true, k_no_stage, k_native, k_own_cells},
    {"writers", is_native, "0", true, k_no_stage, k_native, k_own_cells},
    {"machine", is_native, "auto", true, "driver DRIVER does not choose by what was measured", k_native,
     k_own_cells},
    {"rearrange", is_native, "auto", true,
     "driver DRIVER does not choose: cells of maps go to I/O ranks in any case, and those of tiles where "
     "rearranger=box or I/O ranks are set",
     k_native, k_own_cells},
    {"rearranger", has_rearranger, "auto", true,
     "driver DRIVER hands on boxes, and cannot store what a group of ranks has", k_native, k_own_cells},
    {"endpoint", has_endpoint, "", true, k_no_server, k_address},
    {"requests", has_requests, nullptr, true, k_no_server, k_address},
});

const SettingKey& key_of(const char* name) {
  const auto keys = setting_keys();
  return *std::find_if(keys.begin(), keys.end(),
                       [&](const SettingKey& k) { return std::string(name) == k.name; });
}

bool is_by_variable(const std::string& key) {
  return key == "compression" || key == "chunks" || key == "quantize" || key == "pack";
}

// Does the setting ask for something that a dataset without it would not do anyway?
bool asks(const Settings& settings, const Use& use) {
  if (settings.is_default(use.key)) return false;
  if (is_by_variable(use.key)) {
    const auto choices = settings.choices(use.key).all();
    return std::any_of(choices.begin(), choices.end(),
                       [&](const Choices::Choice& c) { return c.value != use.nothing; });
  }
  const std::string& value = settings.text(use.key);
  if (settings.origin(use.key) == "argument") return use.nothing == nullptr || value != use.nothing;
  return value != key_of(use.key).fallback;
}

std::string why_of(const Use& use, const DatasetKind& kind) {
  const bool is_set = kind.driver == "tiles";
  std::string out = is_set && use.of_set != nullptr ? use.of_set : use.why;
  for (const auto& [mark, word] :
       {std::pair<std::string, std::string>("FORMAT", name_of(kind.format)),
        std::pair<std::string, std::string>("DRIVER", is_set ? "tiles, for sets of files," : kind.driver)})
    if (const auto at = out.find(mark); at != std::string::npos) out.replace(at, mark.size(), word);
  return out;
}

// ---- Choices that fit no variable.

struct ByVariable {
  const char* key;
  const char* nothing;
  const char* meant;  ///< which variables it is for
};

constexpr auto k_by_variable = std::to_array<ByVariable>({
    {"compression", "none", "it is for variables that are cut over ranks"},
    {"chunks", "auto",
     "it is for variables that are cut over ranks and have as many dimensions as the shape"},
    {"quantize", "none",
     "it is for variables that are cut over ranks, of type float or double with more bits than are to be "
     "kept, "
     "and no coordinates"},
    {"pack", "none",
     "it is for variables that are cut over ranks, of type float or double and no coordinates, or "
     "(attributes) "
     "for whole numbers of up to 4 bytes with scale_factor or add_offset"},
});

std::vector<std::string> names_in(const Schema& schema) {
  std::vector<std::string> names;
  for (const auto& variable : schema.variables)
    if (!is_quantization_container(variable)) names.push_back(variable.name);
  return names;
}

// The nearest spelling, or what there is.
std::string variables_there_are(const std::string& wanted, const std::vector<std::string>& names) {
  constexpr std::size_t k_some = 8;
  const std::string near = did_you_mean(wanted, names);
  if (!near.empty() || names.empty()) return near;
  const std::vector<std::string> some(
      names.begin(), names.begin() + static_cast<std::ptrdiff_t>(std::min(k_some, names.size())));
  return fmt::format("; there are {}: {}, ...", names.size(), joined(some, ", "));
}

// Why a choice was used for none of the variables; empty: there is nothing to say of it.
std::string why_unused(const Choices& choices, const Choices::Choice& choice, const ByVariable& about,
                       const Definitions& definitions) {
  std::vector<std::string> fitting;
  for (const auto& variable : definitions.schema().variables) {
    if (fnmatch(choice.pattern.c_str(), variable.name.c_str(), 0) != 0 && choice.pattern != variable.name)
      continue;
    // Others that come before it had the variable, or it is as it was in the file.
    if (choices.of(variable.name)->pattern != choice.pattern || !definitions.defined_here(variable.name))
      return "";
    fitting.push_back(fmt::format("'{}'", variable.name));
  }
  if (fitting.empty())
    return fmt::format("no variable of the file fits '{}'{}", choice.pattern,
                       variables_there_are(choice.pattern, names_in(definitions.schema())));
  if (choice.value == about.nothing) return "";
  return fmt::format("'{}' fits {} alone, and {}", choice.pattern, joined(fitting, ", "), about.meant);
}

// Filters that the format has not are an error from any source: without them, files would be of another size.
void check_filters(const Settings& settings, const DatasetKind& kind) {
  const FormatTraits& format = traits_of(kind.format);
  if (!kind.writable || !format.has_chunks || settings.is_default("compression")) return;
  const Choices choices = settings.choices("compression");
  try {
    for (const auto& choice : choices.all())
      format.stored_filters(filters_of(choice.value));
  } catch (const Error& e) {
    throw Error(Code::setting, "setting compression (from {}), format {}: {}", settings.origin("compression"),
                format.name, e.status().message);
  }
}

}  // namespace

std::vector<std::string> unused_settings(const Settings& settings, const DatasetKind& kind) {
  check_filters(settings, kind);
  std::vector<std::string> warnings = settings.warnings();
  const bool refuses = settings.text("unused_settings") == "refuse";
  for (const Use& use : k_uses) {
    if (use.used(settings, kind) || !asks(settings, use)) continue;
    const std::string setting =
        fmt::format("setting {} is '{}' (from {}", use.key, settings.text(use.key), settings.origin(use.key));
    // Who opens a file need not know whether it is a set.
    const bool is_set = kind.driver == "tiles";
    if ((settings.origin(use.key) == "argument" || (refuses && (kind.writable || use.when_read))) && !is_set)
      throw Error(Code::setting, "{}), but {}; leave it out, or {}", setting, why_of(use, kind), use.instead);
    if (kind.writable || use.when_read)
      warnings.push_back(fmt::format("{}) and not used: {}{}", setting, why_of(use, kind),
                                     is_set ? "" : std::string("; to use it, ") + use.instead));
  }
  return warnings;
}

std::vector<std::string> unused_choices(const Settings& settings, const Definitions& definitions) {
  std::vector<std::string> warnings;
  const DatasetKind kind{definitions.schema().format, "native", true};
  for (const ByVariable& about : k_by_variable) {
    // Of others unused_settings has spoken.
    const bool any_format = std::string(about.key) == "quantize" || std::string(about.key) == "pack";
    if (settings.is_default(about.key) || (!any_format && !has_chunks(settings, kind))) continue;
    const Choices choices = settings.choices(about.key);
    for (const auto& choice : choices.all()) {
      if (choice.pattern == "*" || definitions.took(about.key, choice)) continue;
      const std::string why = why_unused(choices, choice, about, definitions);
      if (!why.empty())
        warnings.push_back(fmt::format("setting {} is '{}' (from {}), but {}", about.key,
                                       settings.text(about.key), settings.origin(about.key), why));
    }
  }
  return warnings;
}

}  // namespace shoal
