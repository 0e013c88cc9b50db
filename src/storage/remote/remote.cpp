// SPDX-License-Identifier: BSD-3-Clause
#include "storage/remote/remote.hpp"

#ifdef SHOAL_HAVE_CURL
#include <curl/curl.h>
#endif

#include "base/error.hpp"
#include "base/text.hpp"
#include "storage/remote/http_container.hpp"
#include "storage/remote/s3_container.hpp"
#include "storage/remote/url.hpp"

namespace shoal {

namespace {

bool is_s3_path(const std::string& path) {
  return path.starts_with("s3://");
}

#ifndef SHOAL_HAVE_CURL
Error no_curl(const std::string& url) {
  return Error(
             Code::not_supported,
             "this Shoal was built without libcurl, by which it reads and writes objects on servers: install "
             "libcurl 7.88 or newer, OpenSSL and expat with their headers (Debian: libcurl4-openssl-dev, "
             "libssl-dev, "
             "libexpat1-dev) and build Shoal again, or use a local path")
      .in_file(shown_path(url));
}
#endif

}  // namespace

#ifdef SHOAL_HAVE_CURL
std::shared_ptr<Container> remote_container(const std::string& url, const RemoteOptions& options) {
  return in_context(shown_path(url), [&]() -> std::shared_ptr<Container> {
    if (!is_s3_path(url)) return http_container(url, options);
    const S3Url parsed = parse_s3_url(url);
    return s3_container(std::make_shared<S3Bucket>(parsed.bucket, options), parsed.key);
  });
}

std::unique_ptr<Store> open_remote_store(const std::string& url, StoreMode mode,
                                         const RemoteOptions& options) {
  return in_context(shown_path(url), [&] {
    if (!is_s3_path(url)) return open_http_file(url, mode, options);
    const S3Url parsed = parse_s3_url(url);
    return open_s3_object(std::make_shared<S3Bucket>(parsed.bucket, options), parsed.key, mode, true);
  });
}

std::string remote_library() {
  const curl_version_info_data* const found = curl_version_info(CURLVERSION_NOW);
  return std::string("libcurl ") + found->version + ", " +
         (found->ssl_version ? found->ssl_version : "no TLS");
}
#else
std::shared_ptr<Container> remote_container(const std::string& url, const RemoteOptions& /*options*/) {
  throw no_curl(url);
}

std::unique_ptr<Store> open_remote_store(const std::string& url, StoreMode /*mode*/,
                                         const RemoteOptions& /*options*/) {
  throw no_curl(url);
}

std::string remote_library() {
  return "none";
}
#endif

}  // namespace shoal
