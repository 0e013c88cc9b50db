// SPDX-License-Identifier: BSD-3-Clause
#include "driver/served/serving.hpp"

#include <map>
#include <memory>

#include "driver/counters.hpp"
#include "driver/registry.hpp"
#include "driver/served/calls.hpp"

namespace shoal {

namespace {

/// A dataset as a server has it.
class Served {
 public:
  /// in: behind the dataset's number.
  Served(const Servers& servers, const OptionsOf& options_of, ByteReader& in)
      : comm_(servers.merged().handle()) {
    const auto path = in.get<std::string>();
    const auto mode = in.get<OpenMode>();
    const auto format = in.get<Format>();
    DriverOptions options = options_of(in.get<Bytes>());
    options.servers.count = servers.count();
    options.servers.node_color = servers.node_color();
    driver_ = make_claimed_driver(make_native_driver, false, comm_, path, mode, format, options);
  }

  void run(Call call, ByteReader& in) {
    const Comm::Calling calling(comm_, "its part of a call", {});  // at work, and not missing
    switch (call) {
      case Call::define:
        return define(in);
      case Call::prepare:
        return prepare(in);
      case Call::write:
        return driver_->write(transfer(in));
      case Call::read:
        return driver_->read(transfer(in));
      case Call::put:
      case Call::get:
        return values(call, in);
      case Call::refuse:
        return refuse(in);
      case Call::match_calls:
        return match_calls(in);
      case Call::sync:
        return driver_->sync(in.get<bool>());
      case Call::submit_pending:
        return driver_->submit_pending();
      case Call::close:
        return driver_->close(in.get<bool>());
      case Call::counters:
        return report_counters();
      case Call::make:
      case Call::drop:
      case Call::stop:
        return;
    }
  }

 private:
  void define(ByteReader& in) {
    const auto bytes = in.get<Bytes>();
    ByteReader schema(bytes);
    driver_->define(unpack_schema(schema), {});
  }

  void prepare(ByteReader& in) {
    const auto number = in.get<std::uint64_t>();
    const auto bytes = in.get<Bytes>();
    auto& known = decompositions_[number];
    if (known == nullptr) {
      ByteReader shape(bytes);
      known = Decomposition::without_cells(shape, comm_.size(), comm_.rank());
    }
    driver_->prepare(known);
  }

  Transfer transfer(ByteReader& in) {
    Transfer out;
    in.get(out.variable);
    in.get(out.region);
    out.decomposition = decompositions_[in.get<std::uint64_t>()];
    in.get(out.keeps_unowned);
    out.mine = no_cells(out.region.rank());
    out.array = ArrayView::contiguous(nullptr, type_of(out.variable), out.mine.count);
    return out;
  }

  Type type_of(int variable) const {
    return driver_->schema().variables.at(static_cast<std::size_t>(variable)).type;
  }

  void values(Call call, ByteReader& in) {
    const int variable = in.get<int>();
    const auto box = in.get<Box>();
    std::vector<std::string> strings;
    if (call == Call::put) return driver_->put(variable, box, nullptr, strings);
    Bytes buffer;
    const Type type = type_of(variable);
    if (type != Type::string) buffer.resize(bytes_of(box, size_of(type)));
    driver_->get(variable, box, buffer.data(), strings);
  }

  void refuse(ByteReader& in) {
    RefusedCall call;
    in.get(call.kind);
    in.get(call.why.code);
    in.get(call.why.message);
    in.get(call.variable);
    driver_->refuse(call);
  }

  void match_calls(ByteReader& in) {
    const auto does = in.get<std::string>();
    driver_->match_calls(comm_, {does.c_str(), in.get<std::uint64_t>()});
  }

  void report_counters() {
    ByteWriter out;
    pack(out, driver_->counters());
    comm_.gather(out.take(), 0);
  }

  Comm comm_;
  std::unique_ptr<Driver> driver_;
  std::map<std::uint64_t, std::shared_ptr<const Decomposition>> decompositions_;
};

}  // namespace

void serve(const Servers& servers, const OptionsOf& options_of) {
  std::map<std::uint64_t, std::unique_ptr<Served>> datasets;
  while (true) {
    const Bytes message = servers.hear();
    ByteReader in(message);
    const auto call = in.get<Call>();
    if (call == Call::stop) return;
    const auto id = in.get<std::uint64_t>();
    // What fails here the driver keeps until ranks agree, or fails on the computing ranks too.
    caught([&] {
      if (call == Call::make) {
        datasets[id] = std::make_unique<Served>(servers, options_of, in);
      } else if (call == Call::drop) {
        datasets.erase(id);
      } else if (const auto found = datasets.find(id); found != datasets.end() && found->second) {
        found->second->run(call, in);
      }
    });
  }
}

void stop_servers(Servers& servers) {
  ByteWriter out;
  out.put(Call::stop);
  servers.send_call(out.take());
  servers.finish_reporting();
  servers.stop();
}

}  // namespace shoal
