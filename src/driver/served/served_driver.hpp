// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "driver/driver.hpp"
#include "driver/plans/decomposition_plans.hpp"
#include "driver/served/calls.hpp"
#include "driver/served/servers.hpp"

namespace shoal {

/// The native driver on computing ranks and servers together: node leaders ask servers to make each call that
/// computing ranks make, without cells.
class ServedDriver final : public Driver {
 public:
  /// Collective over the computing ranks.
  ServedDriver(std::shared_ptr<Servers> servers, const std::string& path, OpenMode mode, Format format,
               const DriverOptions& options);
  ~ServedDriver() override;
  ServedDriver(const ServedDriver&) = delete;
  ServedDriver& operator=(const ServedDriver&) = delete;

  const Schema& schema() const override { return inner_->schema(); }
  const Placement& placement(int variable) const override { return inner_->placement(variable); }
  const Counters& counters() const override { return inner_->counters(); }
  std::vector<Counters> counters_of_servers() override;

  void define(const Schema& wanted, const Cuts& cuts) override;
  void prepare(const std::shared_ptr<const Decomposition>& decomposition) override;
  void write(const Transfer& transfer) override;
  void read(const Transfer& transfer) override;
  void put(int variable, const Box& box, const std::byte* values,
           const std::vector<std::string>& strings) override;
  void get(int variable, const Box& box, std::byte* values, std::vector<std::string>& strings) override;
  void refuse(const RefusedCall& call) override;
  // Of this rank alone: servers have no part in it.
  bool fetches() const override { return inner_->fetches(); }
  bool stores() const override { return inner_->stores(); }
  void fetch(int variable, const Box& box, std::byte* values) override {
    inner_->fetch(variable, box, values);
  }
  void store(int variable, const Box& box, const std::byte* cells) override {
    inner_->store(variable, box, cells);
  }
  CallMatch match_calls(const Comm& comm, const CallSignature& signature) override;
  bool diverged() const override { return comm_.diverged(); }
  void sync(bool durable) override;
  void submit_pending() override;
  void close(bool durable) override;

 private:
  template <class... Values>
  void send_call(Call call, const Values&... values);
  Transfer received_transfer(Call call, const Transfer& transfer);

  struct Extended {
    std::shared_ptr<const Decomposition> of_all;
    std::uint64_t number = 0;  ///< from 1 on
  };
  std::shared_ptr<Servers> servers_;
  std::uint64_t id_;
  Comm comm_;  ///< of computing ranks and servers
  std::unique_ptr<Driver> inner_;
  DecompositionPlans<Extended> extended_;  ///< decompositions of computing ranks
};

}  // namespace shoal
