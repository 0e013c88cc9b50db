// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

namespace shoal {

/// How servers of objects are asked.
struct RemoteOptions {
  /// Of object stores other than Amazon's: "https://objects.site.org"; empty: AWS_ENDPOINT_URL_S3,
  /// AWS_ENDPOINT_URL or the configuration of the AWS tools, else Amazon's.
  std::string endpoint;
  /// Requests under way at once in this process.
  int most_requests = 16;
  /// Larger objects are stored, and larger runs of bytes read, in parts of so many bytes. Servers take no
  /// parts below 5 MiB.
  std::int64_t part_bytes = std::int64_t{64} << 20;
  /// A request is tried so often, but no longer than total_seconds with all its tries.
  int tries = 8;
  double connect_seconds = 10;
  double stall_seconds = 30;  ///< a try in which no byte comes or goes for so long has failed
  double total_seconds = 600;
};

}  // namespace shoal
