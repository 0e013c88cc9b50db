// SPDX-License-Identifier: BSD-3-Clause
#include "storage/remote/requests.hpp"

#ifdef SHOAL_HAVE_CURL
#include <curl/curl.h>
#include <fmt/core.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <csignal>
#include <ctime>
#include <random>
#include <thread>

#include "base/build_info.hpp"
#include "base/clock.hpp"
#include "base/text.hpp"
#include "storage/remote/back_off.hpp"
#include "storage/remote/digest.hpp"
#include "storage/remote/url.hpp"

namespace shoal {

namespace {

constexpr std::size_t k_longest_header = 4096;
constexpr std::size_t k_longest_message = 300;
constexpr std::size_t k_shortest_secret = 4;  // shorter ones would spoil all messages
constexpr long k_most_redirections = 10;
constexpr long k_buffer = 512 << 10;
constexpr double k_most_retry_after = 60;

constexpr std::array k_headers{
    "etag",        "content-range",     "content-length",      "content-encoding",      "last-modified",
    "retry-after", "transfer-encoding", "x-amz-bucket-region", "x-amz-meta-shoal-write"};

/// No SIGPIPE ends the program in this thread: OpenSSL writes to connections that servers have closed, and
/// libcurl leaves the signal alone where it may use none.
class NoPipeSignal {
 public:
  NoPipeSignal() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~NoPipeSignal() {
    const timespec at_once{};
    if (!was_pending_)
      while (sigtimedwait(&pipe_, nullptr, &at_once) == SIGPIPE) {
      }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  NoPipeSignal(const NoPipeSignal&) = delete;
  NoPipeSignal& operator=(const NoPipeSignal&) = delete;

 private:
  sigset_t pipe_{};
  sigset_t before_{};
  bool was_pending_ = false;
};

struct HeaderList {
  curl_slist* list = nullptr;
  HeaderList() = default;
  HeaderList(const HeaderList&) = delete;
  HeaderList& operator=(const HeaderList&) = delete;
  ~HeaderList() { curl_slist_free_all(list); }
  void add(const std::string& header) {
    curl_slist* longer = curl_slist_append(list, header.c_str());
    if (longer == nullptr) throw std::bad_alloc();
    list = longer;
  }
};

struct Transfer {
  const Request* request;
  Answer* answer;
  bool out_of_memory = false;
};

std::size_t on_header(char* data, std::size_t /*one*/, std::size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  Answer& answer = *transfer.answer;
  try {
    const std::string_view line(data, size);
    if (line.starts_with("HTTP/")) {  // also of answers that say "continue", or "look there"
      answer = Answer();
      const std::size_t blank = std::min(line.find(' ') + 1, line.size());
      std::from_chars(line.data() + blank, line.data() + line.size(), answer.status);
      return size;
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || size > k_longest_header) return size;
    const std::string name = lower(line.substr(0, colon));
    if (std::find(k_headers.begin(), k_headers.end(), name) != k_headers.end())
      answer.headers[name] = trimmed(line.substr(colon + 1));
    return size;
  } catch (const std::bad_alloc&) {
    transfer.out_of_memory = true;
    return 0;
  }
}

std::size_t on_body(char* data, std::size_t /*one*/, std::size_t size, void* user) {
  auto& transfer = *static_cast<Transfer*>(user);
  const Request& request = *transfer.request;
  Answer& answer = *transfer.answer;
  const bool is_text = request.into.empty() || answer.status < 200 || answer.status >= 300;
  const std::size_t have = is_text ? answer.text.size() : answer.received;
  if (size > (is_text ? request.most_text : request.into.size()) - have) {
    answer.is_too_long = true;
    return 0;
  }
  if (!is_text) {
    std::copy_n(reinterpret_cast<const std::byte*>(data), size, request.into.data() + have);
    answer.received += size;
    return size;
  }
  try {
    answer.text.append(data, size);
    return size;
  } catch (const std::bad_alloc&) {
    transfer.out_of_memory = true;
    return 0;
  }
}

/// Is a request that ended so, without an answer, worth another try?
bool may_pass(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_PARTIAL_FILE:
    case CURLE_UPLOAD_FAILED:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
    case CURLE_AGAIN:
      return true;
    default:
      return false;
  }
}

const char* advice_of(CURLcode code, bool is_s3) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
      return is_s3 ? "check the network, and the endpoint (setting endpoint, or AWS_ENDPOINT_URL)"
                   : "check the network, and the host in the URL";
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
      return is_s3 ? "set AWS_CA_BUNDLE to the file of certificates that the server's is signed with"
                   : "set CURL_CA_BUNDLE to the file of certificates that the server's is signed with";
    case CURLE_OPERATION_TIMEDOUT:
      return "check that the server runs and the network is not cut, and try again";
    default:
      return "try again; if it stays so, ask those who run the server";
  }
}

