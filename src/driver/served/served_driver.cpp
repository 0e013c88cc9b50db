// SPDX-License-Identifier: BSD-3-Clause
#include "driver/served/served_driver.hpp"

#include <fmt/core.h>

#include "driver/counters.hpp"
#include "driver/registry.hpp"
#include "rearrange/io_ranks.hpp"

namespace shoal {

namespace {

template <class... Values>
Bytes message_of(Call call, std::uint64_t id, const Values&... values) {
  ByteWriter out;
  out.put(call);
  out.put(id);
  (out.put(values), ...);
  return out.take();
}

// Servers hear of a dataset before the communicator is made that they have a part in.
Comm received_comm(Servers& servers, std::uint64_t id, const std::string& path, OpenMode mode, Format format,
                   const Bytes& settings) {
  servers.send_call(message_of(Call::make, id, path, mode, format, settings));
  return Comm(servers.merged().handle());
}

DriverOptions with_servers(const Servers& servers, DriverOptions options) {
  options.servers.count = servers.count();
  options.servers.node_color = servers.node_color();
  return options;
}

bool same_ranks(const Comm& a, const Comm& b) {
  int result = MPI_UNEQUAL;
  check_mpi(MPI_Comm_compare(a.ranks(), b.ranks(), &result), "MPI_Comm_compare");
  return result == MPI_IDENT || result == MPI_CONGRUENT;
}

// Why servers cannot take part in the dataset, and what to do; empty: they can.
std::string obstacle(const Servers& servers, const Comm& comm, const DriverOptions& options) {
  const auto text = [](int n) { return std::to_string(n); };
  if (!same_ranks(comm, servers.computing()))
    return fmt::format(
        "it is for datasets of all ranks that compute, in their order ({} ranks), and this communicator ({}) "
        "is another: use the one that shoal_serve returned",
        text(servers.computing().size()), text(comm.size()));
  if (options.layout.kind != LayoutOptions::Kind::one)
    return "it is for datasets in one file, and the setting layout asks for several; leave layout and "
           "io_layout out";
  if (sets_io_ranks(options.rearranging) || options.rearranging.rearranger == RearrangerKind::subset)
    return "the ranks that serve are the I/O ranks; leave io_ranks, io_ranks_per_node, io_stride, io_base "
           "and "
           "rearranger=subset out";
  if (options.rearranging.ranks_per_node != servers.ranks_per_node())
    return fmt::format(
        "setting ranks_per_node is {}, and was {} when shoal_serve chose the ranks that serve; set it in the "
        "environment, for both alike",
        text(options.rearranging.ranks_per_node), text(servers.ranks_per_node()));
  return "";
}

}  // namespace

ServedDriver::ServedDriver(std::shared_ptr<Servers> servers, const std::string& path, OpenMode mode,
                           Format format, const DriverOptions& options)
    : servers_(std::move(servers)),
      id_(servers_->next_id()),
      comm_(received_comm(*servers_, id_, path, mode, format, options.servers.settings)),
      inner_(make_claimed_driver(make_native_driver, false, comm_, path, mode, format,
                                 with_servers(*servers_, options))) {
  servers_->count_dataset(1);
}

ServedDriver::~ServedDriver() {
  servers_->count_dataset(-1);
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (finalized == 0) caught([&] { send_call(Call::drop); });
}

template <class... Values>
void ServedDriver::send_call(Call call, const Values&... values) {
  if (!servers_->stopped()) servers_->send_call(message_of(call, id_, values...));
}

void ServedDriver::define(const Schema& wanted, const Cuts& cuts) {
  ByteWriter out;
  pack(out, wanted);
  send_call(Call::define, out.take());
  inner_->define(wanted, cuts);
}

void ServedDriver::prepare(const std::shared_ptr<const Decomposition>& decomposition) {
  const Extended* extended = extended_.find(decomposition.get());
  if (extended == nullptr)
    extended =
        &extended_.add(decomposition, {decomposition->with_more_ranks(comm_.size()), extended_.size() + 1});
  ByteWriter out;
  decomposition->pack_for_more_ranks(out);
  send_call(Call::prepare, extended->number, out.take());
  inner_->prepare(extended->of_all);
}

// A server's call fails where its node leader's does, which is enough for all to learn of it.
Transfer ServedDriver::received_transfer(Call call, const Transfer& transfer) {
  Transfer out = transfer;
  std::uint64_t number = 0;
  if (const Extended* known = extended_.find(transfer.decomposition.get())) {
    out.decomposition = known->of_all;
    number = known->number;
  }
  send_call(call, transfer.variable, transfer.region, number, transfer.keeps_unowned);
  return out;
}

void ServedDriver::write(const Transfer& transfer) {
  inner_->write(received_transfer(Call::write, transfer));
}

void ServedDriver::read(const Transfer& transfer) {
  inner_->read(received_transfer(Call::read, transfer));
}

void ServedDriver::put(int variable, const Box& box, const std::byte* values,
                       const std::vector<std::string>& strings) {
  send_call(Call::put, variable, box);
  inner_->put(variable, box, values, strings);
}

void ServedDriver::get(int variable, const Box& box, std::byte* values, std::vector<std::string>& strings) {
  send_call(Call::get, variable, box);
  inner_->get(variable, box, values, strings);
}

void ServedDriver::refuse(const RefusedCall& call) {
  send_call(Call::refuse, call.kind, call.why.code, call.why.message, call.variable);
  inner_->refuse(call);
}

// All calls of this dataset are matched in one communicator.
CallMatch ServedDriver::match_calls(const Comm& /*comm*/, const CallSignature& signature) {
  send_call(Call::match_calls, std::string(signature.does), signature.details);
  return inner_->match_calls(comm_, signature);
}

void ServedDriver::sync(bool durable) {
  send_call(Call::sync, durable);
  inner_->sync(durable);
}

void ServedDriver::submit_pending() {
  send_call(Call::submit_pending);
  inner_->submit_pending();
}

void ServedDriver::close(bool durable) {
  send_call(Call::close, durable);
  inner_->close(durable);
}

std::vector<Counters> ServedDriver::counters_of_servers() {
  send_call(Call::counters);
  const auto all = comm_.gather(Bytes(), 0);
  std::vector<Counters> out;
  for (const auto& bytes : all) {
    ByteReader in(bytes);
    if (!bytes.empty()) out.push_back(unpack_counters(in));
  }
  return out;
}

std::unique_ptr<Driver> make_served_driver(const Comm& comm, const std::string& path, OpenMode mode,
                                           Format format, const DriverOptions& options) {
  const auto& servers = current_servers();
  const std::string why =
      servers == nullptr
          ? "there are no ranks that serve: call shoal_serve on all ranks after MPI_Init, and go on with the "
            "communicator of computing ranks that it returns"
          : obstacle(*servers, comm, options);
  if (why.empty()) return std::make_unique<ServedDriver>(servers, path, mode, format, options);
  if (options.background.required)
    throw Error(Code::setting, "background=ranks cannot be: {}, or set background=thread", why);
  // Other sources speak of all datasets, whatever they are.
  DriverOptions within_calls = options;
  within_calls.background.stored_by = StoredBy::calls;
  within_calls.warnings.push_back(
      "ranks store within their calls, as background=ranks is not for this "
      "dataset: " +
      why);
  return make_driver("native", comm, path, mode, format, within_calls);
}

}  // namespace shoal
