// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "capi/handles.hpp"

namespace shoal::capi {

/// MPI_Finalize closes what is open, and lets ranks go that serve.
void ask_for_finalize();
/// What the program has open under the handle: if nobody closes it, `close` does, with a warning, when MPI is
/// finalised.
void watch(const void* handle, std::function<void()> close);
void unwatch(const void* handle);
/// The same of a dataset that is open for writing; of another one nothing.
void watch(shoal_dataset* handle);

/// Close now, or begin to: then what is left to do is done by finish_closing, in the order of the closes, and
/// what failed comes out there. Collective.
void close(std::unique_ptr<shoal_dataset> handle, bool durable);
/// What a dataset of the C interface is opened with: settings of the call, and where others come from. NULL:
/// none.
DatasetOptions options_of(const char* settings, const Status& problem);
/// See DatasetOptions.
PendingClose pending_close(const Comm& comm, const std::string& path);
/// Finish closing datasets of this path (nullptr: of all paths). Throws the first failure after all were
/// tried. Collective.
void finish_closing(const std::string* path);
/// The same for datasets whose ranks are all in the communicator. Collective over it.
void finish_closing_within(MPI_Comm comm);

}  // namespace shoal::capi
