// SPDX-License-Identifier: BSD-3-Clause
#include "streams/streams.hpp"
#include "base/names.hpp"
#include "capi/closing.hpp"
#include "capi/own_comm.hpp"

using namespace shoal;        // NOLINT
using namespace shoal::capi;  // NOLINT

/// What the C handle holds.
struct shoal_streams {
  std::unique_ptr<streams::Streams> streams;
  Language language = shoal::language();  // of who opened it
};

namespace {

/// A name of the model, or a list of them: names that do not differ are the same, whatever their forms.
std::string name_of_caller(const char* name, const char* argument) {
  return composed(required_text(name, argument));
}

streams::Streams& streams_of(shoal_streams* handle) {
  if (handle == nullptr) throw Error(Code::state, "the streams are NULL: closed, or never opened");
  speak(handle->language);
  return *handle->streams;
}

/// Datasets of the C interface.
streams::FileMaker file_maker() {
  streams::FileMaker maker;
  maker.options = [](const std::string& settings) { return options_of(settings.c_str(), {}); };
  maker.close = [](std::unique_ptr<Dataset> dataset) {
    shoal::capi::close(std::unique_ptr<shoal_dataset>(new shoal_dataset{std::move(dataset)}), false);
  };
  return maker;
}

/// A description: what fails on this rank alone all ranks learn of when they meet.
template <class Work>
int describe(shoal_streams* handle, Work&& work) {
  return guard([&] {
    streams::Streams& all = streams_of(handle);
    const Status status = caught([&] { work(all.descriptions()); });
    if (status.ok()) return;
    all.keep_problem(status);
    throw Error(status);
  });
}

}  // namespace

int shoal_streams_open(MPI_Comm comm, const char* configuration, const char* calendar, const char* start,
                       const char* now, shoal_streams** out) {
  return guard([&] {
    if (out != nullptr) *out = nullptr;
    require_mpi(comm);
    streams::StreamsOptions options;
    options.problem = caught([&] {
      require(out, "out");
      options.configuration = required_text(configuration, "configuration");
      options.calendar = required_text(calendar, "calendar");
      options.start = required_text(start, "start");
    });
    options.now = text_or_empty(now);
    options.maker = file_maker();
    auto opened = streams::Streams::open(comm, options);
    auto* const handle = new shoal_streams{std::move(opened)};
    *out = handle;
    watch(handle, [handle] {
      const Speaking as_opened(handle->language);
      handle->streams->close_forgotten();
    });
  });
}

int shoal_streams_axis(shoal_streams* streams, const char* name, const shoal_array* values,
                       const shoal_array* bounds) {
  return describe(streams, [&](streams::Descriptions& model) {
    const std::string axis = name_of_caller(name, "name");
    const HostArray at(array_of(values));
    if (bounds == nullptr) return model.add_axis(axis, at.view(), nullptr);
    const HostArray ends(array_of(bounds));
    model.add_axis(axis, at.view(), &ends.view());
  });
}

int shoal_streams_grid(shoal_streams* streams, const char* name, const char* dims,
                       const shoal_decomposition* decomposition) {
  return describe(streams, [&](streams::Descriptions& model) {
    require(decomposition, "decomposition");
    model.add_grid(name_of_caller(name, "name"), name_of_caller(dims, "dims"),
                   decomposition_of(decomposition));
  });
}

int shoal_streams_coordinate(shoal_streams* streams, const char* grid, const char* name,
                             const shoal_array* values) {
  return describe(streams, [&](streams::Descriptions& model) {
    model.add_grid_variable(name_of_caller(grid, "grid"), name_of_caller(name, "name"),
                            HostArray(array_of(values)).view(), false);
  });
}

int shoal_streams_area(shoal_streams* streams, const char* grid, const char* name,
                       const shoal_array* values) {
  return describe(streams, [&](streams::Descriptions& model) {
    model.add_grid_variable(name_of_caller(grid, "grid"), name_of_caller(name, "name"),
                            HostArray(array_of(values)).view(), true);
  });
}

int shoal_streams_field(shoal_streams* streams, const char* name, int type, const char* dims,
                        const char* grid, const char* group, int holds, int* out) {
  return describe(streams, [&](streams::Descriptions& model) {
    require(out, "out");
    if (holds != SHOAL_AT_INSTANT && holds != SHOAL_FOR_STEP)
      throw Error(Code::invalid_argument,
                  "holds is {}; allowed are SHOAL_AT_INSTANT (0) and SHOAL_FOR_STEP (1)", holds);
    *out = model.add_field(name_of_caller(name, "name"), type_of(type), name_of_caller(dims, "dims"),
                           composed(text_or_empty(grid)), composed(text_or_empty(group)),
                           holds == SHOAL_FOR_STEP);
  });
}

int shoal_streams_put_att(shoal_streams* streams, const char* of, const char* name, int type, int64_t count,
                          const void* values) {
  return describe(streams, [&](streams::Descriptions& model) {
    model.put_att(composed(text_or_empty(of)), name_of_caller(name, "name"), type_of(type), count, values);
  });
}

// A table alone: models ask in their inner loops.
int shoal_streams_wants(const shoal_streams* streams, int field, int* wanted) {
  if (streams != nullptr && wanted != nullptr) {
    *wanted = streams->streams->wants(field) ? 1 : 0;
    return SHOAL_OK;
  }
  return guard([&] {
    require(streams, "streams");
    require(wanted, "wanted");
  });
}

int shoal_streams_send(shoal_streams* streams, int field, const shoal_array* array) {
  if (streams != nullptr && streams->streams->ignores(field)) return SHOAL_OK;
  return guard([&] {
    streams::Streams& all = streams_of(streams);
    ArrayArgument argument;
    argument.problem = caught([&] { argument.cells = array_of(array); });
    all.send(field, argument);
  });
}

int shoal_streams_refuse(shoal_streams* streams, int field, int code, const char* message) {
  return guard([&] { streams_of(streams).refuse(field, refusal_of(code, message)); });
}

int shoal_streams_advance(shoal_streams* streams, double seconds) {
  return guard([&] { streams_of(streams).advance(seconds); });
}

int shoal_streams_advance_to(shoal_streams* streams, const char* date) {
  // NULL is a wrong date, too, with which this rank takes its part.
  return guard([&] { streams_of(streams).advance_to(std::string(date == nullptr ? "" : date)); });
}

int shoal_streams_checkpoint(shoal_streams* streams, const char* path) {
  return guard([&] {
    streams::Streams& all = streams_of(streams);
    std::string file;
    const Status problem = caught([&] { file = required_text(path, "path"); });
    all.checkpoint(file, problem);
  });
}

int shoal_streams_resume(shoal_streams* streams, const char* path) {
  return guard([&] {
    streams::Streams& all = streams_of(streams);
    std::string file;
    const Status problem = caught([&] { file = required_text(path, "path"); });
    all.resume(file, problem);
  });
}

const char* shoal_streams_report(const shoal_streams* streams) {
  thread_local std::string text;
  const int code = guard([&] {
    require(streams, "streams");
    text = streams->streams->report();
  });
  return code == SHOAL_OK ? text.c_str() : "";
}

int shoal_streams_close(shoal_streams** streams) {
  return guard([&] {
    require(streams, "streams");
    const std::unique_ptr<shoal_streams> handle(*streams);
    *streams = nullptr;
    unwatch(handle.get());
    streams_of(handle.get()).close();
  });
}

void shoal_streams_abandon(shoal_streams** streams) {
  if (streams == nullptr) return;
  unwatch(*streams);
  delete *streams;
  *streams = nullptr;
}
