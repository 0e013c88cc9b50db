// SPDX-License-Identifier: BSD-3-Clause
#include "driver/claimed/remote_claim.hpp"

#include <algorithm>

#include "comm/nodes.hpp"
#include "format/catalog.hpp"
#include "format/format_traits.hpp"
#include "storage/remote/remote.hpp"

namespace shoal {

namespace {

void require_objects(Format format, const std::string& path) {
  if (traits_of(format).holds_objects()) return;
  throw Error(
      Code::not_supported,
      "format {} is one file that ranks write at offsets, which an object store has not; choose format "
      "zarr, or write a local file, for which driver gather needs no shared file system, and bring it "
      "there by shoal convert",
      name_of(format))
      .in_file(shown_path(path));
}

// The root first: who reads it meanwhile finds no dataset, and not half of one.
void remove_dataset(Container& container, const std::string& root) {
  container.remove(root);
  for (const std::string& name : container.children(""))
    if (name.ends_with('/'))
      container.remove_below(name);
    else
      container.remove(name);
}

// What is there goes, if it is a dataset.
void make_room(Container& container, OpenMode mode) {
  const std::string root = root_object_in(container);
  const bool is_dataset = !root.empty();
  // Nothing goes because of a root that cannot be read.
  if (is_dataset) recognise(*container.open(root, StoreMode::read));
  if (is_dataset && mode == OpenMode::create_exclusive)
    throw Error(Code::exists,
                "there is a dataset at this address already; choose another name, or set "
                "exists=replace")
        .in_file(container.path());
  if (is_dataset) return remove_dataset(container, root);
  if (!container.children("").empty())
    throw Error(Code::exists,
                "there are objects at this address that are no dataset, and are not replaced by one; choose "
                "another name, or remove them")
        .in_file(container.path());
}

// Those that share the requests of a node. Collective.
int storing_ranks_of_node(const Comm& comm, const RearrangeOptions& rearranging) {
  const Nodes nodes(comm, rearranging.ranks_per_node);
  const int ranks = nodes.node().size();
  const int of_all = (rearranging.io_ranks + nodes.count() - 1) / nodes.count();
  const int io_ranks = rearranging.io_ranks_per_node > 0 ? rearranging.io_ranks_per_node : of_all;
  return io_ranks > 0 ? std::min(io_ranks, ranks) : ranks;
}

}  // namespace

std::unique_ptr<Driver> make_remote_driver(DriverMaker* make, const Comm& comm, const std::string& path,
                                           OpenMode mode, Format format, const DriverOptions& options) {
  if (make != make_native_driver)
    throw Error(
        Code::not_supported,
        "only driver native reads and writes at an address such as this; leave the setting driver out")
        .in_file(shown_path(path));
  DriverOptions remotely = options;
  const RemoteOptions& of_node = options.system.remote;
  RemoteOptions how = of_node;
  how.most_requests = std::max(1, of_node.most_requests / storing_ranks_of_node(comm, options.rearranging));
  remotely.system.open_folder = [how](const std::string& at) { return remote_container(at, how); };
  remotely.system.open_store = [how](const std::string& at, StoreMode as) {
    return open_remote_store(at, as, how);
  };
  // What one rank lacks, as a file of settings, all learn of before any of them waits for it.
  comm.agree_or_throw(caught([&] { remote_container(path, how); }));
  const bool fresh = mode == OpenMode::create || mode == OpenMode::create_exclusive;
  if (fresh) {
    require_objects(format, path);
    comm.on_root([&] { make_room(*remote_container(path, of_node), mode); });  // alone
  } else if (mode == OpenMode::write) {
    comm.on_root([&] {
      if (root_object_in(*remote_container(path, how)).empty())
        require_objects(recognise(*open_remote_store(path, StoreMode::read, how)), path);
    });
  }
  return make(comm, path, fresh ? OpenMode::create_exclusive : mode, format, remotely);
}

}  // namespace shoal
