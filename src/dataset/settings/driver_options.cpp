// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/settings/driver_options.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/text.hpp"
#include "driver/registry.hpp"
#include "machine/default_figures.hpp"
#include "storage/paths.hpp"
#include "storage/striping.hpp"

namespace shoal {

namespace {

// "cb_nodes=2; striping_factor=4"
Hints hints_of(const std::string& text) {
  Hints hints;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(';', at), text.size());
    const std::string hint = trimmed(text.substr(at, end - at));
    at = end + 1;
    if (hint.empty()) continue;
    const std::size_t equals = hint.find('=');
    if (equals == std::string::npos || equals == 0)
      throw Error(Code::setting, "hint '{}' is not key=value; hints are separated by semicolons", hint);
    hints.emplace_back(trimmed(hint.substr(0, equals)), trimmed(hint.substr(equals + 1)));
  }
  return hints;
}

// Of the file that is there, or of a new one in its folder.
std::int64_t stripes_of(const Settings& settings, const std::string& path, OpenMode mode) {
  if (const std::int64_t set = settings.count("stripe_count"); set > 0) return set;
  if (mode == OpenMode::write) return stripes_of_file(path).count;
  return stripes_of_file(folder_of(path)).count;
}

LayoutOptions layout_of(const Settings& settings) {
  LayoutOptions layout;
  layout.ranks_per_node = static_cast<int>(settings.count("ranks_per_node"));
  const std::string kind = settings.text("layout");
  const std::string grid = trimmed(settings.text("io_layout"));
  if (kind == "process") layout.kind = LayoutOptions::Kind::process;
  if (kind == "node") layout.kind = LayoutOptions::Kind::node;
  if (kind == "domains" || (!grid.empty() && settings.origin("layout") == "default"))
    layout.kind = LayoutOptions::Kind::domains;
  if (grid.empty() && layout.kind != LayoutOptions::Kind::domains) return layout;
  if (layout.kind != LayoutOptions::Kind::domains)
    throw Error(Code::setting, "io_layout is for layout=domains; layout is " + kind);
  int end = 0;
  const int found = std::sscanf(grid.c_str(), "%dx%d%n", &layout.nx, &layout.ny, &end);
  if (found != 2 || end != static_cast<int>(grid.size()) || layout.nx < 1 || layout.ny < 1)
    throw Error(Code::setting,
                "layout=domains needs io_layout=NXxNY, such as 2x4: parts of the grid of tiles in its "
                "fastest and second dimension; it is '{}'",
                grid);
  return layout;
}

}  // namespace

FillMode fill_mode_of(const Settings& settings) {
  const std::string& fill = settings.text("fill");
  return fill == "written" ? FillMode::written : fill == "true" ? FillMode::all : FillMode::none;
}

FoundMachine resolve_machine(const Settings& settings, const SettingSources& sources, const std::string& path,
                             const FileSystemFinder& find_file_system, OpenMode mode) {
  const std::string& request = settings.text("machine");
  if (request == "none" || settings.text("driver") != "native") return {};
  const FileSystem where = find_file_system(path);
  const std::string& kind = where.type;
  FoundMachine found;
  if (request != "auto" || !sources.toml.empty())
    found = find_machine(request, sources.toml, path, kind, date_of_today());
  if (mode == OpenMode::read) return found;
  const bool known = where.sharing != FileSystem::Sharing::unknown;
  const auto defaults = default_figures(kind, stripes_of(settings, path, mode), known);
  if (found.figures)
    complete_with_defaults(*found.figures, defaults);
  else
    found.figures = defaults;
  return found;
}

void choose_by_machine(DriverOptions& out) {
  const StoringChoice choice = choose_storing(out.machine ? &*out.machine : nullptr);
  out.stage.default_writers = choice.writers;
  out.stage.default_slot_bytes = choice.slot_bytes;
  out.rearranging.most_io_ranks_of_node = choice.io_ranks_of_node;
  out.rearranging.most_io_nodes = choice.io_nodes;
  if (!sets_io_ranks(out.rearranging)) out.rearranging.least_box_bytes = choice.least_box_bytes;
  const bool striped = out.stripes.count > 0;
  if (!striped) out.stripes.count = choice.stripe_count;
  const bool servers_store = out.background.stored_by == StoredBy::ranks;
  const std::map<std::string, bool> is_set{{"writers", out.stage.writers || servers_store},
                                           {"slot_bytes", out.stage.slot_bytes.has_value()},
                                           {"io_ranks", sets_io_ranks(out.rearranging)},
                                           {"stripe_count", striped}};
  for (const auto& [setting, why] : choice.why)
    if (!is_set.at(setting))
      out.machine_choices.push_back(
          out.machine->measured() ? why : fmt::format("{} ({})", why, text_of(*out.machine)));
}

