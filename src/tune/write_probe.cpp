// SPDX-License-Identifier: BSD-3-Clause
#include "tune/write_probe.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "base/bytes.hpp"
#include "base/error.hpp"
#include "storage/store.hpp"
#include "storage/temporary_name.hpp"

namespace shoal {

namespace {

namespace fs = std::filesystem;

constexpr int k_calls = 16;  // of each kind, of which the mean is taken
constexpr std::int64_t k_part_unit = std::int64_t{16} << 20;
constexpr std::int64_t k_odd_offset = 1234;
constexpr const char* k_probe_name = "shoal_tune";
constexpr std::chrono::hours k_life{1};  // no file of a probe is written to for so long

/// The file of a probe, as one writer sees it.
struct Part {
  std::int64_t first = 0;  ///< offset of its first call
  std::int64_t step = 0;   ///< from one call to the next
};

Part part_of(const WriteProbe& probe, int writer, int writers, std::int64_t bytes) {
  Part part;
  const std::int64_t call = probe.call_bytes;
  const std::int64_t whole = (bytes + call + k_part_unit - 1) / k_part_unit * k_part_unit;
  if (probe.in_turns)
    part = {writer * call, writers * call};
  else
    part = {probe.own_files ? 0 : writer * whole, call};
  if (probe.unaligned) part.first += k_odd_offset;
  return part;
}

// Another job may measure in the same folder now.
void remove_old(const std::string& folder) {
  const auto old = fs::file_time_type::clock::now() - k_life;
  const std::string begin = std::string(".") + k_probe_name + ".";
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::error_code gone;
    if (entry.path().filename().string().starts_with(begin) && entry.last_write_time(gone) < old && !gone)
      fs::remove(entry.path(), gone);
  }
}

}  // namespace

ProbeFolder::ProbeFolder(const Comm& comm, const Nodes& nodes, std::string folder, bool keep_names)
    : comm_(comm), nodes_(nodes), folder_(std::move(folder)), keep_names_(keep_names) {
  const Bytes prefix = comm_.from_root([&] {
    remove_old(folder_);
    ByteWriter out;
    out.put(temporary_name((fs::path(folder_) / k_probe_name).string()));
    return out.take();
  });
  ByteReader(prefix).get(prefix_);
}

std::string ProbeFolder::path_of(int number) const {
  return prefix_ + std::to_string(number);
}

double ProbeFolder::rate_of(const WriteProbe& probe, std::int64_t bytes, Seconds seconds) const {
  const int in_node = nodes_.node().rank();
  const bool writes = nodes_.index() < probe.nodes && in_node < probe.writers;
  const int writer = nodes_.index() * probe.writers + in_node;
  const std::int64_t calls = std::max<std::int64_t>(1, bytes / probe.call_bytes);
  const Part part = part_of(probe, writer, probe.nodes * probe.writers, calls * probe.call_bytes);
  const std::string path = path_of(probe.own_files ? writer : 0);
  Bytes cells;
  comm_.agree_or_throw(caught([&] {
    if (writes) cells.assign(static_cast<std::size_t>(probe.call_bytes), std::byte{1});
  }));
  if (!probe.own_files)
    comm_.on_root([&] {
      if (probe.stripes > 0)
        if (const std::string why = make_striped_file(path, {probe.stripes, 0}); !why.empty())
          throw Error(Code::not_supported, "no file with {} stripes: {}", probe.stripes, why).in_file(path);
      open_posix_store(path, probe.stripes > 0 ? StoreMode::write : StoreMode::create)->close();
    });
  std::unique_ptr<Store> store;
  const Status opened = comm_.agree(caught([&] {
    if (writes) store = open_posix_store(path, probe.own_files ? StoreMode::create : StoreMode::write);
  }));
  std::error_code ignored;
  const auto remove = [&] {
    if (probe.own_files ? store != nullptr : comm_.rank() == 0) fs::remove(path, ignored);
  };
  if (!keep_names_ || !opened.ok()) remove();
  comm_.agree_or_throw(opened);
  comm_.barrier();
  const Seconds start = now();
  std::int64_t written = 0;
  Status status = caught([&] {
    for (std::int64_t i = 0; writes && i < calls && (i == 0 || now() - start < seconds); ++i) {
      store->write(static_cast<std::uint64_t>(part.first + i * part.step), cells);
      written += probe.call_bytes;
    }
    if (writes && probe.sync) store->sync();
  });
  // From the first that began to the last that ended: where ranks share a core, one may write after the
  // other.
  comm_.barrier();
  const Seconds took = now() - start;
  // What is still on its way would take time from the next probe.
  status.merge(caught([&] {
    if (store && !probe.sync) store->sync();
  }));
  status.merge(caught([&] {
    if (store) store->close();
  }));
  if (keep_names_) {
    comm_.barrier();
    remove();
  }
  comm_.agree_or_throw(status);
  return static_cast<double>(comm_.sum(written)) / comm_.max(took);
}

ProbeFolder::Calls ProbeFolder::calls() const {
  Calls calls;
  comm_.on_root([&] {
    const Bytes one(1);
    for (int i = 0; i < k_calls; ++i) {
      const std::string path = path_of(i);
      Seconds start = now();
      std::unique_ptr<Store> store = open_posix_store(path, StoreMode::create_exclusive);
      calls.create += (now() - start) / k_calls;
      store->write(0, one);
      store->sync();
      start = now();
      store->sync();
      calls.sync += (now() - start) / k_calls;
      store->close();
      start = now();
      store = open_posix_store(path, StoreMode::write);
      calls.open += (now() - start) / k_calls;
      store->close();
      fs::remove(path);
    }
  });
  return calls;
}

Stripes ProbeFolder::usual_stripes() const {
  const Bytes found = comm_.from_root([&] {
    const std::string path = path_of(0);
    open_posix_store(path, StoreMode::create)->close();
    ByteWriter out;
    out.put(stripes_of_file(path));
    std::error_code ignored;
    fs::remove(path, ignored);
    return out.take();
  });
  return ByteReader(found).get<Stripes>();
}

bool ProbeFolder::can_stripe(std::int64_t stripes) const {
  const std::string path = path_of(0);
  const Bytes answer = comm_.from_root([&] {
    const bool can = make_striped_file(path, {stripes, 0}).empty();
    std::error_code ignored;
    fs::remove(path, ignored);
    return Bytes(can ? 1 : 0);
  });
  return !answer.empty();
}

}  // namespace shoal
