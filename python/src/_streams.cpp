// SPDX-License-Identifier: BSD-3-Clause
//
// Streams of the extension module: streams.hpp with Python's buffers, as _shoal.cpp is for datasets.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <shoal/streams.hpp>
#include <string>
#include <utility>
#include <vector>

#include "_binding.hpp"

using namespace nanobind::literals;

namespace shoal_python {

namespace {

using shoal::Streams;

Streams open(int comm, const nb::bytes& configuration, const std::string& calendar, const std::string& start,
             const std::string& now) {
  const std::string text = path_of(configuration);
  nb::gil_scoped_release free;
  const InPython terms;
  return Streams::open(comm_of(comm), text, calendar, start, now);
}

/// values None: a dimension alone.
void axis(Streams& streams, const std::string& name, std::int64_t length, nb::object values, int type,
          nb::object bounds, int type_of_bounds) {
  if (values.is_none()) return streams.axis(name, length);
  const Buffer cells(values, false);
  if (bounds.is_none()) return streams.axis(name, cells.array(type));
  const Buffer ends(bounds, false);
  streams.axis(name, cells.array(type), ends.array(type_of_bounds));
}

void grid_values(Streams& streams, bool is_area, const std::string& grid, const std::string& name,
                 nb::object values, int type) {
  const Buffer cells(values, false);
  if (is_area)
    streams.area(grid, name, cells.array(type));
  else
    streams.coordinate(grid, name, cells.array(type));
}

void put_att(Streams& streams, const std::string& of, const std::string& name, int type, nb::object values) {
  const Buffer buffer(values, false);
  shoal::detail::check(shoal_streams_put_att(streams.c_handle(), owner_of(of), shoal::detail::text(name),
                                             type, count_of(buffer, type), buffer.data()));
}

void put_att_strings(Streams& streams, const std::string& of, const std::string& name,
                     const std::vector<nb::bytes>& values) {
  const auto strings = strings_of(values);
  const auto pointers = shoal::detail::pointers_of(strings);
  shoal::detail::check(shoal_streams_put_att(streams.c_handle(), owner_of(of), shoal::detail::text(name),
                                             SHOAL_STRING, static_cast<std::int64_t>(pointers.size()),
                                             pointers.data()));
}

/// array None: nothing to give, on a rank without cells or of a field that nobody wants.
void send(Streams& streams, int field, nb::object object, int type) {
  std::optional<Buffer> buffer;
  std::optional<shoal::Array> array;
  if (object.is_none()) {
    array.emplace(static_cast<void*>(nullptr), static_cast<shoal::Type>(type), 0, Indices{0});
  } else {
    buffer.emplace(object, false);
    array.emplace(buffer->array(type));
  }
  nb::gil_scoped_release free;
  streams.send(field, *array);
}

/// What a rank found wrong by itself; field -1: in a description. The code on a single rank, where nobody
/// else need hear of it.
int refuse(Streams& streams, int field, int code, const std::string& message) {
  return shoal_streams_refuse(streams.c_handle(), field, code, shoal::detail::text(message));
}

/// Nobody closes them any more but MPI_Finalize.
void leave(Streams& streams) {
  static auto& left = *new std::vector<Streams>;  // never destroyed
  left.push_back(std::move(streams));
}

/// path None: this rank has none, and takes its part in the refusal.
template <int (*call)(shoal_streams*, const char*)>
void with_path(Streams& streams, const std::optional<nb::bytes>& path) {
  const std::string file = path ? path_of(*path) : std::string();
  nb::gil_scoped_release free;
  shoal::detail::check(call(streams.c_handle(), path ? shoal::detail::text(file) : nullptr));
}

}  // namespace

void bind_streams(nb::module_& m) {
  nb::class_<Streams>(m, "Streams")
      .def_static("open", &open, "comm"_a, "configuration"_a, "calendar"_a, "start"_a, "now"_a)
      .def("axis", &axis, "name"_a, "length"_a, "values"_a.none(), "type"_a, "bounds"_a.none(),
           "type_of_bounds"_a)
      .def(
          "grid",
          [](Streams& s, const std::string& name, const std::string& dims,
             const shoal::Decomposition& decomposition) { s.grid(name, dims, decomposition); },
          "name"_a, "dims"_a, "decomposition"_a)
      .def("grid_values", &grid_values, "is_area"_a, "grid"_a, "name"_a, "values"_a, "type"_a)
      .def(
          "field",
          [](Streams& s, const std::string& name, int type, const std::string& dims, const std::string& grid,
             const std::string& group, int holds) {
            return s.field(name, static_cast<shoal::Type>(type), dims, grid, group,
                           static_cast<shoal::Holds>(holds));
          },
          "name"_a, "type"_a, "dims"_a, "grid"_a, "group"_a, "holds"_a)
      .def("put_att", &put_att, "of"_a, "name"_a, "type"_a, "values"_a)
      .def("put_att_strings", &put_att_strings, "of"_a, "name"_a, "values"_a)
      .def("wants", &Streams::wants, "field"_a)
      .def("send", &send, "field"_a, "array"_a.none(), "type"_a)
      .def("refuse", &refuse, "field"_a, "code"_a, "message"_a)
      .def("advance", &Streams::advance, "seconds"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("advance_to", &Streams::advance_to, "date"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("checkpoint", &with_path<shoal_streams_checkpoint>, "path"_a.none())
      .def("resume", &with_path<shoal_streams_resume>, "path"_a.none())
      .def("report", [](const Streams& s) { return text_object(s.report()); })
      .def("close", &Streams::close, nb::call_guard<nb::gil_scoped_release>())
      .def("abandon", &Streams::abandon)
      .def("leave", &leave)
      .def("is_open", &Streams::is_open);
  m.attr("AT_INSTANT") = static_cast<int>(SHOAL_AT_INSTANT);
  m.attr("FOR_STEP") = static_cast<int>(SHOAL_FOR_STEP);
}

}  // namespace shoal_python
