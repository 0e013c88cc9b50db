// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "base/bytes.hpp"
#include "driver/driver.hpp"

namespace shoal {

// Counters by the names that reports give them.

struct TimeField {
  const char* name;
  Seconds Counters::*field;
};
inline constexpr std::array<TimeField, 13> k_times{{{"open", &Counters::open},
                                                    {"define", &Counters::define},
                                                    {"pack", &Counters::pack},
                                                    {"encode", &Counters::encode},
                                                    {"store", &Counters::store},
                                                    {"read", &Counters::read},
                                                    {"decode", &Counters::decode},
                                                    {"unpack", &Counters::unpack},
                                                    {"commit", &Counters::commit},
                                                    {"close", &Counters::close},
                                                    {"blocked", &Counters::blocked},
                                                    {"write_calls", &Counters::write_calls},
                                                    {"read_calls", &Counters::read_calls}}};

struct CountField {
  const char* name;
  std::int64_t Counters::*field;
};
inline constexpr std::array<CountField, 12> k_counts{{{"bytes_written", &Counters::bytes_written},
                                                      {"bytes_past_cache", &Counters::bytes_past_cache},
                                                      {"bytes_encoded", &Counters::bytes_encoded},
                                                      {"bytes_encoded_again", &Counters::bytes_encoded_again},
                                                      {"bytes_read", &Counters::bytes_read},
                                                      {"writes", &Counters::writes},
                                                      {"reads", &Counters::reads},
                                                      {"fields_written", &Counters::fields_written},
                                                      {"fields_read", &Counters::fields_read},
                                                      {"messages", &Counters::messages},
                                                      {"message_bytes", &Counters::message_bytes},
                                                      {"bytes_moved", &Counters::bytes_moved}}};

/// The counters of two drivers of the same file, one after the other.
Counters added(const Counters& earlier, Counters now);

/// Counters in a message.
void pack(ByteWriter& out, const Counters& counters);
Counters unpack_counters(ByteReader& in);

}  // namespace shoal
