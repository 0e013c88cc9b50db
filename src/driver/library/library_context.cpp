// SPDX-License-Identifier: BSD-3-Clause
#include "driver/library/library_context.hpp"

#include <algorithm>
#include <utility>

#include "driver/file/shared_file.hpp"
#include "format/classic/header.hpp"
#include "format/classic/layout.hpp"
#include "rearrange/io_ranks.hpp"
#include "storage/journal.hpp"

namespace shoal {

namespace {

// Of each variable: may it have chunks that were never given a place in the file?
std::vector<char> holes_in(Catalog& catalog) {
  std::vector<char> holes;
  for (int v = 0; v < static_cast<int>(catalog.schema().variables.size()); ++v) {
    const Placement where = catalog.placement(v);
    bool any =
        where.kind == Placement::Kind::library || where.kind == Placement::Kind::encoded;  // not reported
    const bool asks = where.kind == Placement::Kind::listed ||
                      (where.kind == Placement::Kind::regular && where.begin == k_unplaced);
    if (asks) {
      const Box all = chunks_of(Box::whole(catalog.schema().shape(v)), where.chunk);
      const auto found = all.empty() ? std::vector<Location>{} : catalog.find(v, all);
      any = any || std::find(found.begin(), found.end(), k_nowhere) != found.end();
    }
    holes.push_back(any ? 1 : 0);
  }
  return holes;
}

// Until the first one that lacks its space: files may have very many.
bool has_all_chunks(Catalog& catalog, int v, const Box& chunks) {
  for (std::int64_t i = 0; i < chunks.count[0]; ++i) {
    Box row = chunks;
    row.first[0] += i;
    row.count[0] = 1;
    for (const auto& chunk : catalog.stored_chunks(v, row))
      if (!chunk.address.is_placed()) return false;
  }
  return true;
}

std::vector<LateSpace> late_space_in(Catalog& catalog) {
  std::vector<LateSpace> late;
  for (int v = 0; v < static_cast<int>(catalog.schema().variables.size()); ++v) {
    const Placement where = catalog.placement(v);
    LateSpace space;
    // A variable that does not fit is not written, and may have more dimensions than a shape has.
    space.late = where.late && catalog.schema().variable(v).fits_plainly;
    if (space.late) {
      space.shape = catalog.schema().shape(v);
      space.complete = has_all_chunks(catalog, v, chunks_of(Box::whole(space.shape), where.chunk));
    }
    late.push_back(space);
  }
  return late;
}

// Libraries know nothing of journals: they must not read another file than Shoal does.
void finish_or_refuse(const LibraryContext& context) {
  const bool writable = context.writable();
  const auto store =
      context.options.system.open_store(context.path, writable ? StoreMode::write : StoreMode::read);
  if (writable)
    finish_commit(*store);
  else if (has_unfinished_changes(*store))
    throw Error(
        Code::state,
        "a job was killed in the middle of a commit, and other libraries cannot read the file as it "
        "lies; finish it with 'shoal recover {}', or open it with driver native (a job that writes the "
        "file now finishes it soon: try again then)",
        context.path)
        .in_file(context.path);
  store->close();
}

// Libraries do not look whose files they read.
void refuse_other_files(const LibraryContext& context, Schema& schema) {
  if (context.options.catalog.external_files == ExternalFiles::allow) return;
  for (auto& variable : schema.variables) {
    if (!variable.in_other_files || !variable.fits_plainly) continue;
    variable.fits_plainly = false;
    variable.refusal =
        "its values lie in other files, which only driver native looks at before they are read; use it, or "
        "external_files=allow, if you trust whoever made this file";
  }
}

// Schema, placements, holes and late space of a file that is there.
void pack_file(ByteWriter& out, const LibraryContext& context) {
  const DriverOptions& options = context.options;
  finish_or_refuse(context);
  auto catalog = open_catalog(context.path, options.system.open_store, false, options.catalog);
  std::vector<Placement> placements;
  for (int v = 0; v < static_cast<int>(catalog->schema().variables.size()); ++v)
    placements.push_back(catalog->placement(v));
  Schema schema = catalog->schema();
  refuse_other_files(context, schema);
  pack(out, schema);
  out.put(placements);
  out.put(holes_in(*catalog));
  out.put(context.writable() ? late_space_in(*catalog) : std::vector<LateSpace>{});
  catalog->close(false);
}

}  // namespace

LibraryContext::LibraryContext(const Comm& the_comm, std::string the_path, OpenMode the_mode, Format format,
                               const DriverOptions& the_options, Counters& the_counters)
    : comm(the_comm),
      path(std::move(the_path)),
      mode(the_mode),
      options(the_options),
      counters(the_counters) {
  schema.format = format;
  counters.warnings = options.warnings;
  check_io_ranks(comm, options.rearranging);
  const Bytes header = comm.from_root([&] {
    ByteWriter out;
    if (fresh()) {
      pack(out, schema);
      out.put(placements);
      out.put(holes);
      out.put(late);
    } else {
      pack_file(out, *this);
    }
    pack(out, options.system.find_file_system(path));
    return out.take();
  });
  ByteReader in(header);
  schema = unpack_schema(in);
  placements = in.get<std::vector<Placement>>();
  holes = in.get<std::vector<char>>();
  late = in.get<std::vector<LateSpace>>();
  file_system = unpack_file_system(in);
  counters.file_system = file_system.type;
}

void LibraryContext::require_format(const char* driver, std::initializer_list<Format> held) const {
  if (std::find(held.begin(), held.end(), schema.format) != held.end()) return;
  std::string names;
  for (const auto format : held)
    names += (names.empty() ? "" : ", ") + std::string(name_of(format));
  throw Error(Code::not_supported,
              "the file is of format {}, and driver {} reads and writes only {}; open it with driver native",
              name_of(schema.format), driver, names);
}

bool LibraryContext::stays_in_place(const Schema& wanted, const std::vector<std::int64_t>& begins) const {
  const Schema extended = extended_schema(schema, wanted, true, options.catalog.fill);
  ClassicLayout layout = found_layout(schema, begins, header_bytes_of(schema));
  bool has_fixed = false;
  for (int v = 0; v < static_cast<int>(schema.variables.size()); ++v)
    has_fixed = has_fixed || !schema.has_record(v);
  // They put the first variable without records where the records begin, whatever is free in front of it.
  if (!has_fixed) layout.fixed_end = layout.record_begin;
  const auto made = extended_layout(layout, extended, options.catalog);
  if (!made) return false;
  check_offsets(extended, *made);
  const int dim = extended.record_dim();
  made->end(dim < 0 ? 0 : extended.dim(dim).length);  // can be counted
  return true;
}

Hints LibraryContext::hints_with_stripes() const {
  Hints hints = options.library.hints;
  if (fresh()) add_stripe_hints(hints, options.stripes, file_system, counters.warnings);
  return hints;
}

}  // namespace shoal
