// SPDX-License-Identifier: BSD-3-Clause
#include <stdexcept>

#include "model/model.hpp"

namespace shoal::lab {
namespace {

void need(bool holds, const std::string& name, const std::string& allowed) {
  if (!holds) throw std::invalid_argument(name + ": " + allowed + " is needed");
}

void check_faults(const FaultParameters& faults, int servers) {
  for (const StallFault& stall : faults.stalls) {
    const int first = stall.at_request > 0 ? -1 : 0;
    need(stall.server >= first && stall.server < servers, "stalls.server",
         "a server from 0 to " + std::to_string(servers - 1) + ", or -1 with at_request,");
    need(stall.seconds > 0, "stalls.seconds", "a time above 0");
    need(stall.at_request >= 0 && stall.at >= 0, "stalls.at_request, at",
         "a number from 1, or a time from 0");
  }
  for (const ErrorFault& error : faults.errors) {
    need(error.at_request >= 1, "errors.at_request", "a number from 1");
    need(error.times >= 0, "errors.times", "0, for all, or a number from 1");
    need(error.error > 0, "errors.error", "an errno");
  }
  need(faults.space >= 0, "faults.space", "a number of bytes");
}

}  // namespace

void check(const Parameters& parameters) {
  const ServerParameters& servers = parameters.servers;
  need(servers.number >= 1, "servers.number", "1 or more");
  need(servers.write_bandwidth > 0, "servers.write_bandwidth", "a bandwidth above 0");
  need(servers.read_bandwidth > 0, "servers.read_bandwidth", "a bandwidth above 0");
  need(servers.load >= 0 && servers.load < 1, "servers.load", "a part from 0 to below 1");
  for (const SlowServer& slow : servers.slow) {
    need(slow.server >= 0 && slow.server < servers.number, "servers.slow.server",
         "a server from 0 to " + std::to_string(servers.number - 1));
    need(slow.factor > 0, "servers.slow.factor", "a factor above 0");
  }
  need(parameters.network.client_bandwidth > 0, "network.client_bandwidth", "a bandwidth above 0");
  need(parameters.network.total_bandwidth >= 0, "network.total_bandwidth", "a bandwidth, or 0 for no limit");
  const CacheParameters& cache = parameters.cache;
  need(cache.request_bytes > 0, "cache.request_bytes", "a number of bytes above 0");
  need(cache.bytes >= 0, "cache.bytes", "a number of bytes, or 0 for no cache");
  need(cache.bytes == 0 || (cache.dirty_bytes >= cache.request_bytes && cache.dirty_bytes <= cache.bytes),
       "cache.dirty_bytes", "a number from cache.request_bytes to cache.bytes");
  need(cache.page_bytes >= 1, "cache.page_bytes", "1, or the bytes of a page");
  need(cache.read_ahead_bytes >= 0, "cache.read_ahead_bytes", "a number of bytes, or 0");
  const StripingParameters& striping = parameters.striping;
  need(striping.bytes > 0 && striping.bytes % cache.page_bytes == 0, "striping.bytes",
       "a multiple of cache.page_bytes");
  need(striping.count == -1 || striping.count >= 1, "striping.count",
       "a number from 1, or -1 for all servers");
  need(parameters.metadata.servers >= 1, "metadata.servers", "1 or more");
  const MetadataParameters& metadata = parameters.metadata;
  for (const Seconds seconds : {servers.write_latency,
                                servers.read_latency,
                                servers.seek,
                                servers.commit,
                                parameters.network.latency,
                                parameters.locks.enqueue,
                                parameters.locks.revoke,
                                cache.writeback,
                                cache.bandwidth,
                                cache.attributes,
                                metadata.latency,
                                metadata.open,
                                metadata.create,
                                metadata.create_stripe,
                                metadata.stat,
                                metadata.stat_stripe,
                                metadata.rename,
                                metadata.remove,
                                metadata.mkdir,
                                metadata.readdir,
                                metadata.truncate,
                                metadata.fsync,
                                metadata.close,
                                metadata.lock})
    need(seconds >= 0, "times and bandwidths", "0 or more");
  check_faults(parameters.faults, servers.number);
}

}  // namespace shoal::lab