DriverOptions driver_options_of(const Settings& settings, const std::optional<MachineFigures>& machine) {
  DriverOptions out;
  out.machine = machine;
  out.stage.bytes = settings.bytes("stage_bytes");
  out.stage.whole = settings.origin("stage_bytes") != "default";
  if (const auto bytes = settings.bytes("slot_bytes"); bytes > 0) out.stage.slot_bytes = bytes;
  if (!settings.is_default("direct_bytes")) out.stage.direct_bytes = settings.bytes("direct_bytes");
  const std::string& background = settings.text("background");
  out.background.stored_by = background == "thread"  ? StoredBy::thread
                             : background == "ranks" ? StoredBy::ranks
                                                     : StoredBy::calls;
  out.background.store_rate = static_cast<double>(settings.bytes("store_bytes_per_second"));
  out.background.past_cache = settings.text("bypass_page_cache") == "auto";
  out.background.required =
      settings.origin("background") == "argument" || settings.text("unused_settings") == "refuse";
  if (const auto writers = settings.count("writers"); writers > 0)
    out.stage.writers = static_cast<int>(writers);
  out.rearranging.ranks_per_node = static_cast<int>(settings.count("ranks_per_node"));
  out.rearranging.io_ranks = static_cast<int>(settings.count("io_ranks"));
  out.rearranging.io_stride = static_cast<int>(settings.count("io_stride"));
  out.rearranging.io_base = static_cast<int>(settings.count("io_base"));
  out.rearranging.io_ranks_per_node = static_cast<int>(settings.count("io_ranks_per_node"));
  const std::string& kind = settings.text("rearranger");
  out.rearranging.rearranger = kind == "box"      ? RearrangerKind::box
                               : kind == "subset" ? RearrangerKind::subset
                                                  : RearrangerKind::automatic;
  const std::string& rearrange = settings.text("rearrange");
  out.rearranging.rearrange = rearrange == "on"    ? Rearrange::on
                              : rearrange == "off" ? Rearrange::off
                                                   : Rearrange::automatic;
  out.file.locks = settings.text("lock") == "auto";
  out.file.replace_at_commit = settings.text("replace") == "at_commit";
  out.stage.wait_seconds = settings.seconds("wait_seconds");
  out.catalog.header_reserve = settings.bytes("header_reserve");
  out.catalog.alignment = settings.bytes("alignment");
  out.catalog.chunk_bytes = settings.bytes("chunk_bytes");
  out.catalog.shard_bytes = settings.bytes("shard_bytes");
  out.system.remote.endpoint = settings.text("endpoint");
  out.system.remote.most_requests =
      static_cast<int>(std::min<std::int64_t>(settings.count("requests"), 4096));
  if (!settings.is_default("chunk_bytes")) out.library.chunk_bytes = out.catalog.chunk_bytes;
  out.catalog.fill = fill_mode_of(settings);
  const std::string& external = settings.text("external_files");
  out.catalog.external_files = external == "allow"    ? ExternalFiles::allow
                               : external == "refuse" ? ExternalFiles::refuse
                                                      : ExternalFiles::folder;
  out.catalog.for_hdf5_1_8 = settings.text("hdf5_readers") == "1.8";
  out.stripes.count = settings.count("stripe_count");
  out.stripes.bytes = settings.bytes("stripe_bytes");
  // Data that begins with a stripe is on as few targets as can be.
  if (out.stripes.bytes > 0 && settings.is_default("alignment")) out.catalog.alignment = out.stripes.bytes;
  out.rearranging.alignment_bytes = out.stripes.bytes;
  if (out.rearranging.alignment_bytes == 0 && !settings.is_default("alignment"))
    out.rearranging.alignment_bytes = out.catalog.alignment;
  out.library.access = access_of(settings.text("access"));
  out.library.replicated_access = access_of(settings.text("replicated_access"));
  out.reading.all_read = settings.text("replicated_read") == "all";
  const std::string& missing = settings.text("missing_tiles");
  out.reading.missing = missing == "fill"     ? MissingTiles::fill
                        : missing == "common" ? MissingTiles::common
                                              : MissingTiles::refuse;
  if (const std::string& fill = settings.text("missing_fill"); !fill.empty())
    out.reading.fill = std::strtod(fill.c_str(), nullptr);
  choose_by_machine(out);
  out.layout = layout_of(settings);
  out.library.hints = hints_of(settings.text("hints"));
  return out;
}

}  // namespace shoal
