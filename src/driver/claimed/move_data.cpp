// SPDX-License-Identifier: BSD-3-Clause
#include "driver/claimed/move_data.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "base/text.hpp"
#include "comm/nodes.hpp"
#include "driver/shared_file.hpp"
#include "format/classic/classic_move.hpp"
#include "storage/striping.hpp"

namespace shoal {

namespace {

// Parts of ranks begin at multiples of the first, and ranks ask each other for errors when each has copied
// the second: nobody waits long for another, and nobody copies for nothing.
constexpr std::int64_t k_piece = std::int64_t{1} << 20;
constexpr std::int64_t k_round = std::int64_t{256} << 20;

std::string size_text(std::int64_t bytes) {
  return bytes_text(static_cast<double>(bytes));
}

/// Which of the ranks that copy this one is; on file systems whose clients do not see each other's bytes at
/// once those of one node do.
struct Copier {
  int index = 0, count = 1;
  bool copies = true;
};

Copier copier_of(const Comm& comm, FileSystem::Sharing sharing, const DriverOptions& options) {
  const bool all = sharing != FileSystem::Sharing::close_to_open && sharing != FileSystem::Sharing::cached;
  if (all) return {comm.rank(), comm.size(), true};
  const Nodes nodes(comm, options.rearranging.ranks_per_node);
  const auto of_root = comm.from_root([&] {
    ByteWriter out;
    out.put(nodes.index());
    out.put(nodes.node().size());
    return out.take();
  });
  ByteReader in(of_root);
  const bool copies = nodes.index() == in.get<int>();
  return {copies ? nodes.node().rank() : 0, in.get<int>(), copies};
}

// Both files are there for a time.
void check_space(const std::string& from, std::int64_t end, const SystemOptions& system) {
  const auto space = system.find_free_space(from);
  if (!space) return;
  const std::int64_t needed = std::min(end, space->stored + std::max<std::int64_t>(end - space->length, 0));
  if (needed > space->free)
    throw Error(Code::no_space,
                "the definitions have no place in front of the data, which has to move to a new file: {} are "
                "needed there, and {} are free; make space, or define everything before the first data are "
                "written",
                size_text(needed), size_text(space->free))
        .in_file(from);
}

void make_empty_file(const std::string& from, const std::string& to, const SystemOptions& system) {
  std::vector<std::string> ignored;  // what is said of stripes was said when the file was made
  const OpenMode mode = with_stripes(to, OpenMode::create_exclusive, stripes_of_file(from), system, ignored);
  system.open_store(to, mode == OpenMode::create ? StoreMode::create : StoreMode::create_exclusive)->close();
}

ClassicMove planned(const std::string& from, const std::string& to, const Schema& wanted,
                    const DriverOptions& options) {
  const SystemOptions& system = options.system;
  const auto file = system.open_store(from, StoreMode::read);
  const ClassicMove move = ClassicMove::planned(*file, wanted, options.catalog);
  file->close();
  check_space(from, move.end(), system);
  if (move.bytes() > k_much_to_move && options.file.announce)
    options.file.announce(fmt::format(
        "{} of data move to make room for the header (or for a variable among others); more header_reserve, "
        "or definitions before the first data, save that",
        size_text(move.bytes())));
  make_empty_file(from, to, system);
  return move;
}

void copy_all(const Comm& comm, const Copier& who, const ClassicMove& move, const std::string& from,
              const std::string& to, const SystemOptions& system) {
  std::unique_ptr<Store> in;
  std::unique_ptr<Store> out;
  for (std::int64_t at = move.begin() / k_piece * k_piece; at < move.end();) {
    const std::int64_t left = move.end() - at;
    const std::int64_t even = ((left + who.count - 1) / who.count + k_piece - 1) / k_piece * k_piece;
    const std::int64_t part = std::min(even, k_round);
    const std::int64_t begin = std::min(at + part * who.index, move.end());
    const std::int64_t end = std::min(begin + part, move.end());
    comm.agree_or_throw(caught([&] {
      if (!who.copies || begin == end) return;
      if (!in) in = system.open_store(from, StoreMode::read);
      if (!out) out = system.open_store(to, StoreMode::write);
      move.copy(*in, *out, begin, end);
      out->send();
    }));
    at += std::min(part * who.count, left);
  }
  comm.agree_or_throw(caught([&] {
    if (in) in->close();
    if (!out) return;
    out->sync();
    out->close();
  }));
}

void finish(const ClassicMove& move, const std::string& to, const SystemOptions& system) {
  const auto out = system.open_store(to, StoreMode::write);
  out->write(0, move.header());
  const auto end = static_cast<std::uint64_t>(move.end());
  if (out->size() < end) out->resize(end);
  out->sync();
  out->close();
}

}  // namespace

std::int64_t move_data(const Comm& comm, const std::string& from, const std::string& to, const Schema& wanted,
                       const DriverOptions& options) {
  const Bytes message = comm.from_root([&] {
    const ClassicMove move = planned(from, to, wanted, options);
    ByteWriter out;
    out.put(options.system.find_file_system(from).sharing);
    move.pack(out);
    return out.take();
  });
  ByteReader in(message);
  const auto sharing = in.get<FileSystem::Sharing>();
  const ClassicMove move(in);
  copy_all(comm, copier_of(comm, sharing, options), move, from, to, options.system);
  comm.on_root([&] { finish(move, to, options.system); });
  return move.bytes();
}

}  // namespace shoal
