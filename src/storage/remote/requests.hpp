// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "storage/remote/answers.hpp"
#include "storage/remote/connections.hpp"
#include "storage/remote/credentials.hpp"
#include "storage/remote/remote_options.hpp"

namespace shoal {

struct Request {
  std::string method;
  std::string url;                   ///< encoded; may have secrets
  std::string shown;                 ///< the URL in messages
  std::string doing;                 ///< "read": what messages say that cannot be done
  std::vector<std::string> headers;  ///< "name: value"; none with an empty value
  std::span<const std::byte> body;   ///< of PUT and POST
  std::optional<std::pair<std::uint64_t, std::uint64_t>> range;  ///< first and last byte
  std::span<std::byte> into;  ///< takes the body of an answer of success; empty: it becomes text
  std::size_t most_text = std::size_t{16} << 20;
  bool is_whole_object = false;  ///< the body, which may go with CRC32C in place of SHA-256
  /// The server works before it answers, and may answer an error under the status of success.
  bool is_slow = false;
  /// 409 says that somebody else does the same now.
  bool retry_conflict = false;
  int most_tries = 1000;  ///< fewer than the options have
};

struct Answer {
  long status = 0;
  std::map<std::string, std::string> headers;  ///< those that count here, in lower case
  std::size_t received = 0;                    ///< in Request::into
  std::string text;
  bool is_too_long = false;  ///< there came more than into or most_text has, and the rest was not taken
  ServerError error;
  int tries = 0;
  double seconds = 0;

  bool is_success() const { return status >= 200 && status < 300 && !is_too_long; }
  std::string header(const std::string& name) const;
};

/// Sends requests to a server: signed, tried again as long as that can help, so many at once as allowed, and
/// all within limits of time. Several threads may use it. Messages have no part of a key or a secret URL.
class Requests {
 public:
  /// To an object store.
  Requests(const RemoteOptions& options, VariableFinder variable);
  /// To a server of files; messages never have these texts.
  Requests(const RemoteOptions& options, std::vector<std::string> secrets);

  /// The last answer of the server, be it an error. Error(io): none came, or it was cut, in all tries.
  Answer run(const Request& request);
  /// The Error that an answer is: not_found, permission, no_space, io, with the request's URL as file.
  Error failure(const Request& request, const Answer& answer) const;
  /// A text without any of the secrets.
  std::string without_secrets(std::string text) const;

  const RemoteOptions& options() const { return options_; }
  S3Access access() const;
  bool is_s3() const { return is_s3_; }

 private:
  struct Try;
  Answer run(const Request& request, const std::vector<std::string>& sums);
  Try run_once(const Request& request, const std::vector<std::string>& headers, double seconds);
  bool has_new_keys();
  void remember_secrets();
  Error lost(const Request& request, const Try& last, int tries, double seconds) const;
  std::string advice(const Answer& answer) const;

  RemoteOptions options_;
  bool is_s3_;
  VariableFinder variable_;
  std::shared_ptr<Connections> connections_;
  mutable std::mutex mutex_;  // of the two below
  S3Access access_;
  std::vector<std::string> secrets_;
  std::string ca_bundle_;
  std::atomic<bool> takes_crc32c_ = true;  ///< the server has not refused it
};

}  // namespace shoal