double random_wait(int try_number) {
  thread_local std::minstd_rand generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, longest_wait(try_number))(generator);
}

double asked_wait(const Answer& answer) {
  double seconds = 0;
  const std::string text = answer.header("retry-after");
  unsigned whole = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), whole).ec == std::errc()) seconds = whole;
  return std::min(seconds, k_most_retry_after);
}

std::string tries_text(int tries, double seconds) {
  return tries == 1 ? fmt::format("1 try, {:.1f} s", seconds)
                    : fmt::format("{} tries in {:.1f} s", tries, seconds);
}

long milliseconds(double seconds) {
  return std::max(1L, std::lround(std::min(seconds, 1e6) * 1000));
}

void check_options(const RemoteOptions& options) {
  constexpr std::int64_t smallest_part = 5 << 20;
  if (options.most_requests < 1 || options.tries < 1 || options.part_bytes < smallest_part)
    throw Error(
        Code::invalid_argument,
        "an object store needs 1 request at once, 1 try and parts of 5 MiB at least; given are {}, {} and {} "
        "bytes",
        options.most_requests, options.tries, options.part_bytes);
  if (!(options.connect_seconds > 0) || !(options.stall_seconds > 0) || !(options.total_seconds > 0))
    throw Error(Code::invalid_argument, "limits of time of an object store are more than 0 seconds");
}

}  // namespace

/// What became of one try.
struct Requests::Try {
  CURLcode code = CURLE_OK;
  std::string text;  // libcurl's
  Answer answer;
};

std::string Answer::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? "" : found->second;
}

Requests::Requests(const RemoteOptions& options, VariableFinder variable)
    : options_(options),
      is_s3_(true),
      variable_(std::move(variable)),
      connections_(Connections::of_process()) {
  check_options(options);
  access_ = find_s3_access(variable_);
  ca_bundle_ = access_.ca_bundle;
  remember_secrets();
}

Requests::Requests(const RemoteOptions& options, std::vector<std::string> secrets)
    : options_(options),
      is_s3_(false),
      connections_(Connections::of_process()),
      secrets_(std::move(secrets)) {
  check_options(options);
  ca_bundle_ = environment_variable("CURL_CA_BUNDLE").value_or("");  // as the program curl
}

S3Access Requests::access() const {
  const std::lock_guard lock(mutex_);
  return access_;
}

void Requests::remember_secrets() {
  for (const std::string& one : {access_.secret, access_.key_id, access_.token})
    for (const std::string& secret : {one, percent_encoded(one, false)})
      if (std::find(secrets_.begin(), secrets_.end(), secret) == secrets_.end()) secrets_.push_back(secret);
}

/// Keys of a session end while a model runs, and the file that has them is written again.
bool Requests::has_new_keys() {
  const S3Access found = find_s3_access(variable_);
  const std::lock_guard lock(mutex_);
  if (found == access_) return false;
  access_ = found;
  remember_secrets();
  return true;
}

std::string Requests::without_secrets(std::string text) const {
  const std::lock_guard lock(mutex_);
  for (const std::string& secret : secrets_) {
    if (secret.size() < k_shortest_secret) continue;
    for (std::size_t at = 0; (at = text.find(secret, at)) != std::string::npos;)
      text.replace(at, secret.size(), "***");
  }
  return text;
}

