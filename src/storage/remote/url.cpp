// SPDX-License-Identifier: BSD-3-Clause
#include "storage/remote/url.hpp"

#include <algorithm>
#include <cstddef>

#include "base/error.hpp"
#include "base/text.hpp"

namespace shoal {

namespace {

constexpr std::string_view k_s3 = "s3://";
constexpr std::size_t k_longest_bucket = 255;  // Amazon has 63, older ones 255
constexpr std::string_view k_amazon = "amazonaws.com";

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

void append_encoded(std::string& out, char c) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  const auto byte = static_cast<unsigned char>(c);
  out += '%';
  out += digits[byte >> 4];
  out += digits[byte & 15];
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Characters that URLs may have as they are; others are encoded, and "%20" stays.
std::string usable(std::string_view url) {
  constexpr std::string_view never = "\"<>\\^`{|}";
  std::string out;
  for (const char c : url) {
    if (static_cast<unsigned char>(c) <= ' ' || static_cast<unsigned char>(c) >= 0x7f ||
        never.find(c) != std::string_view::npos)
      append_encoded(out, c);
    else
      out += c;
  }
  return out;
}

std::string without_slashes_at_end(std::string text) {
  while (text.ends_with('/'))
    text.pop_back();
  return text;
}

/// The host of an URL is in [first, second), without user and password.
std::pair<std::size_t, std::size_t> host_in(std::string_view url) {
  const std::size_t begin = url.find("://") + 3;
  const std::size_t end = std::min(url.find_first_of("/?#", begin), url.size());
  const std::size_t user = url.substr(0, end).rfind('@');
  return {user == std::string_view::npos || user < begin ? begin : user + 1, end};
}

bool is_http(std::string_view url) {
  const std::string begin = lower(url.substr(0, 8));
  return begin.starts_with("http://") || begin.starts_with("https://");
}

/// May the bucket stand before the name of Amazon's host? A certificate is for one name, without points.
bool fits_host(const std::string& bucket) {
  return std::all_of(bucket.begin(), bucket.end(),
                     [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; });
}

}  // namespace

S3Url parse_s3_url(const std::string& url) {
  if (!url.starts_with(k_s3)) throw Error(Code::invalid_argument, "no URL that begins with s3://");
  const std::size_t end = std::min(url.find('/', k_s3.size()), url.size());
  S3Url parsed{url.substr(k_s3.size(), end - k_s3.size()), url.substr(end)};
  if (parsed.bucket.find('@') != std::string::npos || parsed.bucket.find(':') != std::string::npos)
    throw Error(
        Code::invalid_argument,
        "a URL of s3:// has no host, user or password: write s3://bucket/name, and set the endpoint and "
        "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY or AWS_PROFILE");
  const bool good =
      std::all_of(parsed.bucket.begin(), parsed.bucket.end(), [](char c) { return is_plain(c) && c != '~'; });
  if (parsed.bucket.empty() || parsed.bucket.size() > k_longest_bucket || !good ||
      parsed.bucket.find("..") != std::string::npos || parsed.bucket == ".")
    throw Error(
        Code::invalid_argument,
        "'{}' is no name of a bucket: write s3://bucket/name; a bucket has letters, digits, points and "
        "hyphens",
        parsed.bucket);
  parsed.key = without_slashes_at_end(parsed.key);
  parsed.key.erase(0, std::min(parsed.key.find_first_not_of('/'), parsed.key.size()));
  return parsed;
}

std::string HttpUrl::of(const std::string& object) const {
  return (object.empty() ? base : base + '/' + percent_encoded(object, true)) + query;
}

std::string HttpUrl::shown_of(const std::string& object) const {
  return object.empty() ? shown : shown + '/' + object;
}

HttpUrl parse_http_url(const std::string& url) {
  if (!is_http(url)) throw Error(Code::invalid_argument, "no URL that begins with http:// or https://");
  const std::string whole = usable(std::string_view(url).substr(0, url.find('#')));
  const std::size_t end = std::min(whole.find('?'), whole.size());
  HttpUrl parsed;
  parsed.base = whole.substr(0, end);
  parsed.query = whole.substr(end);
  const auto [host, host_end] = host_in(parsed.base);
  if (host == host_end) throw Error(Code::invalid_argument, "the URL names no host");
  parsed.base = without_slashes_at_end(parsed.base);
  const std::size_t user = parsed.base.find("://") + 3;
  parsed.shown = parsed.base.substr(0, user) + parsed.base.substr(host);
  if (user != host) {
    const std::string login = parsed.base.substr(user, host - 1 - user);
    parsed.secrets.push_back(login);
    const std::size_t colon = login.find(':');
    if (colon != std::string::npos && colon + 1 < login.size()) {
      parsed.secrets.push_back(login.substr(colon + 1));
      if (const auto decoded = percent_decoded(login.substr(colon + 1), false))
        parsed.secrets.push_back(*decoded);
    }
  }
  if (parsed.query.size() > 1) parsed.secrets.push_back(parsed.query.substr(1));
  return parsed;
}

std::string percent_encoded(std::string_view text, bool keep_slashes) {
  std::string out;
  for (const char c : text) {
    if (is_plain(c) || (keep_slashes && c == '/'))
      out += c;
    else
      append_encoded(out, c);
  }
  return out;
}

std::optional<std::string> percent_decoded(std::string_view text, bool plus_is_blank) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      const int high = i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
      const int low = i + 2 < text.size() ? hex_digit(text[i + 2]) : -1;
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += plus_is_blank && text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

std::string canonical_query(std::vector<std::pair<std::string, std::string>> fields) {
  for (auto& [name, value] : fields) {
    name = percent_encoded(name, false);
    value = percent_encoded(value, false);
  }
  std::sort(fields.begin(), fields.end());
  std::string query;
  for (const auto& [name, value] : fields)
    query += (query.empty() ? "" : "&") + name + '=' + value;
  return query;
}

std::string bucket_url(const std::string& bucket, const std::string& region, const std::string& endpoint) {
  if (endpoint.empty()) {
    const std::string host =
        "s3." + region + '.' + std::string(k_amazon) + (region.starts_with("cn-") ? ".cn" : "");
    return fits_host(bucket) ? "https://" + bucket + '.' + host : "https://" + host + '/' + bucket;
  }
  const auto [host, end] = is_http(endpoint) ? host_in(endpoint) : std::pair<std::size_t, std::size_t>{0, 0};
  const bool has_login = host != endpoint.find("://") + 3;
  if (host == end || has_login || endpoint.find_first_of("?# \t\r\n") != std::string::npos)
    throw Error(Code::invalid_argument,
                "the endpoint of the object store is no URL of a host, such as https://objects.site.org or "
                "http://127.0.0.1:9000, without user, password and query");
  std::string url = usable(without_slashes_at_end(endpoint));
  if (std::string_view(url).substr(0, end).ends_with(k_amazon) && fits_host(bucket)) {
    url.insert(host, bucket + '.');
    return url;
  }
  return url + '/' + bucket;
}

}  // namespace shoal
