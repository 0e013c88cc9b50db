// SPDX-License-Identifier: BSD-3-Clause
// Zarr by other libraries, in a process of Python beside a rank. zarr-python: every rank writes its tile of a
// record as one shard of its own, and reads it. xarray: fields gathered on rank 0, which appends a record to
// the store as Dataset.to_zarr does.
#include <mpi.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "files.hpp"
#include "methods/gathered.hpp"
#include "methods/packed_method.hpp"
#include "methods/python_worker.hpp"
#include "node.hpp"

namespace shoal::bench {

namespace {

constexpr int k_root = 0;

std::string compression_of(const Run& run) {
  const auto own = run.settings.find("compression");
  return own == run.settings.end() ? "" : own->second;
}

Json field_json(const Field& field) {
  Json json;
  json["name"] = field.name;
  json["type"] = static_cast<int>(field.type);
  json["dims"] = field.dims;
  json["shape"] = field.shape;
  json["record"] = field.record;
  json["distributed"] = field.distributed;
  json["attributes"] = Json::object();
  for (const auto& [key, value] : field.attributes)
    json["attributes"][key] = value;
  return json;
}

Json call(const char* name) {
  Json json;
  json["do"] = name;
  return json;
}

Json call(const char* name, std::size_t field, std::int64_t record, bool whole) {
  auto json = call(name);
  json["field"] = field;
  json["record"] = std::max<std::int64_t>(record, 0);
  json["whole"] = whole;
  return json;
}

// The same on all ranks: what keeps one of them from working keeps all.
void refuse_if_any(MPI_Comm comm, const std::string& problem) {
  int rank = 0, ranks = 1;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  int first = problem.empty() ? ranks : rank;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, comm);
  if (first == ranks) return;
  auto length = static_cast<int>(problem.size());
  MPI_Bcast(&length, 1, MPI_INT, first, comm);
  std::string text = problem;
  text.resize(static_cast<std::size_t>(length));
  MPI_Bcast(text.data(), length, MPI_CHAR, first, comm);
  throw Refused(text);
}

// Starts a process of Python that knows the fields.
std::unique_ptr<PythonWorker> started(const Run& run, std::size_t bytes, const Json& fields, bool with_xarray,
                                      std::string& problem) {
  try {
    auto worker = std::make_unique<PythonWorker>(bytes);
    auto request = call("prepare");
    request["path"] = run.path;
    request["fields"] = fields;
    request["records"] = run.records;
    request["compression"] = compression_of(run);
    request["with_xarray"] = with_xarray;
    worker->ask(request);
    return worker;
  } catch (const std::runtime_error& e) {
    problem = e.what();
    return nullptr;
  }
}

std::int64_t most_bytes(const Run& run, bool whole) {
  std::int64_t most = 1;
  for (const auto& field : run.content.fields)
    if (whole || !field.distributed) most = std::max(most, field.elements() * size_of(field.type));
  for (const auto& array : run.arrays)
    most = std::max(most, array.owned_bytes());
  return most;
}

void flush_store(const Run& run) {
  if (!run.flush || !run.flushes) return;
  for (const auto& file : files_of(run.path))
    flush_file(file);
}

class ZarrPython : public Method {
 public:
  void prepare(Run& run) override {
    std::string problem;
    auto fields = Json::array();
    std::size_t at = 0;
    for (const auto& field : run.content.fields) {
      auto json = field_json(field);
      if (field.distributed) add_shard(run, run.arrays[at++], json, problem);
      fields.push_back(std::move(json));
    }
    refuse_if_any(run.comm, problem);
    worker_ = started(run, static_cast<std::size_t>(most_bytes(run, false)), fields, false, problem);
    refuse_if_any(run.comm, problem);
  }

  void create(Run& run) override {
    run.phases.time(Phase::open, [&] {
      if (run.rank == k_root) worker_->ask(call("create"));
      quiet_barrier(run.comm);
      if (run.rank != k_root) open_arrays(true);
    });
  }

  void put(Run& run, std::int64_t record) override {
    for_fields(run, record, [&](std::size_t i, const Field& field, LocalField* array) {
      if (array == nullptr) return put_whole(run, i, field, record);
      run.phases.time_field(field, [&] {
        run.phases.time(Phase::pack, [&] { array->pack(run.in_memory(record), worker_->shared()); });
        if (!array->tile().empty())
          run.phases.time(Phase::store, [&] { worker_->ask(call("put", i, record, false)); });
      });
    });
  }

  // What is put is in the store.
  void sync(Run& run) override {
    quiet_barrier(run.comm);
    run.phases.time(Phase::store, [&] { flush_store(run); });
  }

  void finish(Run& run) override {
    run.stage_bytes += static_cast<std::int64_t>(worker_->shared_bytes());
    run.at_peak();
    run.phases.time(Phase::close, [&] {
      if (run.rank == k_root) worker_->ask(call("consolidate"));
      quiet_barrier(run.comm);
      flush_store(run);
    });
  }

