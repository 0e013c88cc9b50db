// SPDX-License-Identifier: BSD-3-Clause
#include "driver/tiles/tiles_driver.hpp"

#include <algorithm>
#include <utility>

#include "codec/convert.hpp"
#include "driver/protocol/call_matching.hpp"
#include "driver/protocol/protocol.hpp"
#include "driver/protocol/root_values.hpp"
#include "format/tiles/set_paths.hpp"
#include "pack/cells.hpp"
#include "pack/map_cells.hpp"
#include "pack/pieces.hpp"
#include "rearrange/io_ranks.hpp"

namespace shoal {

namespace {

// A file that is opened anew costs its whole header; a rank that reads all of a larger set does so each time.
constexpr std::size_t k_most_open = 64;
// Plain bytes are unpacked while they are in a core's cache; compressed chunks should not be decoded twice.
constexpr std::int64_t k_piece_bytes = 1024 * 1024;
constexpr std::int64_t k_compressed_piece_bytes = 16 * 1024 * 1024;

std::int64_t size_in_file(const VariableDef& variable) {
  return static_cast<std::int64_t>(size_of(variable.type));
}

Box moved(const Box& box, const Dims& from, const Dims& to) {
  Box out = box;
  for (int d = 0; d < box.rank(); ++d)
    out.first[d] += to[d] - from[d];
  return out;
}

}  // namespace

TilesDriver::TilesDriver(const Comm& comm, const std::vector<std::string>& paths,
                         const DriverOptions& options)
    : comm_(comm), options_(options) {
  check_io_ranks(comm, options.rearranging);
  const Timer timer(counters_.open);
  const Bytes message = comm_.from_root([&] {
    FileSetOptions how;
    how.open_store = options_.system.open_store;
    how.catalog = options_.catalog;
    how.missing = options_.reading.missing;
    how.fill = options_.reading.fill;
    ByteWriter out;
    pack(out, open_file_set(paths, how));
    out.put(std::string(options_.system.find_file_system(paths.front()).type));
    return out.take();
  });
  ByteReader in(message);
  set_ = unpack_file_set(in);
  in.get(counters_.file_system);
  if (comm_.rank() == 0) counters_.warnings = set_.warnings;
  if (comm_.rank() == 0 && sets_io_ranks(options_.rearranging))
    counters_.warnings.push_back(
        "of a set of files, io_ranks, io_ranks_per_node, io_stride and io_base are used to read fields that "
        "are cut by maps; of others each rank reads its own cells");
  for (int v = 0; v < static_cast<int>(set_.schema.variables.size()); ++v) {
    placements_.push_back(of_library(set_.schema.shape(v)));
  }
}

void TilesDriver::refuse_change() const {
  throw Error(
      Code::state,
      "a dataset in several files can only be read; combine them to one file first (shoal combine), and "
      "change that");
}

void TilesDriver::define(const Schema& /*wanted*/, const Cuts& /*cuts*/) {
  refuse_change();
}

void TilesDriver::prepare(const std::shared_ptr<const Decomposition>& /*decomposition*/) {}

void TilesDriver::write(const Transfer& /*transfer*/) {
  refuse_change();
}

void TilesDriver::put(int /*variable*/, const Box& /*box*/, const std::byte* /*values*/,
                      const std::vector<std::string>& /*strings*/) {
  refuse_change();
}

void TilesDriver::count(OpenFile& open) {
  const auto traffic = open.catalog->traffic();
  counters_.reads += traffic.reads - open.seen.reads;
  counters_.bytes_read += traffic.bytes_read - open.seen.bytes_read;
  open.seen = traffic;
}

Catalog& TilesDriver::open(int file) {
  const auto known =
      std::find_if(open_.begin(), open_.end(), [&](const OpenFile& o) { return o.file == file; });
  if (known != open_.end()) {
    open_.splice(open_.begin(), open_, known);
    return *open_.front().catalog;
  }
  if (open_.size() >= k_most_open) {
    open_.back().catalog->close(false);
    open_.pop_back();
  }
  const SetFile& in = set_.files[static_cast<std::size_t>(file)];
  auto catalog = open_catalog(in.path, options_.system.open_store, false, options_.catalog);
  // Another program may have written it anew since rank 0 looked at it.
  const auto& variables = catalog->schema().variables;
  for (std::size_t v = 0; v < in.variables.size(); ++v) {
    const int own = in.variables[v];
    if (own >= 0 && (own >= static_cast<int>(variables.size()) ||
                     catalog->schema().variable(own).name != set_.schema.variables[v].name))
      throw Error(Code::state, "the file has changed since the set was opened").in_file(in.path);
  }
  open_.push_front({file, std::move(catalog), {}});
  return *open_.front().catalog;
}

Bytes TilesDriver::gap_of(int variable) const {
  const VariableDef& definition = set_.schema.variable(variable);
  require_plain(definition);
  return gap_value(definition);
}

void TilesDriver::read_cells(const Transfer& transfer, const Bytes& gap) {
  const VariableDef& definition = set_.schema.variable(transfer.variable);
  const std::int64_t size = size_in_file(definition);
  const auto convert =
      find_conversion({definition.type, static_cast<std::size_t>(size), false}, in_memory(transfer));
  Bytes& cells = cells_;
  ConversionErrors conversion_errors;
  const auto unpack = [&](const Box& box) {
    const Timer timer(counters_.unpack);
    const ConversionErrors more = unpack_cells(
        transfer, cells.data(), byte_strides(box.count, static_cast<std::size_t>(size)), box, convert);
    if (conversion_errors.count == 0) conversion_errors.first = more.first;
    conversion_errors.count += more.count;
  };
  if (set_.has_gaps[static_cast<std::size_t>(transfer.variable)]) {
    for_each_part(transfer.mine, k_piece_bytes / size, [&](const Box& part) {
      cells.resize(static_cast<std::size_t>(part.cells() * size));
      fill_box(cells.data(), {size}, {part.cells()}, gap.data(), gap.size());
      unpack(part);
    });
    conversion_errors = {};  // of cells that nobody has
  }
  for (const auto& piece : set_.pieces(transfer.variable, transfer.mine)) {
    const std::string& path = set_.files[static_cast<std::size_t>(piece.file)].path;
    try {
      const auto kind = open(piece.file).placement(piece.variable).kind;
      const bool plain = kind != Placement::Kind::library && kind != Placement::Kind::encoded;
      for_each_part(
          piece.cells, (plain ? k_piece_bytes : k_compressed_piece_bytes) / size, [&](const Box& part) {
            cells.resize(static_cast<std::size_t>(part.cells() * size));
            {
              const Timer timer(counters_.read);
              Catalog& catalog = open(piece.file);
              catalog.get(piece.variable, moved(part, piece.cells.first, piece.in_file.first), cells.data());
              count(open_.front());
            }
            unpack(part);
          });
    } catch (const Error& e) {
      throw e.in_file(path);
    }
  }
  if (conversion_errors.count > 0)
    throw Error(conversion_status(transfer, definition, conversion_errors, transfer.mine, false));
}

bool TilesDriver::gaps_unconverted(const Transfer& transfer, const Bytes& gap) {
  const auto v = static_cast<std::size_t>(transfer.variable);
  if (!set_.has_gaps[v]) return false;
  Bytes to(in_memory(transfer).size);
  const auto convert =
      find_conversion({set_.schema.variables[v].type, gap.size(), false}, in_memory(transfer));
  const ConversionErrors errors =
      convert(gap.data(), 0, to.data(), 0, 1, substitute_for(transfer.array.type()));
  return comm_.max(errors.count) > 0;
}

// Cells of a map are anywhere in the region: a rank that read its own would go through all files.
Status TilesDriver::read_map(const Transfer& transfer) {
  const VariableDef& definition = set_.schema.variable(transfer.variable);
  Bytes gap = gap_of(transfer.variable);
  if (!rearrangers_)
    rearrangers_.emplace(comm_, options_.rearranging, choose_io_ranks(comm_, options_.rearranging),
                         options_.stage);
  Status status;
  Rearranger::Handling handling;
  handling.buffer = [&](std::size_t bytes) {
    std::byte* cells = nullptr;
    status.merge(caught([&] { cells = box_cells_.of(bytes); }));
    return cells;
  };
  handling.load = [&](const Box& box, std::byte* cells) {
    status.merge(caught([&] { fetch(transfer.variable, box, cells, gap); }));
  };
  const auto read = [&] {
    return rearrangers_->of(transfer.decomposition)
        .read(transfer, {definition.type, size_of(definition.type), false}, {}, handling);
  };
  // Only values of the files count as conversion errors: they are found while gaps have a value that fits any
  // array.
  const bool twice = gaps_unconverted(transfer, gap);
  const std::byte fits{static_cast<unsigned char>(definition.type == Type::char_ ? ' ' : 0)};
  const Bytes value = twice ? std::exchange(gap, Bytes(gap.size(), fits)) : gap;
  const ConversionErrors conversion_errors = read();
  if (twice) {
    gap = value;
    read();
  }
  rearrangers_->count_messages(counters_);
  if (conversion_errors.count > 0)
    status.merge(mapped_conversion_status(transfer, definition, conversion_errors, false));
  return status;
}

void TilesDriver::read(const Transfer& transfer) {
  const Timer timer(counters_.read_calls);
  const Status match =
      match_field_call(comm_, "reads", transfer.variable, transfer.region, transfer.refused.why);
  if (!match.ok()) throw Error(match);
  ++counters_.fields_read;
  Status status;
  status.merge(caught([&] {
    if (transfer.decomposition->map() != nullptr)
      status = read_map(transfer);
    else if (!transfer.mine.empty())
      read_cells(transfer, gap_of(transfer.variable));
  }));
  comm_.agree_or_throw(named(status, set_.schema.variable(transfer.variable).name));
}

void TilesDriver::fetch(int variable, const Box& box, std::byte* values) {
  fetch(variable, box, values, gap_of(variable));
}

void TilesDriver::fetch(int variable, const Box& box, std::byte* values, const Bytes& gap) {
  if (box.empty()) return;
  Transfer all;
  all.variable = variable;
  all.region = all.mine = box;
  all.array = ArrayView::contiguous(values, set_.schema.variable(variable).type, box.count);
  read_cells(all, gap);
}

std::vector<std::string> TilesDriver::get_strings(int variable, const Box& box) {
  Numbered<std::string> out(box.cells());
  for (const auto& piece : set_.pieces(variable, box)) {
    const auto part = open(piece.file).get_strings(piece.variable, piece.in_file);
    count(open_.front());
    std::size_t i = 0;
    for_each_index(piece.cells, [&](const Dims& index) { out[position_in(index, box)] = part[i++]; });
  }
  return out;
}

void TilesDriver::refuse(const RefusedCall& call) {
  using Kind = RefusedCall::Kind;
  if (call.kind == Kind::write || call.kind == Kind::put) refuse_change();
  throw Error(match_refused_call(comm_, call.kind == Kind::read ? "reads" : "gets", call.why));
}

void TilesDriver::get(int variable, const Box& box, std::byte* values, std::vector<std::string>& strings) {
  const Status match = match_field_call(comm_, "gets", variable, box, {});
  if (!match.ok()) throw Error(match);
  const VariableDef& definition = set_.schema.variable(variable);
  const bool root = comm_.rank() == 0;
  const bool text = definition.type == Type::string;
  const bool all = options_.reading.all_read;
  const Status outcome = caught([&] {
    if (!root && !all) return;
    if (text)
      strings = get_strings(variable, box);
    else
      fetch(variable, box, values);
  });
  comm_.agree_or_throw(named(outcome, definition.name));
  if (!all) share_values(comm_, definition.type, box, values, strings);
}

void TilesDriver::sync(bool /*durable*/) {
  ++counters_.commits;
}

void TilesDriver::close(bool /*durable*/) {
  const Timer timer(counters_.close);
  const Status status = caught([&] {
    for (auto& open : open_)
      open.catalog->close(false);
  });
  open_.clear();
  comm_.agree_or_throw(status);
}

std::unique_ptr<Driver> make_tiles_driver(const Comm& comm, const std::string& path, OpenMode mode,
                                          const DriverOptions& options) {
  if (mode != OpenMode::read)
    throw Error(Code::state,
                "'{}' is a dataset in several files, which can only be read; combine them to one file first "
                "(shoal combine), and change that",
                path);
  std::vector<std::string> files;
  comm.on_root([&] {
    files = files_of_set(path);
    if (files.empty()) throw Error(Code::not_found, "there is no such file, nor a set of files of that name");
  });
  return std::make_unique<TilesDriver>(comm, files, options);
}

}  // namespace shoal
