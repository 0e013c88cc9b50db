// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace shoal {

/// Who asks an object store, and where it is.
struct S3Access {
  std::string key_id;  ///< empty: requests are not signed, which public buckets allow
  std::string secret;
  std::string token;  ///< of a session; empty: none
  std::string region;
  std::string endpoint;   ///< empty: Amazon's
  std::string ca_bundle;  ///< a file of certificates; empty: the system's

  bool is_anonymous() const { return key_id.empty(); }
  bool operator==(const S3Access&) const = default;
};

/// The value of an environment variable; nothing where it is not set, or empty.
using VariableFinder = std::function<std::optional<std::string>(const char* name)>;

std::optional<std::string> environment_variable(const char* name);

/// As the AWS tools find it: the environment first, then the profile AWS_PROFILE ("default") in the files
/// AWS_SHARED_CREDENTIALS_FILE (~/.aws/credentials) and AWS_CONFIG_FILE (~/.aws/config). Error(setting):
/// there is no such profile, it has no keys but a way to get some that Shoal has not, or half of a pair is
/// missing. No message has a value of these. Local.
S3Access find_s3_access(const VariableFinder& variable = environment_variable);

}  // namespace shoal
