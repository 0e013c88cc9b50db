// SPDX-License-Identifier: BSD-3-Clause
// URLs by their text alone.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shoal {

struct S3Url {
  std::string bucket;
  std::string key;  ///< without '/' at its ends; "": the bucket
};
/// "s3://bucket/a key": nothing is decoded. Error(invalid_argument), which never has the text of something
/// that may be a password.
S3Url parse_s3_url(const std::string& url);

struct HttpUrl {
  std::string base;                  ///< with user and password, without query; no '/' at its end
  std::string query;                 ///< with its '?'; empty: none
  std::string shown;                 ///< base without user and password
  std::vector<std::string> secrets;  ///< parts that no message may have

  std::string of(const std::string& object) const;        ///< "": the URL itself
  std::string shown_of(const std::string& object) const;  ///< the same, to show
};
/// "https://host/his.zarr". Characters that no URL has are encoded. Error(invalid_argument).
HttpUrl parse_http_url(const std::string& url);

/// All but letters, digits and -._~ as %XX; keep_slashes: and but '/'.
std::string percent_encoded(std::string_view text, bool keep_slashes);
/// Nothing where a % has no two digits behind it.
std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank);

/// "a=1&b=x%20y": sorted and encoded, as it is signed; each field has a '='.
std::string canonical_query(std::vector<std::pair<std::string, std::string>> fields);

/// The URL before "/key" of the objects of a bucket. Of Amazon's hosts the bucket is in the name of the host,
/// where certificates allow it; of others, in the path. Error(invalid_argument): no such endpoint.
std::string bucket_url(const std::string& bucket, const std::string& region, const std::string& endpoint);

}  // namespace shoal
