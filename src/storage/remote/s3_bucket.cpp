// SPDX-License-Identifier: BSD-3-Clause
#include "storage/remote/s3_bucket.hpp"

#ifdef SHOAL_HAVE_CURL
#include <fmt/core.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>

#include "base/error.hpp"
#include "storage/remote/answers.hpp"
#include "storage/remote/back_off.hpp"
#include "storage/remote/digest.hpp"
#include "storage/remote/in_parallel.hpp"
#include "storage/remote/url.hpp"

namespace shoal {

namespace {

// What is worth to be asked for at once: many a zarr.json, and many an index of a shard, is smaller.
constexpr std::size_t k_first_bytes = 64 << 10;
constexpr std::size_t k_most_parts = 10000;
constexpr std::size_t k_most_removals = 1000;
constexpr std::size_t k_removers = 8;

/// What tells an object that this process stored from one of another. When an answer is lost, the request is
/// tried again and meets its own object: libcurl does so by itself, too, on connections that were kept.
std::string new_mark() {
  std::random_device device;
  std::string mark;
  for (int i = 0; i < 4; ++i)
    mark += fmt::format("{:08x}", static_cast<std::uint32_t>(device()));
  return mark;
}

constexpr const char* k_mark = "x-amz-meta-shoal-write";

std::string mark_header(const std::string& mark) {
  return std::string(k_mark) + ": " + mark;
}

Error is_there(const std::string& shown) {
  return Error(Code::exists, "it is there already").in_file(shown);
}

/// XML has no control characters, so that such names are removed one by one.
bool has_name_in_xml(const std::string& key) {
  return std::none_of(key.begin(), key.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

}  // namespace

S3Bucket::S3Bucket(std::string bucket, const RemoteOptions& options, VariableFinder variable)
    : bucket_(std::move(bucket)), requests_(std::make_shared<Requests>(options, std::move(variable))) {
  const S3Access access = requests_->access();
  url_ = bucket_url(bucket_, access.region, options.endpoint.empty() ? access.endpoint : options.endpoint);
}

std::string S3Bucket::shown(const std::string& key) const {
  return "s3://" + bucket_ + (key.empty() ? "" : "/" + key);
}

Request S3Bucket::request_of(const std::string& method, const std::string& key, const std::string& query,
                             const std::string& doing) const {
  Request request;
  request.method = method;
  request.url = url_ + '/' + percent_encoded(key, true) + (query.empty() ? "" : '?' + query);
  request.shown = shown(key);
  request.doing = doing;
  return request;
}

Answer S3Bucket::run(const Request& request) const {
  Answer answer = requests_->run(request);
  if (!answer.is_success()) throw requests_->failure(request, answer);
  return answer;
}

std::unique_ptr<RangedObject> S3Bucket::open(const std::string& key) const {
  const Request request = request_of("GET", key, "", "");
  return std::make_unique<RangedObject>(requests_, request.url, request.shown, k_first_bytes);
}

bool S3Bucket::has(const std::string& key) const {
  const Request request = request_of("HEAD", key, "", "look for it");
  const Answer answer = requests_->run(request);
  if (answer.status == 404) return false;
  if (!answer.is_success()) throw requests_->failure(request, answer);
  return true;
}

bool S3Bucket::is_marked(const std::string& key, const std::string& mark) const {
  const Request request = request_of("HEAD", key, "", "look whether it was stored");
  const Answer answer = requests_->run(request);
  if (!answer.is_success() && answer.status != 404) throw requests_->failure(request, answer);
  return answer.is_success() && answer.header(k_mark) == mark;
}

void S3Bucket::put(const std::string& key, std::span<const std::byte> bytes, bool only_new) const {
  if (bytes.size() <= static_cast<std::size_t>(requests_->options().part_bytes))
    put_whole(key, bytes, only_new);
  else
    put_parts(key, bytes, only_new);
}

void S3Bucket::put_whole(const std::string& key, std::span<const std::byte> bytes, bool only_new) const {
  const std::string mark = new_mark();
  Request request = request_of("PUT", key, "", "store it");
  request.body = bytes;
  request.is_whole_object = true;
  request.headers.push_back(mark_header(mark));
  if (only_new) request.headers.emplace_back("If-None-Match: *");
  request.retry_conflict = only_new;
  const Answer answer = requests_->run(request);
  if (answer.is_success() && only_new) check_condition(request);
  if (answer.is_success()) return;
  if (!only_new || (answer.status != 412 && answer.status != 409)) throw requests_->failure(request, answer);
  if (!is_marked(key, mark)) throw is_there(request.shown);
}

/// Servers that do not know the condition pass it over, and two programs would both have claimed a name. Once
/// for a bucket, the same is stored again, which must be refused.
void S3Bucket::check_condition(const Request& claim) const {
  if (knows_condition_) return;
  const Answer answer = requests_->run(claim);
  if (answer.is_success())
    throw Error(
        Code::not_supported,
        "the server stores an object again that was to be stored only where there is none "
        "(If-None-Match), so that two programs could make the same one at once: take a server that knows "
        "conditional writes")
        .in_file(claim.shown);
  if (answer.status == 412 || answer.status == 409) knows_condition_ = true;
}

void S3Bucket::put_parts(const std::string& key, std::span<const std::byte> bytes, bool only_new) const {
  const std::string mark = new_mark();
  Request begin = request_of("POST", key, "uploads=", "store it (begin of an upload in parts)");
  begin.headers.push_back(mark_header(mark));
  const std::string upload = text_of_element(run(begin).text, "InitiateMultipartUploadResult/UploadId");

  const std::size_t part = std::max(static_cast<std::size_t>(requests_->options().part_bytes),
                                    (bytes.size() + k_most_parts - 1) / k_most_parts);
  std::vector<std::string> tags((bytes.size() + part - 1) / part);
  try {
    in_parallel(
        tags.size(), static_cast<std::size_t>(requests_->options().most_requests), [&](std::size_t i) {
          Request request = request_of(
              "PUT", key, canonical_query({{"partNumber", std::to_string(i + 1)}, {"uploadId", upload}}),
              fmt::format("store part {} of {} of it", i + 1, tags.size()));
          request.body = bytes.subspan(i * part, std::min(part, bytes.size() - i * part));
          const Answer answer = run(request);
          tags[i] = answer.header("etag");
          if (tags[i].empty())
            throw Error(Code::io, "cannot {}: the server gives no ETag for it", request.doing)
                .in_file(request.shown);
        });
    finish_parts(key, upload, tags, only_new, mark);
  } catch (...) {
    try {  // the parts would take space for ever
      Request abort =
          request_of("DELETE", key, canonical_query({{"uploadId", upload}}), "end an upload in parts");
      abort.most_tries = 2;
      requests_->run(abort);
    } catch (const Error&) {
    }
    throw;
  }
}

void S3Bucket::finish_parts(const std::string& key, const std::string& upload,
                            const std::vector<std::string>& tags, bool only_new,
                            const std::string& mark) const {
  std::string body = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
  for (std::size_t i = 0; i < tags.size(); ++i)
    body +=
        fmt::format("<Part><PartNumber>{}</PartNumber><ETag>{}</ETag></Part>", i + 1, xml_escaped(tags[i]));
  body += "</CompleteMultipartUpload>";
  Request request = request_of("POST", key, canonical_query({{"uploadId", upload}}),
                               "store it (end of an upload in parts)");
  request.body = std::as_bytes(std::span(body));
  request.is_slow = true;
  if (only_new) request.headers.emplace_back("If-None-Match: *");
  request.retry_conflict = only_new;
  const Answer answer = requests_->run(request);
  if (answer.is_success()) {
    if (xml_texts(answer.text).back().path == "CompleteMultipartUploadResult") return;
    throw Error(Code::io, "cannot {}: the server does not say that it did", request.doing)
        .in_file(request.shown);
  }
  // An upload that was ended by a request whose answer was lost is not known any more.
  const bool was_refused = only_new && (answer.status == 412 || answer.status == 409);
  if (!was_refused && answer.status != 404) throw requests_->failure(request, answer);
  if (is_marked(key, mark)) return;
  if (was_refused) throw is_there(request.shown);
  throw requests_->failure(request, answer);
}

void S3Bucket::copy(const std::string& key, const std::string& to) const {
  Request request = request_of("PUT", to, "", "copy '" + shown(key) + "' to it");
  request.headers.push_back("x-amz-copy-source: /" + bucket_ + '/' + percent_encoded(key, true));
  request.is_slow = true;
  run(request);
}

void S3Bucket::remove(const std::string& key) const {
  const Request request = request_of("DELETE", key, "", "remove it");
  const Answer answer = requests_->run(request);
  const bool is_gone = answer.status == 404 && answer.error.code != "NoSuchBucket";
  if (!answer.is_success() && !is_gone) throw requests_->failure(request, answer);
}

void S3Bucket::remove(const std::vector<std::string>& keys) const {
  for (std::size_t i = 0; i < keys.size(); i += k_most_removals)
    remove_some(std::span(keys).subspan(i, std::min(k_most_removals, keys.size() - i)));
}

void S3Bucket::remove_some(std::span<const std::string> keys) const {
  std::vector<std::string> one_by_one;
  std::string body = "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Quiet>true</Quiet>";
  for (const std::string& key : keys) {
    if (has_name_in_xml(key))
      body += "<Object><Key>" + xml_escaped(key) + "</Key></Object>";
    else
      one_by_one.push_back(key);
  }
  body += "</Delete>";
  Request request = request_of("POST", "", "delete=", "remove objects");
  request.body = std::as_bytes(std::span(body));
  const auto sum = md5_base64(request.body);
  if (sum && one_by_one.size() < keys.size()) {
    request.headers.push_back("Content-MD5: " + *sum);  // servers want it
    const Answer answer = requests_->run(request);
    const bool is_unknown = answer.status == 400 || answer.status == 405 || answer.status == 501;
    if (!answer.is_success() && !is_unknown) throw requests_->failure(request, answer);
    bool all_gone = answer.is_success();
    if (all_gone)
      for (const ServerError& error : parse_removal(answer.text))
        all_gone = all_gone && error.code == "NoSuchKey";
    // What was not removed is removed by requests of its own, which are tried again, and say why they fail.
    if (!all_gone) one_by_one.assign(keys.begin(), keys.end());
  } else {
    one_by_one.assign(keys.begin(), keys.end());
  }
  in_parallel(one_by_one.size(), k_removers, [&](std::size_t i) { remove(one_by_one[i]); });
}

void S3Bucket::list(const std::string& prefix, bool by_folder,
                    const std::function<void(ObjectPage&&)>& take) const {
  std::string next;
  do {
    std::vector<std::pair<std::string, std::string>> fields{
        {"encoding-type", "url"}, {"list-type", "2"}, {"prefix", prefix}};
    if (by_folder) fields.emplace_back("delimiter", "/");
    if (!next.empty()) fields.emplace_back("continuation-token", next);
    Request request = request_of("GET", "", canonical_query(std::move(fields)), "list objects");
    request.shown = shown(prefix);
    ObjectPage page = in_context(request.shown, [&] { return parse_object_page(run(request).text); });
    if (!page.next.empty() && page.next == next)
      throw Error(Code::format, "the server gives the same page of its list for ever").in_file(request.shown);
    next = page.next;
    take(std::move(page));
  } while (!next.empty());
}

}  // namespace shoal
#endif