Requests::Try Requests::run_once(const Request& request, const std::vector<std::string>& headers,
                                 double seconds) {
  Try result;
  Transfer transfer{&request, &result.answer};
  std::array<char, CURL_ERROR_SIZE> text{};
  HeaderList list;
  for (const std::string& header : headers)
    list.add(header);
  const S3Access access = this->access();
  const std::string signing = "aws:amz:" + access.region + ":s3";
  const std::string agent = "shoal/" + std::string(k_version);
  const std::string range =
      request.range ? fmt::format("{}-{}", request.range->first, request.range->second) : "";

  Connections::Lease lease(*connections_, options_.most_requests);
  CURL* const curl = lease.handle();
  const auto set = [&](CURLoption option, auto value) {
    const CURLcode code = curl_easy_setopt(curl, option, value);
    if (code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
    if (code != CURLE_OK)
      throw Error(Code::not_supported, "this libcurl lacks what requests need (option {}): {}",
                  static_cast<int>(option), curl_easy_strerror(code))
          .in_file(request.shown);
  };
  set(CURLOPT_URL, request.url.c_str());
  set(CURLOPT_PATH_AS_IS, 1L);  // names may have "." and ".."
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  set(CURLOPT_USERAGENT, agent.c_str());
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_NOPROGRESS, 1L);
  set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  set(CURLOPT_ERRORBUFFER, text.data());
  set(CURLOPT_BUFFERSIZE, k_buffer);
  set(CURLOPT_UPLOAD_BUFFERSIZE, k_buffer);
  set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(std::min(options_.connect_seconds, seconds)));
  set(CURLOPT_TIMEOUT_MS, milliseconds(seconds));
  if (!request.is_slow) {
    set(CURLOPT_LOW_SPEED_LIMIT, 1L);
    set(CURLOPT_LOW_SPEED_TIME, std::max(1L, std::lround(options_.stall_seconds)));
  }
  if (!ca_bundle_.empty()) set(CURLOPT_CAINFO, ca_bundle_.c_str());
  if (is_s3_ && !access.is_anonymous()) {
    set(CURLOPT_AWS_SIGV4, signing.c_str());
    set(CURLOPT_USERNAME, access.key_id.c_str());
    set(CURLOPT_PASSWORD, access.secret.c_str());
    if (!access.token.empty()) list.add("x-amz-security-token: " + access.token);
  }
  if (!is_s3_) {
    set(CURLOPT_FOLLOWLOCATION, 1L);
    set(CURLOPT_MAXREDIRS, k_most_redirections);
    set(CURLOPT_REDIR_PROTOCOLS_STR, request.url.starts_with("https") ? "https" : "http,https");
  }
  if (request.method == "HEAD") {
    set(CURLOPT_NOBODY, 1L);
  } else if (request.method == "PUT" || request.method == "POST") {
    set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    set(CURLOPT_POSTFIELDS, request.body.empty() ? "" : reinterpret_cast<const char*>(request.body.data()));
    set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  } else {
    set(CURLOPT_HTTPGET, 1L);
    set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
  if (request.range) set(CURLOPT_RANGE, range.c_str());
  set(CURLOPT_HTTPHEADER, list.list);
  set(CURLOPT_HEADERFUNCTION, on_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
  set(CURLOPT_WRITEFUNCTION, on_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));

  {
    const NoPipeSignal no_signal;
    result.code = curl_easy_perform(curl);
  }
  if (result.code != CURLE_OK) lease.spoil();
  if (transfer.out_of_memory || result.code == CURLE_OUT_OF_MEMORY) throw std::bad_alloc();
  result.text = text[0] != '\0' ? text.data() : curl_easy_strerror(result.code);
  if (result.answer.is_too_long) result.code = CURLE_OK;  // the caller's concern
  return result;
}

// The server refuses a body that has not the signed sum. Where TLS keeps it on the way, CRC32C takes a tenth
// of the time; a server that refuses that header, or bodies without a signed sum, gets the other one.
Answer Requests::run(const Request& request) {
  if (!is_s3_ || access().is_anonymous()) return run(request, {});
  const std::string signed_sum = "x-amz-content-sha256: ";
  if (request.is_whole_object && request.url.starts_with("https:") && takes_crc32c_) {
    Answer answer = run(
        request, {signed_sum + "UNSIGNED-PAYLOAD", "x-amz-checksum-crc32c: " + crc32c_base64(request.body)});
    if (answer.status != 400 && answer.status != 403 && answer.status != 501) return answer;
    Answer other = run(request, {signed_sum + sha256_digits(request.body)});
    if (other.is_success()) takes_crc32c_ = false;
    return other;
  }
  return run(request, {signed_sum + sha256_digits(request.body)});
}

