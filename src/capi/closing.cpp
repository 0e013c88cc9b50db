// SPDX-License-Identifier: BSD-3-Clause
// Datasets that are not closed yet, or not whole yet after their close: what Shoal knows of them beside the
// handles of the program. MPI_Finalize is the last moment at which ranks can still do something together: the
// attributes of MPI_COMM_SELF are deleted in it before anything else.
#include "capi/closing.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <list>
#include <mutex>
#include <vector>

namespace shoal::capi {

namespace {

// A rank that left a dataset open alone must not keep the others from ending.
constexpr Seconds k_patience = 20;

struct Closing {
  std::unique_ptr<shoal_dataset> handle;
  bool durable = false;
};

struct Known {
  std::mutex mutex;
  std::vector<shoal_dataset*> open;  ///< in the order in which they were opened
  std::list<Closing> closing;
  bool asked = false;  ///< MPI_Finalize calls at_finalize
};

Known& known() {
  static Known all;
  return all;
}

std::string normal(const std::string& path) {
  return std::filesystem::path(path).lexically_normal().string();
}

Status finish(Closing& closing) {
  return caught([&] { closing.handle->dataset->close(closing.durable); });
}

bool same_ranks(const Dataset& a, const Dataset& b) {
  int result = MPI_UNEQUAL;
  return MPI_Comm_compare(a.comm().handle(), b.comm().handle(), &result) == MPI_SUCCESS &&
         (result == MPI_IDENT || result == MPI_CONGRUENT);
}

template <class Which>
Status finish_those(Which&& which) {
  std::list<Closing> those;
  {
    const std::lock_guard lock(known().mutex);
    auto& all = known().closing;
    for (auto at = all.begin(); at != all.end();) {
      const auto next = std::next(at);
      if (which(*at->handle->dataset)) those.splice(those.end(), all, at);
      at = next;
    }
  }
  Status first;
  for (auto& closing : those)
    first.merge(finish(closing));
  return first;
}

void tell(const Dataset& dataset, const std::string& what) {
  if (dataset.comm().rank() == 0 && !dataset.settings().flag("quiet"))
    std::fprintf(stderr, "shoal: %s: %s\n", dataset.path().c_str(), what.c_str());
}

void close_forgotten(shoal_dataset* handle) {
  Dataset& dataset = *handle->dataset;
  const std::string late = "the dataset was not closed before MPI_Finalize";
  if (!dataset.comm().all_come(k_patience))
    return tell(dataset,
                late + " by some ranks, and was by others; what was written since the last sync is lost");
  const Status status = caught([&] { dataset.close(false); });
  if (status.ok())
    tell(dataset, late + "; it is closed now, and whole. Call close, so that you learn of errors");
  else
    tell(dataset, late + "; closing it now failed: " + status.text());
}

int at_finalize(MPI_Comm, int, void*, void*) {
  const Status status = caught([&] {
    while (true) {
      Closing closing;
      {
        const std::lock_guard lock(known().mutex);
        if (known().closing.empty()) break;
        closing = std::move(known().closing.front());
        known().closing.pop_front();
      }
      const Dataset& dataset = *closing.handle->dataset;
      Status outcome;
      if (dataset.comm().all_come(k_patience))
        outcome = finish(closing);
      else
        outcome = {Code::out_of_step, "other ranks did not come to the end of its close", -1, {}, {}};
      if (!outcome.ok()) tell(dataset, "closing it in the background failed: " + outcome.text());
    }
    const auto open = known().open;
    for (auto* handle : open)
      close_forgotten(handle);
  });
  if (!status.ok()) std::fprintf(stderr, "shoal: at MPI_Finalize: %s\n", status.text().c_str());
  return MPI_SUCCESS;
}

// Once a process: MPI is started once.
void ask_for_finalize() {
  {
    const std::lock_guard lock(known().mutex);
    if (std::exchange(known().asked, true)) return;
  }
  int key = MPI_KEYVAL_INVALID;
  check_mpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_finalize, &key, nullptr),
            "MPI_Comm_create_keyval");
  check_mpi(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), "MPI_Comm_set_attr");
  check_mpi(MPI_Comm_free_keyval(&key), "MPI_Comm_free_keyval");
}

}  // namespace

void watch(shoal_dataset* handle) {
  if (!handle->dataset->writable()) return;
  ask_for_finalize();
  const std::lock_guard lock(known().mutex);
  known().open.push_back(handle);
}

void unwatch(shoal_dataset* handle) {
  const std::lock_guard lock(known().mutex);
  std::erase(known().open, handle);
}

void close(std::unique_ptr<shoal_dataset> handle, bool durable) {
  unwatch(handle.get());
  Dataset& dataset = dataset_of(handle.get());
  if (!dataset.closes_later()) return dataset.close(durable);
  // One at a time of the same ranks, so that their memory does not add up.
  const Status before = finish_those([&](const Dataset& other) { return same_ranks(other, dataset); });
  const Status begun = caught([&] { dataset.begin_close(); });
  {
    const std::lock_guard lock(known().mutex);
    known().closing.push_back({std::move(handle), durable});
  }
  if (!before.ok()) throw Error(before);
  if (!begun.ok()) throw Error(begun);
}

void finish_closing(const std::string* path) {
  const std::string wanted = path == nullptr ? std::string() : normal(*path);
  const Status status = finish_those(
      [&](const Dataset& dataset) { return path == nullptr || normal(dataset.path()) == wanted; });
  if (!status.ok()) throw Error(status);
}

}  // namespace shoal::capi
