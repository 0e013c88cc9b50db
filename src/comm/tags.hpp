// SPDX-License-Identifier: BSD-3-Clause
#pragma once

/// Tags of the messages between two ranks: each kind has its own, as several share a communicator.
namespace shoal::tags {

constexpr int exchange = 1;
constexpr int exchange_length = 2;
constexpr int all_arrive = 7;
constexpr int departure = 8;
constexpr int arrival = 9;
constexpr int abort_receipt = 10;
constexpr int abort_report = 11;
constexpr int rearranged = 21;
constexpr int rearranger_form = 22;
constexpr int rearranger_list = 23;
constexpr int rearranged_by_node = 24;
constexpr int gathered = 31;
constexpr int server_request = 32;
constexpr int tuned_beside = 33;

}  // namespace shoal::tags