Answer Requests::run(const Request& request, const std::vector<std::string>& sums) {
  std::vector<std::string> headers = request.headers;
  const bool has_body = request.method == "PUT" || request.method == "POST";
  if (has_body) headers.emplace_back("Content-Type: application/octet-stream");  // libcurl would say "form"
  headers.insert(headers.end(), sums.begin(), sums.end());
  const double begin = now();
  bool tried_new_keys = false;
  for (int tries = 1;; ++tries) {
    Try last = run_once(request, headers, begin + options_.total_seconds - now());
    Answer& answer = last.answer;
    answer.tries = tries;
    answer.seconds = now() - begin;
    bool again = may_pass(last.code);
    if (last.code == CURLE_OK) {
      if (is_s3_ && (!answer.is_success() || request.is_slow)) answer.error = parse_server_error(answer.text);
      if (answer.is_success() && !answer.error.code.empty())
        answer.status = status_of_code(answer.error.code);
      const std::string& code = answer.error.code;
      // What HEAD is answered has no body that would say why: a time that was up, or keys that are too old.
      const bool says_nothing = is_s3_ && request.method == "HEAD" && answer.status == 400;
      again = !answer.is_too_long && (may_pass(answer.status, code) || says_nothing ||
                                      (answer.status == 409 && request.retry_conflict));
      if (!tried_new_keys && (says_nothing || code == "ExpiredToken" || code == "InvalidToken" ||
                              code == "InvalidAccessKeyId")) {
        tried_new_keys = true;
        if (has_new_keys()) continue;
      }
    }
    const double left = begin + options_.total_seconds - now();
    if (!again || tries >= std::min(options_.tries, request.most_tries) || left <= 0) {
      if (last.code != CURLE_OK) throw lost(request, last, tries, now() - begin);
      return std::move(answer);
    }
    const double wait = std::max(random_wait(tries + 1), last.code == CURLE_OK ? asked_wait(answer) : 0.0);
    if (wait >= left) {
      if (last.code != CURLE_OK) throw lost(request, last, tries, now() - begin);
      return std::move(answer);
    }
    std::this_thread::sleep_for(std::chrono::duration<double>(wait));
  }
}

Error Requests::lost(const Request& request, const Try& last, int tries, double seconds) const {
  return Error(Code::io, "cannot {}: {} ({}); {}", request.doing,
               without_secrets(last.text).substr(0, k_longest_message), tries_text(tries, seconds),
               advice_of(last.code, is_s3_))
      .in_file(request.shown);
}

std::string Requests::advice(const Answer& answer) const {
  const std::string& code = answer.error.code;
  std::string region = answer.error.region;
  if (region.empty()) region = answer.header("x-amz-bucket-region");
  if (is_s3_ && !region.empty() && region != access().region &&
      (answer.status == 301 || answer.status == 307 || answer.status == 400 || answer.status == 403))
    return fmt::format("the bucket is in region {}: set AWS_REGION", region.substr(0, k_longest_message));
  if (answer.status >= 300 && answer.status < 400) return "check the URL, the region and the endpoint";
  if (answer.status == 401 || answer.status == 403 || code == "ExpiredToken" || code == "InvalidToken") {
    if (!is_s3_)
      return "check that everybody may read it, and the user and password in the URL if it has some";
    if (access().is_anonymous())
      return "no credentials were found: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE";
    if (code == "RequestTimeTooSkewed") return "set the clock of this machine";
    if (code == "SignatureDoesNotMatch") return "check the secret key, and the clock of this machine";
    if (code == "ExpiredToken" || code == "InvalidToken") return "get new credentials for the session";
    if (code == "InvalidAccessKeyId") return "check AWS_ACCESS_KEY_ID, AWS_PROFILE and the endpoint";
    return "check that these credentials may do so (for an object that is not there, servers say the same to "
           "those who may not list the bucket)";
  }
  if (code == "NoSuchBucket") return "make the bucket, or check its name and the endpoint";
  if (answer.status == 404) return "check its name";
  if (code == "EntityTooLarge") return "choose a smaller shard_bytes";
  if (answer.status == 507) return "make space, or ask for more";
  if (answer.status == 429 || code == "SlowDown") return "try again later, or allow fewer requests at once";
  if (answer.status >= 500) return "try again later; if it stays so, ask those who run the server";
  return is_s3_ ? "check that the endpoint is an object store" : "check the URL";
}

Error Requests::failure(const Request& request, const Answer& answer) const {
  const std::string& said = answer.error.code;
  Code code = Code::io;
  if (answer.status == 404 || answer.status == 410) code = Code::not_found;
  if (answer.status == 401 || answer.status == 403 || said == "ExpiredToken" || said == "InvalidToken")
    code = Code::permission;
  if (answer.status == 507 || said.find("Quota") != std::string::npos || said == "XMinioStorageFull" ||
      said == "EntityTooLarge")
    code = Code::no_space;
  if (answer.is_too_long && answer.status < 300)
    return Error(Code::io,
                 "cannot {}: the server sends more bytes than were asked for; check that the URL is right",
                 request.doing)
        .in_file(request.shown);
  std::string text = said;
  if (!said.empty() && !answer.error.message.empty()) text += ": ";
  text = without_secrets(text + answer.error.message).substr(0, k_longest_message);
  return Error(code, "cannot {}: the server answers {}{} ({}); {}", request.doing, answer.status,
               text.empty() ? "" : " (" + text + ")", tries_text(answer.tries, answer.seconds),
               advice(answer))
      .in_file(request.shown);
}

}  // namespace shoal
#endif
