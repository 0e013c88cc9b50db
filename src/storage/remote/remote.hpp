// SPDX-License-Identifier: BSD-3-Clause
// Objects on servers: "s3://bucket/name", and "http://..." or "https://..." to read. See docs/guide/zarr.md.
#pragma once

#include <memory>
#include <string>

#include "storage/container.hpp"
#include "storage/remote/remote_options.hpp"
#include "storage/remote/remote_path.hpp"
#include "storage/store.hpp"

namespace shoal {

/// Objects whose names begin with the URL and "/". Of http(s):// they can be read, by their names alone. Its
/// functions may be called by several threads at once; Stores by one. Error(invalid_argument,
/// not_supported): the URL is wrong, or this Shoal was built without libcurl. Nothing is asked of the server.
///
/// What differs from a folder: an object is stored as a whole, by sync() or close(), and until then readers
/// see what was there before. A Store of create_exclusive has the name once its first sync() or close()
/// returned; Error(exists) is thrown by open where the object is there already, and by these where somebody
/// else was faster. A Store that goes without close() stores nothing more. An object that another program
/// replaced while it was read is an Error(io), never a mixture. publish() is a copy on the server, then a
/// removal: readers find the old object or the new one under its name. Local.
std::shared_ptr<Container> remote_container(const std::string& url, const RemoteOptions& options = {});

/// One object. Small reads go through a cache of blocks, 64 MiB at most.
std::unique_ptr<Store> open_remote_store(const std::string& url, StoreMode mode,
                                         const RemoteOptions& options = {});

/// What speaks with servers, with its version; "none": this Shoal was built without. Local.
std::string remote_library();

}  // namespace shoal
