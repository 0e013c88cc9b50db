// SPDX-License-Identifier: BSD-3-Clause
#include "driver/served/servers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <set>
#include <string>
#include <thread>

#include "base/clock.hpp"
#include "comm/tags.hpp"

namespace shoal {

namespace {

constexpr int k_nobody = std::numeric_limits<int>::max();

std::string text(int n) {
  return std::to_string(n);
}

void check_threads() {
  int level = MPI_THREAD_SINGLE;
  check_mpi(MPI_Query_thread(&level), "MPI_Query_thread");
  if (level < MPI_THREAD_FUNNELED)
    throw Error(
        Code::state,
        "ranks that serve store in threads, and this program started MPI without (MPI_THREAD_SINGLE); {}",
        way_to_threads());
}

// The component of each rank of a node once its servers are dealt out; k_nobody: there is none.
std::vector<int> deal(int rank, const std::vector<std::int64_t>& of_node) {
  std::set<int> components;
  std::size_t servers = 0;
  for (const auto component : of_node)
    if (component == Role::k_serves)
      ++servers;
    else
      components.insert(static_cast<int>(component));
  if (components.size() > servers)
    throw Error(
        Code::invalid_argument,
        "ranks that serve on the node of rank {}: {}, components that compute there: {}; each component "
        "needs one of its own on each of its nodes, so let more ranks serve, or put components on "
        "other nodes",
        text(rank), text(static_cast<int>(servers)), text(static_cast<int>(components.size())));
  const std::vector<int> served(components.begin(), components.end());
  std::vector<int> out;
  std::size_t server = 0;
  for (const auto component : of_node)
    out.push_back(component != Role::k_serves ? static_cast<int>(component)
                  : served.empty()            ? k_nobody
                                              : served[server++ * served.size() / servers]);
  return out;
}

}  // namespace

Role last_ranks_serve(const Comm& all, int of_node, int ranks_per_node, const Status& problem) {
  const Nodes nodes(all, ranks_per_node);
  const Comm& node = nodes.node();
  const auto numbers = all.max({std::int64_t{of_node}, -std::int64_t{of_node}});
  Status status = problem;
  status.merge(caught([&] {
    if (of_node < 1)
      throw Error(Code::invalid_argument, text(of_node) + " ranks of each node cannot serve; give 0 or more");
    if (of_node >= node.size())
      throw Error(Code::invalid_argument,
                  "{} ranks of each node are to serve, but the node of rank {} has {}, and one at least must "
                  "compute; let fewer serve, or start more ranks on a node",
                  text(of_node), text(all.rank()), text(node.size()));
  }));
  if (numbers[0] != -numbers[1])
    status = {Code::out_of_step,
              fmt::format("this rank lets {} ranks of each node serve, and others another number; give the "
                          "same on all ranks",
                          of_node)};
  all.agree_or_throw(status);
  return {node.rank() >= node.size() - of_node ? Role::k_serves : 0};
}

Servers::Servers(const Comm& all, const Role& role, int ranks_per_node, const Status& problem)
    : ranks_per_node_(ranks_per_node), serves_(role.serves()) {
  const Nodes nodes(all, ranks_per_node);
  const Comm& node = nodes.node();
  const auto of_node = node.all_gather(std::int64_t{role.component});
  int component = role.component;
  Status status = problem;
  status.merge(caught([&] {
    if (role.component < Role::k_serves || role.component == k_nobody)
      throw Error(Code::invalid_argument, "{} is no component; they count from 0, and {} serves",
                  text(role.component), text(Role::k_serves));
    component = deal(all.rank(), of_node)[static_cast<std::size_t>(node.rank())];
    if (serves_) check_threads();
  }));
  all.agree_or_throw(status);
  const Comm shared = all.split_shared();
  color_ = ranks_per_node > 0 ? shared.rank() / ranks_per_node : 0;
  merged_ = all.split(component, serves_ ? all.size() + all.rank() : all.rank());
  computing_ = merged_->split(serves_ ? 1 : 0);
  control_.emplace(merged_->handle());
  control_->handle();  // all are here to make it
  computing_ranks_ = static_cast<int>(merged_->sum(serves_ ? 0 : 1));
  const Comm mine = node.split(component, merged_->rank());
  const auto of_component = mine.all_gather(std::int64_t{merged_->rank()});
  node_leader_ = static_cast<int>(of_component.front());
  if (mine.rank() == 0 && !serves_)
    for (const auto rank : of_component)
      if (rank >= computing_ranks_) reported_.push_back(static_cast<int>(rank));
}

void Servers::send_call(Bytes message) {
  const auto gone = [](auto& sent) {
    int done = 0;
    check_mpi(MPI_Test(&sent.second, &done, MPI_STATUS_IGNORE), "MPI_Test");
    return done != 0;
  };
  while (!sent_.empty() && gone(sent_.front()))
    sent_.pop_front();
  if (reported_.empty()) return;
  const auto kept = std::make_shared<const Bytes>(std::move(message));
  for (const int rank : reported_) {
    auto& sent = sent_.emplace_back(kept, MPI_REQUEST_NULL);
    check_mpi(MPI_Isend(kept->data(), static_cast<int>(kept->size()), MPI_BYTE, rank, tags::server_request,
                        control_->handle(), &sent.second),
              "MPI_Isend");
  }
}

void Servers::finish_reporting() {
  for (auto& sent : sent_)
    check_mpi(MPI_Wait(&sent.second, MPI_STATUS_IGNORE), "MPI_Wait");
  sent_.clear();
}

// A server waits for hours on cores that others compute on: it looks seldom where nothing comes.
Bytes Servers::hear() const {
  constexpr Seconds k_busy_poll_time = 50e-6;
  constexpr Seconds k_longest_poll_interval = 1e-3;
  const Seconds start = now();
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  while (true) {
    int there = 0;
    check_mpi(MPI_Improbe(node_leader_, tags::server_request, control_->handle(), &there, &message, &status),
              "MPI_Improbe");
    if (there != 0) break;
    const Seconds waited = now() - start;
    if (waited > k_busy_poll_time)
      std::this_thread::sleep_for(
          std::chrono::duration<double>(std::clamp(waited / 8, k_busy_poll_time, k_longest_poll_interval)));
  }
  int bytes = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &bytes), "MPI_Get_count");
  Bytes out(static_cast<std::size_t>(bytes));
  check_mpi(MPI_Mrecv(out.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE), "MPI_Mrecv");
  return out;
}

std::shared_ptr<Servers>& current_servers() {
  static std::shared_ptr<Servers> servers;
  return servers;
}

}  // namespace shoal
