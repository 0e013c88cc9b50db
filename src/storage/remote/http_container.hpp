// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "storage/container.hpp"
#include "storage/remote/remote_options.hpp"

namespace shoal {

/// Files below a URL of http(s)://, which can be read by their names alone.
std::shared_ptr<Container> http_container(const std::string& url, const RemoteOptions& options);

/// The file of a URL. Error(not_supported): it is not opened to be read.
std::unique_ptr<Store> open_http_file(const std::string& url, StoreMode mode, const RemoteOptions& options);

}  // namespace shoal
