// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "storage/container.hpp"
#include "storage/remote/s3_bucket.hpp"

namespace shoal {

/// The objects of a bucket whose keys begin with `root` and "/"; root "": all of them.
std::shared_ptr<Container> s3_container(std::shared_ptr<S3Bucket> bucket, const std::string& root);

/// One object. cached: small reads of one that is opened to be read go through a cache.
std::unique_ptr<Store> open_s3_object(const std::shared_ptr<S3Bucket>& bucket, const std::string& key,
                                      StoreMode mode, bool cached);

}  // namespace shoal
