// SPDX-License-Identifier: BSD-3-Clause
#include "driver/file/shared_file.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/text.hpp"
#include "rearrange/io_ranks.hpp"
#include "storage/gluster.hpp"
#include "storage/paths.hpp"
#include "storage/striping.hpp"

namespace shoal {

namespace {

bool is_new(OpenMode mode) {
  return mode == OpenMode::create || mode == OpenMode::create_exclusive;
}

std::string only_for_lustre(const FileSystem& where) {
  return fmt::format(
      "settings stripe_count and stripe_bytes are for Lustre, and the file is on {}; they set no stripes "
      "there",
      where.type);
}

// What makes the clients of a file system hand on what they are given at once, and ask again before reading.
std::string safe_settings(const FileSystem& where) {
  const std::string& type = where.type;
  if (!where.caches.empty()) return gluster_advice(where.caches);
  if (type == "glusterfs")
    return "switch the caches of its clients off (gluster volume set VOLUME KEY off, KEY being "
           "performance.write-behind, performance.read-ahead, performance.io-cache, performance.quick-read, "
           "performance.stat-prefetch and performance.open-behind) and mount with direct-io-mode=enable,"
           "attribute-timeout=0,entry-timeout=0";
  if (type == "cifs" || type == "smb") return "mount with cache=none,actimeo=0";
  if (type == "9p" || type == "virtiofs") return "mount or serve it with cache=none";
  if (type == "dfuse") return "start dfuse with --disable-caching";
  if (type == "sshfs") return "mount with -o direct_io,dir_cache=no,attr_timeout=0,entry_timeout=0";
  return "mount it with -o direct_io,attr_timeout=0,entry_timeout=0 and without writeback_cache, as far as "
         "it "
         "has these options";
}

}  // namespace

bool are_asked_for(const Stripes& stripes) {
  return stripes.count > 0 || stripes.bytes > 0;
}

void pack(ByteWriter& out, const FileSystem& where) {
  out.put(where.type);
  out.put(where.free);
  out.put(static_cast<std::int64_t>(where.sharing));
  out.put(where.caches);
}

FileSystem unpack_file_system(ByteReader& in) {
  FileSystem where;
  in.get(where.type);
  in.get(where.free);
  where.sharing = static_cast<FileSystem::Sharing>(in.get<std::int64_t>());
  in.get(where.caches);
  return where;
}

FileSystem as_nodes_have_it(const Comm& comm, const Nodes& nodes, const std::string& path,
                            const FileSystem& where, const FileSystemFinder& find) {
  if (where.type != "glusterfs" || nodes.single()) return where;
  Bytes mine;
  if (nodes.node().rank() == 0) {
    FileSystem here = where;
    caught([&] { here = find(path); });  // who cannot ask says nothing: opening the file will fail there
    ByteWriter out;
    pack(out, here);
    mine = out.take();
  }
  const auto parts = comm.gather(mine, 0);
  const Bytes answer = comm.from_root([&] {
    FileSystem worst = where;
    for (const auto& part : parts) {
      if (part.empty()) continue;
      ByteReader in(part);
      const FileSystem here = unpack_file_system(in);
      if (here.sharing != FileSystem::Sharing::coherent) worst.sharing = here.sharing;
      for (const auto& cache : here.caches)
        if (std::find(worst.caches.begin(), worst.caches.end(), cache) == worst.caches.end())
          worst.caches.push_back(cache);
    }
    ByteWriter out;
    pack(out, worst);
    return out.take();
  });
  ByteReader in(answer);
  return unpack_file_system(in);
}

void require_one_file(const Comm& comm, const Nodes& nodes, const std::string& path,
                      const FileSystem& where) {
  if (where.sharing != FileSystem::Sharing::local || nodes.single()) return;
  Bytes mine;
  if (nodes.node().rank() == 0) {
    ByteWriter out;
    out.put(identity_of(path));
    mine = out.take();
  }
  const auto parts = comm.gather(mine, 0);
  comm.on_root([&] {
    for (std::size_t r = 0; r < parts.size(); ++r) {
      if (parts[r].empty() || parts[r] == parts[0]) continue;
      ByteReader in(parts[r]);
      const bool has_none = in.get<std::vector<std::int64_t>>().empty();
      throw Error(Code::io,
                  "the file is on {}, which each node has for itself: the node of rank {}{}; choose a folder "
                  "that all nodes share, or layout=node or layout=process",
                  where.type, r, has_none ? " has no such file" : " has another file of this name")
          .in_file(path);
    }
  });
}

std::string sharing_warning(const FileSystem& where, bool calls_mpi_io) {
  if (where.sharing == FileSystem::Sharing::cached)
    return fmt::format(
        "the file is on {}, whose clients keep what they write and read, and ranks of several nodes write "
        "it: cells may be lost, or read as they were before. To be safe, {}; or take driver gather, whose "
        "rank 0 alone writes, layout=node, or a parallel file system",
        where.type, safe_settings(where));
  if (where.sharing != FileSystem::Sharing::close_to_open) return {};
  if (calls_mpi_io)
    return fmt::format(
        "the file is on {}, where nodes see each other's writes only after one closed the file and the other "
        "opened it, and ranks of several nodes write it: cells may be lost. Take driver native or gather, "
        "which store from one node, layout=node, or a parallel file system; MPI-IO needs mounts with noac, "
        "and locks that work",
        where.type);
  return fmt::format(
      "the file is on {}, where nodes do not see each other's writes at once: the ranks of one node store "
      "for all, and cells go to them by messages. On a parallel file system, or with layout=node, all nodes "
      "write",
      where.type);
}

std::vector<int> io_ranks_of_one_node(const Comm& comm, const Nodes& nodes, const RearrangeOptions& options,
                                      bool& elsewhere) {
  const auto node_of = comm.all_gather(static_cast<std::int64_t>(nodes.index()));
  const auto beside_root = [&](int rank) { return node_of[static_cast<std::size_t>(rank)] == node_of[0]; };
  elsewhere = false;
  if (sets_io_ranks(options)) {
    auto chosen = choose_io_ranks(comm, options);
    elsewhere = !std::all_of(chosen.begin(), chosen.end(), beside_root);
    return chosen;
  }
  std::vector<int> there;
  for (int r = 0; r < comm.size(); ++r)
    if (beside_root(r)) there.push_back(r);
  std::vector<int> list;
  const auto size = static_cast<int>(there.size());
  for (const int i : io_ranks_of(size, {std::min(size, options.most_io_ranks_of_node)}))
    list.push_back(there[static_cast<std::size_t>(i)]);
  return list;
}

OpenMode with_stripes(const std::string& path, OpenMode mode, const Stripes& stripes,
                      const SystemOptions& system, std::vector<std::string>& warnings) {
  if (!is_new(mode) || !are_asked_for(stripes)) return mode;
  const FileSystem where = system.find_file_system(path);
  if (where.type != "lustre") {
    warnings.push_back(only_for_lustre(where));
    return mode;
  }
  if (mode == OpenMode::create_exclusive && path_exists(path)) return mode;  // an error
  const std::string problem = make_striped_file(path, stripes, system.lustre_libraries);
  if (problem.empty()) return OpenMode::create;
  warnings.push_back(
      fmt::format("the file has the stripes of its folder, not those of stripe_count and stripe_bytes: {}; "
                  "set them before the run ({})",
                  problem, stripe_command(folder_of(path), stripes)));
  return mode;
}

void add_stripe_hints(Hints& hints, const Stripes& stripes, const FileSystem& where,
                      std::vector<std::string>& warnings) {
  if (!are_asked_for(stripes)) return;
  if (where.type != "lustre") return warnings.push_back(only_for_lustre(where));
  const auto add = [&](const char* key, std::int64_t value) {
    const bool is_there =
        std::any_of(hints.begin(), hints.end(), [&](const auto& hint) { return hint.first == key; });
    if (value > 0 && !is_there) hints.emplace_back(key, std::to_string(value));
  };
  add("striping_factor", stripes.count);
  add("striping_unit", stripes.bytes);
}

}  // namespace shoal