  void open(Run& run) override {
    run.phases.time(Phase::open, [&] { open_arrays(true); });
  }

  void get(Run& run, std::int64_t record) override {
    for_fields(run, record, [&](std::size_t i, const Field&, LocalField* array) {
      if (array == nullptr || array->tile().empty()) return;
      worker_->ask(call("get", i, record, false));
      array->unpack(0, worker_->shared());
    });
  }

  void close(Run& run) override { run.at_peak(); }

 private:
  // Shards of a variable have one shape, and none is of two ranks.
  static void add_shard(const Run& run, const LocalField& array, Json& json, std::string& problem) {
    const auto& field = array.field();
    const auto& tile = array.tile();
    std::array<std::int64_t, 2> lengths{tile.rows, tile.columns};
    MPI_Allreduce(MPI_IN_PLACE, lengths.data(), 2, MPI_INT64_T, MPI_MAX, run.comm);
    auto shard = field.shape;
    json["tile"] = Json::array();
    if (field.cut == 2) {
      shard[shard.size() - 2] = lengths[0];
      json["tile"].push_back({tile.first_row, tile.rows});
    }
    shard.back() = lengths[1];
    json["tile"].push_back({tile.first_column, tile.columns});
    json["shard"] = shard;
    const bool on_edge =
        tile.empty() || (tile.first_row % lengths[0] == 0 && tile.first_column % lengths[1] == 0);
    if (tile.list)
      problem = "zarr-python moves boxes, and the columns of " + field.name + " are lists";
    else if (!on_edge)
      problem = "tiles of " + field.name +
                " are no shards: they differ in size; choose --size and --tiles that divide evenly";
  }

  void open_arrays(bool distributed) {
    auto request = call("open");
    request["distributed"] = distributed;
    worker_->ask(request);
  }

  void put_whole(Run& run, std::size_t i, const Field& field, std::int64_t record) {
    if (run.rank != k_root) return;
    const auto values = replicated_values(field, std::max<std::int64_t>(record, 0));
    std::copy(values.begin(), values.end(), worker_->shared());
    run.phases.time(Phase::store, [&] { worker_->ask(call("put", i, record, true)); });
  }

  std::unique_ptr<PythonWorker> worker_;
};

// Rank 0's side of `xarray`; the other ranks only send.
class ByXarray : public PackedMethod {
 protected:
  void create_file(Run&) override {}
  void open_file(Run&) override {
    auto request = call("open");
    request["distributed"] = true;
    worker_->ask(request);
  }
  void put_gathered(Run& run, std::size_t i, std::int64_t, const std::byte* values) {
    const auto& field = run.content.fields[i];
    keep(run, i, values, field.elements() * size_of(field.type));
  }
  void get_gathered(Run& run, std::size_t i, std::int64_t record, std::byte* values) {
    const auto& field = run.content.fields[i];
    worker_->ask(call("get", i, record, true));
    std::copy_n(worker_->shared(), field.elements() * size_of(field.type), values);
  }
  void put_whole(Run& run, std::size_t i, std::int64_t record) override {
    const auto values = replicated_values(run.content.fields[i], std::max<std::int64_t>(record, 0));
    keep(run, i, values.data(), static_cast<std::int64_t>(values.size()));
  }
  void sync_file(Run& run) override { flush_store(run); }
  void close_file(Run&) override {}
  void close_written(Run& run) override { flush_store(run); }
  void store_record(Run& run) {
    run.phases.time(Phase::store, [&] { worker_->ask(call("to_zarr")); });
  }

  std::unique_ptr<PythonWorker> worker_;

 private:
  void keep(Run& run, std::size_t i, const std::byte* values, std::int64_t bytes) {
    run.phases.time(Phase::store, [&] {
      std::copy_n(values, bytes, worker_->shared());
      auto request = call("keep");
      request["field"] = i;
      worker_->ask(request);
    });
  }
};

class Xarray : public Gathered<ByXarray> {
 public:
  void prepare(Run& run) override {
    Gathered<ByXarray>::prepare(run);
    std::string problem;
    if (run.rank == k_root) {
      auto fields = Json::array();
      for (const auto& field : run.content.fields)
        fields.push_back(field_json(field));
      worker_ = started(run, static_cast<std::size_t>(most_bytes(run, true)), fields, true, problem);
    }
    refuse_if_any(run.comm, problem);
  }
  void put(Run& run, std::int64_t record) override {
    Gathered<ByXarray>::put(run, record);
    if (run.rank == k_root) store_record(run);
  }
};

}  // namespace

std::unique_ptr<Method> make_zarr_python(const MethodEntry&) {
  return std::make_unique<ZarrPython>();
}

std::unique_ptr<Method> make_xarray(const MethodEntry&) {
  return std::make_unique<Xarray>();
}

}  // namespace shoal::bench
