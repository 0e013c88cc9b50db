// SPDX-License-Identifier: BSD-3-Clause
// Datasets that are not closed yet, or not whole yet after their close: what Shoal knows of them beside the
// handles of the program. MPI_Finalize is the last moment at which ranks can still do something together: the
// attributes of MPI_COMM_SELF are deleted in it before anything else.
#include "capi/closing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>
#include <list>
#include <mutex>
#include <vector>

#include "base/printable.hpp"
#include "dataset/serve.hpp"
#include "storage/paths.hpp"

namespace shoal::capi {

namespace {

struct Closing {
  std::unique_ptr<shoal_dataset> handle;
  bool durable = false;
  std::string path;  ///< the same for all ways to write it
};

struct Open {
  const void* handle;
  std::function<void()> close;  ///< in place of the program
};

struct Known {
  std::mutex mutex;
  std::vector<Open> open;  ///< in the order in which they were opened
  std::list<Closing> closing;
  bool asked = false;  ///< MPI_Finalize calls at_finalize
};

// Never destroyed: a dataset that lives as long as the program may ask for it at the very end.
Known& known() {
  static Known& all = *new Known;
  return all;
}

Status finish(Closing& closing) {
  const Speaking as_opened(closing.handle->language);
  return caught([&] { closing.handle->dataset->close(closing.durable); });
}

// Are all ranks of one in the other?
bool within(MPI_Comm one, MPI_Comm other) {
  MPI_Group inner = MPI_GROUP_NULL, outer = MPI_GROUP_NULL, rest = MPI_GROUP_NULL;
  check_mpi(MPI_Comm_group(one, &inner), "MPI_Comm_group");
  check_mpi(MPI_Comm_group(other, &outer), "MPI_Comm_group");
  check_mpi(MPI_Group_difference(inner, outer, &rest), "MPI_Group_difference");
  int left = 0;
  check_mpi(MPI_Group_size(rest, &left), "MPI_Group_size");
  for (MPI_Group* group : {&rest, &outer, &inner})
    if (*group != MPI_GROUP_EMPTY) MPI_Group_free(group);
  return left == 0;
}

bool same_ranks(const Dataset& a, const Dataset& b) {
  int result = MPI_UNEQUAL;
  return MPI_Comm_compare(a.comm().ranks(), b.comm().ranks(), &result) == MPI_SUCCESS &&
         (result == MPI_IDENT || result == MPI_CONGRUENT);
}

// A rank that left a dataset open alone must not keep the others from ending for ever. But a rank may have
// more to do than the others before it comes to MPI_Finalize.
bool all_arrive(const Dataset& dataset) {
  return dataset.comm().all_arrive(dataset.settings().seconds("wait_seconds"));
}

template <class Which>
Status finish_those(Which&& which) {
  std::list<Closing> those;
  {
    const std::lock_guard lock(known().mutex);
    auto& all = known().closing;
    for (auto at = all.begin(); at != all.end();) {
      const auto next = std::next(at);
      if (which(*at)) those.splice(those.end(), all, at);
      at = next;
    }
  }
  Status first;
  for (auto& closing : those)
    first.merge(finish(closing));
  return first;
}

// What is lost is reported even if warnings are not wanted: nobody else learns of it.
void report(const Dataset& dataset, const std::string& what, bool warning = false) {
  if (dataset.comm().rank() == 0 && !(warning && dataset.settings().flag("quiet")))
    std::fprintf(stderr, "shoal: %s: %s\n", printable_name(dataset.path()).c_str(), printable(what).c_str());
}

void close_forgotten(shoal_dataset* handle) {
  const Speaking as_opened(handle->language);
  Dataset& dataset = *handle->dataset;
  const std::string late = "the dataset was not closed before MPI_Finalize";
  if (!all_arrive(dataset))
    return report(dataset, fmt::format("{} by some ranks, and others closed it or did not come within {} s "
                                       "(setting wait_seconds); what was written since the last sync is lost",
                                       late, dataset.settings().text("wait_seconds")));
  const Status status = caught([&] { dataset.close(false); });
  if (status.ok())
    report(dataset, late + "; it is closed now, and whole. Call close, so that you learn of errors", true);
  else
    report(dataset, fmt::format("{}; closing it now failed: {}", late, status.text()));
}

void finish_closing_at_end() {
  while (true) {
    Closing closing;
    {
      const std::lock_guard lock(known().mutex);
      if (known().closing.empty()) return;
      closing = std::move(known().closing.front());
      known().closing.pop_front();
    }
    const Dataset& dataset = *closing.handle->dataset;
    Status outcome;
    if (all_arrive(dataset))
      outcome = finish(closing);
    else
      outcome = Error(Code::timeout,
                      "other ranks did not come to the end of its close within {} s (setting wait_seconds)",
                      dataset.settings().text("wait_seconds"))
                    .status();
    if (!outcome.ok()) report(dataset, "closing it in the background failed: " + outcome.text());
  }
}

int at_finalize(MPI_Comm, int, void*, void*) {
  const Status status = caught([&] {
    finish_closing_at_end();
    const auto open = known().open;
    for (const Open& one : open)
      one.close();
    finish_closing_at_end();  // files of streams whose close was begun just now
  });
  stop_serving_at_end();
  if (!status.ok()) std::fprintf(stderr, "shoal: at MPI_Finalize: %s\n", status.text().c_str());
  return MPI_SUCCESS;
}

}  // namespace

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

void watch(const void* handle, std::function<void()> close) {
  ask_for_finalize();
  const std::lock_guard lock(known().mutex);
  known().open.push_back({handle, std::move(close)});
}

void watch(shoal_dataset* handle) {
  if (handle->dataset->writable()) watch(handle, [handle] { close_forgotten(handle); });
}

void unwatch(const void* handle) {
  const std::lock_guard lock(known().mutex);
  std::erase_if(known().open, [handle](const Open& one) { return one.handle == handle; });
}

void close(std::unique_ptr<shoal_dataset> handle, bool durable) {
  unwatch(handle.get());
  Dataset& dataset = dataset_of(handle.get());
  if (!dataset.closes_later()) return dataset.close(durable);
  // One at a time of the same ranks, so that their memory does not add up.
  const Status before =
      finish_those([&](const Closing& other) { return same_ranks(*other.handle->dataset, dataset); });
  const Status begun = caught([&] { dataset.begin_close(); });
  {
    const std::lock_guard lock(known().mutex);
    known().closing.push_back({std::move(handle), durable, resolved_path(dataset.path())});
  }
  if (!before.ok()) throw Error(before);
  if (!begun.ok()) throw Error(begun);
}

PendingClose pending_close(const Comm& comm, const std::string& path) {
  const std::lock_guard lock(known().mutex);
  if (known().closing.empty()) return PendingClose::none;
  const std::string wanted = resolved_path(path);
  auto found = PendingClose::none;
  for (const auto& closing : known().closing)
    if (closing.path == wanted)
      found = std::max(found, within(closing.handle->dataset->comm().ranks(), comm.ranks())
                                  ? PendingClose::here
                                  : PendingClose::elsewhere);
  return found;
}

void finish_closing_within(MPI_Comm comm) {
  const Status status = finish_those(
      [&](const Closing& closing) { return within(closing.handle->dataset->comm().ranks(), comm); });
  if (!status.ok()) throw Error(status);
}

void finish_closing(const std::string* path) {
  const std::string wanted = path == nullptr ? std::string() : resolved_path(*path);
  const Status status =
      finish_those([&](const Closing& closing) { return path == nullptr || closing.path == wanted; });
  if (!status.ok()) throw Error(status);
}

DatasetOptions options_of(const char* settings, const Status& problem) {
  DatasetOptions options;
  options.settings = settings == nullptr ? "" : settings;
  options.sources = current_sources();
  options.problem = problem;
  options.pending_close = pending_close;
  options.await_pending_close = [](const std::string& path) { finish_closing(&path); };
  return options;
}

}  // namespace shoal::capi
