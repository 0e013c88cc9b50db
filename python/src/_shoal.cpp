// SPDX-License-Identifier: BSD-3-Clause
//
// The extension module shoal._shoal: shoal.hpp with Python's buffers. It checks what memory safety
// needs and nothing more; names, shapes and defaults are the business of the Python files.
// The interpreter's lock is released around everything that may wait for other ranks or the disk.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <shoal/shoal.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "_binding.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace shoal_python;

namespace {

using OptionalIndices = std::optional<Indices>;

/// Record, start, count and records, as Python gives them.
using SectionArguments = std::tuple<std::int64_t, OptionalIndices, OptionalIndices, std::int64_t>;

shoal::Section section_of(const SectionArguments& given) {
  const auto& [record, start, count, records] = given;
  return {record, start.value_or(Indices{}), count.value_or(Indices{}), records};
}

bool is_even(const shoal::Section& section) {
  return section.start.size() == section.count.size();
}

/// C has one length for both lists; the library holds it against the variable.
void check_section(const shoal::Dataset& dataset, shoal_variable variable, const shoal::Section& section) {
  if (!is_even(section))
    throw shoal::Error(shoal::Code::invalid_argument,
                       "Variable '" + dataset.var(variable).name + "': start has " +
                           std::to_string(section.start.size()) + " numbers and count " +
                           std::to_string(section.count.size()) +
                           "; each needs one for each dimension but the record dimension.");
}

/// Nobody closes it any more but MPI_Finalize.
void leave(shoal::Dataset& dataset) {
  static auto& left = *new std::vector<shoal::Dataset>;  // never destroyed
  left.push_back(std::move(dataset));
}

/// verb: SHOAL_CALL_WRITE, ...
int call(int verb, shoal_dataset* dataset, shoal_variable variable, const shoal_decomposition* decomposition,
         const shoal_array& array, const shoal_section& section) {
  switch (verb) {
    case SHOAL_CALL_WRITE:
      return shoal_write_variable(dataset, variable, decomposition, &array, &section);
    case SHOAL_CALL_READ:
      return shoal_read_variable(dataset, variable, decomposition, &array, &section);
    case SHOAL_CALL_PUT:
      return shoal_put_variable(dataset, variable, &array, &section);
    default:
      return shoal_get_variable(dataset, variable, &array, &section);
  }
}

/// A rank whose arguments were found wrong before the call still takes its part in it, with nothing, so that
/// the other ranks learn of it instead of waiting. What the call returned there, and its message.
/// variable: -1: not known.
std::pair<int, std::string> take_part(shoal::Dataset& dataset, int verb, shoal_variable variable,
                                      const shoal::Decomposition* decomposition,
                                      const std::optional<shoal::Section>& section, int code,
                                      const std::string& message) {
  if (!dataset.is_open()) return {SHOAL_OK, ""};
  const bool is_known = section && is_even(*section);
  const shoal::Section known = section.value_or(shoal::Section());
  const shoal_section part = known.c_section();
  nb::gil_scoped_release free;
  const int agreed = shoal_refuse_data(dataset.c_handle(), verb, variable,
                                       decomposition != nullptr ? decomposition->c_handle() : nullptr,
                                       is_known ? &part : nullptr, code, message.c_str());
  return {agreed, agreed != SHOAL_OK ? shoal_error_message() : ""};
}

/// In place of the call: the error that is being handled, with the code that all ranks get.
[[noreturn]] void refuse_data(shoal::Dataset& dataset, int verb, shoal_variable variable,
                              const shoal::Decomposition* decomposition, const shoal::Section& section) {
  try {
    throw;
  } catch (const shoal::Error& error) {
    const auto [agreed, theirs] = take_part(dataset, verb, variable, decomposition, section,
                                            static_cast<int>(error.code()), error.what());
    if (agreed == SHOAL_OK || agreed == static_cast<int>(error.code())) throw;
    throw shoal::Error(static_cast<shoal::Code>(agreed),
                       std::string(error.what()) + " (All ranks get: " + theirs + ")", error.rank(),
                       error.file(), error.variable());
  } catch (const std::exception& error) {
    take_part(dataset, verb, variable, decomposition, section, SHOAL_INVALID_ARGUMENT, error.what());
    throw;
  }
}

/// On this rank alone. start, count, stride: of each dimension of the variable, as the array has them.
void move_independent(shoal::Dataset& dataset, bool reads, shoal_variable variable, nb::object object,
                      int type, const Indices& start, const Indices& count, const Indices& stride) {
  const Buffer buffer(object, reads);
  const shoal::Array array = buffer.array(type);
  nb::gil_scoped_release free;
  if (reads)
    dataset.read_independent(shoal::Box(variable, array, start, count, stride));
  else
    dataset.write_independent(shoal::ConstBox(variable, array, start, count, stride));
}

/// A box: variable, array, type, start, count, stride.
using BoxArguments = std::tuple<shoal_variable, nb::object, int, Indices, Indices, Indices>;

/// With the boxes that the other ranks bring in the same call.
void move_boxes(shoal::Dataset& dataset, bool reads, const std::vector<BoxArguments>& given) {
  std::vector<shoal::Box> to_read;
  std::vector<shoal::ConstBox> to_write;
  std::vector<std::unique_ptr<Buffer>> buffers;
  for (const auto& [variable, object, type, start, count, stride] : given) {
    buffers.push_back(std::make_unique<Buffer>(object, reads));
    const shoal::Array array = buffers.back()->array(type);
    if (reads)
      to_read.emplace_back(variable, array, start, count, stride);
    else
      to_write.emplace_back(variable, array, start, count, stride);
  }
  nb::gil_scoped_release free;
  if (reads)
    dataset.read_boxes(to_read);
  else
    dataset.write_boxes(to_write);
}

/// array None: nothing to give, for an empty tile or a rank whose values are not looked at.
void transfer(shoal::Dataset& dataset, int verb, shoal_variable variable,
              const shoal::Decomposition* decomposition, nb::object object, int type,
              const SectionArguments& part) {
  const bool fills = verb == SHOAL_CALL_READ || verb == SHOAL_CALL_GET;
  std::optional<Buffer> buffer;
  std::optional<shoal::Array> array;
  const shoal::Section section = section_of(part);
  try {
    check_section(dataset, variable, section);
    if (object.is_none()) {
      array.emplace(static_cast<void*>(nullptr), static_cast<shoal::Type>(type), 0, Indices{0});
    } else {
      buffer.emplace(object, fills);
      array.emplace(buffer->array(type));
    }
  } catch (...) {
    refuse_data(dataset, verb, variable, decomposition, section);
  }
  nb::gil_scoped_release free;
  shoal::detail::check(call(verb, dataset.c_handle(), variable,
                            decomposition != nullptr ? decomposition->c_handle() : nullptr, array->c_array(),
                            section.c_section()));
}

void copy(shoal::Dataset& dataset, shoal_variable variable, const shoal::Decomposition* decomposition,
          shoal::Dataset& from, shoal_variable from_variable, const SectionArguments& given) {
  const shoal::Section section = section_of(given);
  const auto* cut = decomposition != nullptr ? decomposition->c_handle() : nullptr;
  try {
    check_section(dataset, variable, section);
  } catch (...) {
    refuse_data(dataset, SHOAL_CALL_WRITE, variable, decomposition, section);
  }
  nb::gil_scoped_release free;
  const shoal_section part = section.c_section();
  shoal::detail::check(
      shoal_copy_variable(dataset.c_handle(), variable, cut, from.c_handle(), from_variable, &part));
}

std::int64_t cells(const Indices& extents) {
  std::int64_t product = 1;
  for (const auto extent : extents)
    product *= extent;
  return product;
}

void put_strings(shoal::Dataset& dataset, shoal_variable variable, const std::vector<std::string>& values,
                 const Indices& extents, const SectionArguments& part) {
  const shoal::Section section = section_of(part);
  // The Python side shapes both lists; this guards memory alone.
  try {
    check_section(dataset, variable, section);
    if (static_cast<std::int64_t>(values.size()) != cells(extents))
      throw shoal::Error(
          shoal::Code::invalid_argument,
          "Variable '" + dataset.var(variable).name + "': the number of strings is not that of the shape.");
  } catch (...) {
    refuse_data(dataset, SHOAL_CALL_PUT, variable, nullptr, section);
  }
  std::vector<const char*> pointers;
  pointers.reserve(values.size());
  for (const auto& value : values)
    pointers.push_back(value.c_str());
  nb::gil_scoped_release free;
  dataset.put(variable, shoal::ConstArray(pointers.data(), shoal::Type::string, sizeof(char*), extents),
              section);
}

std::vector<std::string> take_strings(std::vector<char*>& pointers) {
  std::vector<std::string> values;
  values.reserve(pointers.size());
  for (const char* pointer : pointers)
    values.emplace_back(pointer != nullptr ? pointer : "");
  shoal_free_strings(static_cast<std::int64_t>(pointers.size()), pointers.data());
  return values;
}

nb::list text_list(const std::vector<std::string>& values) {
  nb::list list;
  for (const auto& value : values)
    list.append(text_object(value));
  return list;
}

nb::list get_strings(shoal::Dataset& dataset, shoal_variable variable, const Indices& extents,
                     const SectionArguments& part) {
  const shoal::Section section = section_of(part);
  std::vector<char*> pointers;
  try {
    check_section(dataset, variable, section);
    pointers.assign(static_cast<std::size_t>(cells(extents)), nullptr);
  } catch (...) {
    refuse_data(dataset, SHOAL_CALL_GET, variable, nullptr, section);
  }
  std::vector<std::string> values;
  {
    nb::gil_scoped_release free;
    dataset.get(variable, shoal::Array(pointers.data(), shoal::Type::string, sizeof(char*), extents),
                section);
    values = take_strings(pointers);
  }
  return text_list(values);
}

std::vector<std::string> paths_of(const std::vector<nb::bytes>& paths) {
  std::vector<std::string> out;
  out.reserve(paths.size());
  for (const auto& path : paths)
    out.push_back(path_of(path));
  return out;
}

void put_att(shoal::Dataset& dataset, const std::string& variable, const std::string& name, int type,
             nb::object values) {
  const Buffer buffer(values, false);
  shoal::detail::check(shoal_put_att(dataset.c_handle(), owner_of(variable), shoal::detail::text(name), type,
                                     count_of(buffer, type), buffer.data()));
}

void get_att(const shoal::Dataset& dataset, const std::string& variable, const std::string& name, int type,
             nb::object out) {
  const Buffer buffer(out, true);
  const auto info = dataset.att(variable, name);
  if (!buffer.contiguous() || buffer.bytes() != info.count * static_cast<Py_ssize_t>(Buffer::size_of(type)))
    throw shoal::Error(shoal::Code::invalid_argument,
                       "The array for attribute '" + name + "' has the wrong size.");
  shoal::detail::check(
      shoal_get_att(dataset.c_handle(), owner_of(variable), shoal::detail::text(name), type, buffer.data()));
}

/// By a definition that failed before the library saw it: ranks finish definitions together.
void begin_definition(shoal::Dataset& dataset) {
  if (dataset.is_open()) shoal_def_dim(dataset.c_handle(), nullptr, 0);
}

/// Name and type of each attribute that Shoal cannot read.
std::vector<std::pair<std::string, std::string>> unread_atts(const shoal::Dataset& dataset,
                                                             const std::string& variable) {
  const char* owner = variable.empty() ? nullptr : shoal::detail::text(variable);
  std::vector<std::pair<std::string, std::string>> result;
  const char *name = nullptr, *type = nullptr;
  for (int i = 0;; ++i) {
    shoal::detail::check(shoal_inq_unread_att(dataset.c_handle(), owner, i, &name, &type));
    if (name == nullptr) return result;
    result.emplace_back(name, type);
  }
}

/// value: one of the type; None: no fill.
void def_fill(shoal::Dataset& dataset, const std::string& variable, int type, nb::object value) {
  if (value.is_none()) return dataset.def_no_fill(variable);
  const Buffer buffer(value, false);
  if (buffer.bytes() != static_cast<Py_ssize_t>(Buffer::size_of(type)))
    throw shoal::Error(shoal::Code::type, "The fill value of variable '" + variable + "' must be one value.");
  shoal::detail::check(
      shoal_def_fill(dataset.c_handle(), shoal::detail::text(variable), type, buffer.data()));
}

/// Whether it is filled; value: an array of one element of the type, which gets the value.
bool inq_fill(const shoal::Dataset& dataset, const std::string& variable, int type, nb::object value) {
  const Buffer buffer(value, true);
  if (buffer.bytes() != static_cast<Py_ssize_t>(Buffer::size_of(type)))
    throw shoal::Error(shoal::Code::type, "The fill value of variable '" + variable + "' is one value.");
  int fill = 0;
  shoal::detail::check(
      shoal_inq_fill(dataset.c_handle(), shoal::detail::text(variable), &fill, type, buffer.data()));
  return fill != 0;
}

shoal::Decomposition block(int comm, const Indices& global, const Indices& first, const Indices& count,
                           const Indices& halo_low, const Indices& halo_high) {
  nb::gil_scoped_release free;
  const InPython terms;
  return shoal::Decomposition::block(comm_of(comm), global, first, count, halo_low, halo_high);
}

/// In place of create, open, block, map, load, masked or save, where Python finds the arguments wrong.
void refuse(int comm, int code, const std::string& message) {
  nb::gil_scoped_release free;
  shoal::detail::check(shoal_refuse(comm_of(comm), code, shoal::detail::text(message)));
}

/// cells: contiguous integers of 64 bits. Python's shoal.Decomposition makes them.
shoal::Decomposition map(int comm, const Indices& global, int uncut, nb::object cells) {
  const Buffer buffer(cells, false);
  if (!buffer.contiguous()) throw shoal::Error(shoal::Code::invalid_argument, "The list of cells has gaps.");
  const auto count =
      static_cast<std::int64_t>(buffer.bytes() / static_cast<Py_ssize_t>(sizeof(std::int64_t)));
  nb::gil_scoped_release free;
  const InPython terms;
  return shoal::Decomposition::map(comm_of(comm), global, static_cast<const std::int64_t*>(buffer.data()),
                                   count, uncut);
}

shoal::Decomposition masked(const shoal::Decomposition& decomposition, int comm, nb::object mask, int type) {
  const Buffer buffer(mask, false);
  const shoal::Array array = buffer.array(type);
  nb::gil_scoped_release free;
  const InPython terms;
  return decomposition.masked(comm_of(comm), array);
}

shoal::Decomposition unique(const shoal::Decomposition& decomposition, int comm) {
  nb::gil_scoped_release free;
  const InPython terms;
  return decomposition.unique(comm_of(comm));
}

/// is_map, uncut, ncells, mapped, runs, bytes, the index that comes twice (-1: none), leaves_cells.
std::tuple<bool, int, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, bool> map_info(
    const shoal::Decomposition& decomposition) {
  const shoal::MapInfo info = decomposition.map_info();
  return {info.is_map, info.uncut, info.ncells,   info.mapped,
          info.runs,   info.bytes, info.repeated, info.leaves_cells};
}

void cells_into(const shoal::Decomposition& decomposition, nb::object out) {
  const Buffer buffer(out, true);
  const std::int64_t bytes =
      decomposition.map_info().ncells * static_cast<std::int64_t>(sizeof(std::int64_t));
  if (!buffer.contiguous() || buffer.bytes() != bytes)
    throw shoal::Error(shoal::Code::invalid_argument, "The array for the cells has the wrong size.");
  shoal::detail::check(
      shoal_decomposition_cells(decomposition.c_handle(), static_cast<std::int64_t*>(buffer.data())));
}

std::string mpi_library() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  return std::string(text, static_cast<std::size_t>(length));
}

bool mpi_is_running() {
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

void bind_dataset(nb::module_& m) {
  using shoal::Dataset;
  nb::class_<Dataset>(m, "Dataset")
      .def_static(
          "create",
          [](int comm, const nb::bytes& path, const nb::bytes& settings) {
            const std::string file = path_of(path);
            const std::string text = path_of(settings);
            nb::gil_scoped_release free;
            const InPython terms;
            return Dataset::create(comm_of(comm), file, text);
          },
          "comm"_a, "path"_a, "settings"_a)
      .def_static(
          "open",
          [](int comm, const nb::bytes& path, int mode, const nb::bytes& settings) {
            const std::string file = path_of(path);
            const std::string text = path_of(settings);
            nb::gil_scoped_release free;
            const InPython terms;
            return Dataset::open(comm_of(comm), file, static_cast<shoal::Mode>(mode), text);
          },
          "comm"_a, "path"_a, "mode"_a, "settings"_a)
      .def("close", &Dataset::close, "durable"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("sync", &Dataset::sync, "durable"_a, nb::call_guard<nb::gil_scoped_release>())
      .def("end_define", &Dataset::end_define, nb::call_guard<nb::gil_scoped_release>())
      .def("abandon", &Dataset::abandon)
      .def("leave", &leave)
      .def("is_open", &Dataset::is_open)
      .def("def_dim", &Dataset::def_dim, "name"_a, "length"_a)
      .def(
          "def_group", [](Dataset& d, const std::string& name) { d.def_group(name); }, "name"_a)
      .def(
          "def_var",
          [](Dataset& d, const std::string& name, int type, const std::vector<std::string>& dims,
             const shoal::Decomposition* decomposition) {
            if (decomposition != nullptr) {
              d.def_var(name, static_cast<shoal::Type>(type), dims, *decomposition);
            } else {
              d.def_var(name, static_cast<shoal::Type>(type), dims);
            }
          },
          "name"_a, "type"_a, "dims"_a, "decomposition"_a.none())
      .def(
          "def_gathered",
          [](Dataset& d, const std::string& name, const std::string& dims,
             const shoal::Decomposition& decomposition) { d.def_gathered(name, dims, decomposition); },
          "name"_a, "dims"_a, "decomposition"_a)
      .def("def_cut", &Dataset::def_cut, "variable"_a)
      .def("def_independent", &Dataset::def_independent, "variable"_a)
      .def("def_fill", &def_fill, "variable"_a, "type"_a, "value"_a.none())
      .def(
          "def_fill_string",
          [](Dataset& d, const std::string& variable, const std::string& value) {
            d.def_fill(variable, value);
          },
          "variable"_a, "value"_a)
      .def("def_chunks", &Dataset::def_chunks, "variable"_a, "chunks"_a)
      .def("def_compression", &Dataset::def_compression, "variable"_a, "filters"_a)
      .def("def_quantize", &Dataset::def_quantize, "variable"_a, "how"_a)
      .def("def_pack", &Dataset::def_pack, "variable"_a, "how"_a)
      .def("put_att", &put_att, "variable"_a, "name"_a, "type"_a, "values"_a)
      .def("put_att_strings",
           [](Dataset& d, const std::string& variable, const std::string& name,
              const std::vector<nb::bytes>& values) { d.put_att(variable, name, strings_of(values)); })
      .def("copy_att", &Dataset::copy_att, "variable"_a, "name"_a, "from_dataset"_a, "from_variable"_a)
      .def("get_att", &get_att, "variable"_a, "name"_a, "type"_a, "out"_a)
      .def("get_att_text",
           [](const Dataset& d, const std::string& variable, const std::string& name) {
             return text_object(d.get_att<std::string>(variable, name));
           })
      .def("get_att_strings",
           [](const Dataset& d, const std::string& variable, const std::string& name) {
             return text_list(d.get_att<std::vector<std::string>>(variable, name));
           })
      .def("rename_dim", &Dataset::rename_dim, "name"_a, "new_name"_a)
      .def("rename_var", &Dataset::rename_var, "name"_a, "new_name"_a)
      .def(
          "rename_group",
          [](Dataset& d, const std::string& name, const std::string& to) { d.rename_group(name, to); },
          "name"_a, "new_name"_a)
      .def("rename_att", &Dataset::rename_att, "variable"_a, "name"_a, "new_name"_a)
      .def("delete_att", &Dataset::delete_att, "variable"_a, "name"_a)
      .def("inq_fill", &inq_fill, "variable"_a, "type"_a, "value"_a)
      .def("inq_fill_string",
           [](const Dataset& d, const std::string& variable) -> nb::object {
             const auto fill = d.inq_fill<std::string>(variable);
             return fill ? text_object(*fill) : nb::none();
           })
      .def("transfer", &transfer, "verb"_a, "variable"_a, "decomposition"_a.none(), "array"_a.none(),
           "type"_a, "section"_a)
      .def("copy", &copy, "variable"_a, "decomposition"_a.none(), "from_dataset"_a, "from_variable"_a,
           "section"_a)
      .def("copies", &shoal::Dataset::copies)
      .def("move_independent", &move_independent, "reads"_a, "variable"_a, "array"_a, "type"_a, "start"_a,
           "count"_a, "stride"_a)
      .def("move_boxes", &move_boxes, "reads"_a, "boxes"_a)
      .def(
          "take_part",
          [](Dataset& d, int verb, shoal_variable variable, const shoal::Decomposition* decomposition,
             const std::optional<SectionArguments>& section, int code, const std::string& message) {
            std::optional<shoal::Section> part;
            if (section) part = section_of(*section);
            return take_part(d, verb, variable, decomposition, part, code, message);
          },
          "verb"_a, "variable"_a, "decomposition"_a.none(), "section"_a.none(), "code"_a, "message"_a)
      .def("begin_definition", &begin_definition)
      .def("put_strings", &put_strings, "variable"_a, "values"_a, "extents"_a, "section"_a)
      .def("get_strings", &get_strings, "variable"_a, "extents"_a, "section"_a)
      .def("inq_file",
           [](const Dataset& d) {
             const auto f = d.file();
             return std::make_tuple(text_object(f.path), f.format, f.driver, f.writable, f.dimensions,
                                    f.variables, f.attributes);
           })
      .def("inq_dim",
           [](const Dataset& d, int index) {
             const auto dim = d.dim(index);
             return std::make_tuple(dim.name, dim.length, dim.unlimited);
           })
      .def("inq_var",
           [](const Dataset& d, int index) {
             const auto v = d.var(index);
             return std::make_tuple(v.name, static_cast<int>(v.type), v.dims, v.has_record, v.attributes,
                                    v.logical, v.packed, v.chunks, v.storage, v.filters);
           })
      .def("inq_att",
           [](const Dataset& d, const std::string& variable, int index) {
             const auto a = d.att(variable, index);
             return std::make_tuple(a.name, static_cast<int>(a.type), a.count);
           })
      .def("unread_atts", &unread_atts, "variable"_a)
      .def("num_groups", [](const Dataset& d) { return d.num_groups(); })
      .def("inq_group",
           [](const Dataset& d, int index) {
             const auto g = d.group(index);
             return std::make_tuple(g.name, g.attributes);
           })
      .def("find_group", [](const Dataset& d, const std::string& name) { return d.find_group(name); })
      .def("num_records", [](const Dataset& d) { return d.num_records(); })
      .def("begin_step", &Dataset::begin_step)
      .def("find_dim", &Dataset::find_dim)
      .def("find_var", &Dataset::find_var)
      .def("find_att", &Dataset::find_att)
      .def("settings", [](const Dataset& d) { return text_object(d.settings()); })
      .def("report", [](const Dataset& d) { return text_object(d.report()); });
}

}  // namespace

NB_MODULE(_shoal, m) {
  m.doc() = "The compiled part of shoal; use the package shoal instead.";

  nb::register_exception_translator([](const std::exception_ptr& pointer, void*) {
    try {
      std::rethrow_exception(pointer);
    } catch (const shoal::Error& error) {
      const nb::object made =
          nb::module_::import_("shoal.errors")
              .attr("from_code")(static_cast<int>(error.code()), text_object(error.what()),
                                 error.rank() < 0 ? nb::none() : nb::object(nb::int_(error.rank())),
                                 error.file().empty() ? nb::none() : text_object(error.file()),
                                 error.variable().empty() ? nb::none() : text_object(error.variable()));
      PyErr_SetObject(made.type().ptr(), made.ptr());
    }
  });

  nb::class_<shoal::Decomposition>(m, "Decomposition")
      .def_static("block", &block, "comm"_a, "global_shape"_a, "first"_a, "count"_a, "halo_low"_a,
                  "halo_high"_a)
      .def_static("map", &map, "comm"_a, "global_shape"_a, "uncut"_a, "cells"_a)
      .def_static(
          "load",
          [](int comm, const nb::bytes& path, const std::string& name) {
            const std::string file = path_of(path);
            nb::gil_scoped_release free;
            return shoal::Decomposition::load(comm_of(comm), file, name);
          },
          "comm"_a, "path"_a, "name"_a)
      .def(
          "save",
          [](const shoal::Decomposition& d, int comm, const nb::bytes& path) {
            const std::string file = path_of(path);
            nb::gil_scoped_release free;
            d.save(comm_of(comm), file);
          },
          "comm"_a, "path"_a)
      .def("masked", &masked, "comm"_a, "mask"_a, "type"_a)
      .def("unique", &unique, "comm"_a)
      .def("map_info", &map_info)
      .def("cells_into", &cells_into, "out"_a)
      .def("global_shape", &shoal::Decomposition::global)
      .def("first", &shoal::Decomposition::first)
      .def("count", &shoal::Decomposition::count)
      .def("halo_low", &shoal::Decomposition::halo_low)
      .def("halo_high", &shoal::Decomposition::halo_high);
  bind_dataset(m);
  bind_streams(m);

  m.def("refuse", &refuse, "comm"_a, "code"_a, "message"_a);
  m.def(
      "abort",
      [](int comm, int code, const nb::bytes& message) {
        const std::string text(message.c_str(), message.size());
        const nb::gil_scoped_release unlocked;
        shoal_abort(comm_of(comm), code, text.c_str());
      },
      "comm"_a, "code"_a, "message"_a);
  m.def("version", &shoal::version);
  m.def("build_info", &shoal::build_info);
  m.def("setting_keys", &shoal::setting_keys);
  m.def("settings", [] { return text_object(shoal::settings()); });
  m.def(
      "namelist", [](const nb::bytes& path) { shoal::namelist(path_of(path)); }, "path"_a);
  m.def(
      "wait", [](int comm) { shoal::wait(comm_of(comm)); }, "comm"_a,
      nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "serve",
      [](int all, int n) {
        const nb::gil_scoped_release unlocked;
        return static_cast<int>(MPI_Comm_c2f(shoal::serve(comm_of(all), n)));
      },
      "all"_a, "n"_a);
  m.def(
      "serve_components",
      [](int all, int component) {
        const nb::gil_scoped_release unlocked;
        return static_cast<int>(MPI_Comm_c2f(shoal::serve_components(comm_of(all), component)));
      },
      "all"_a, "component"_a);
  m.def("stop_serving", &shoal::stop_serving, nb::call_guard<nb::gil_scoped_release>());
  m.def(
      "write_reference",
      [](const std::vector<nb::bytes>& paths, const nb::bytes& out) {
        shoal::write_reference(paths_of(paths), path_of(out));
      },
      "paths"_a, "out"_a);
  m.def(
      "write_master",
      [](const std::vector<nb::bytes>& paths, const nb::bytes& out) {
        shoal::write_master(paths_of(paths), path_of(out));
      },
      "paths"_a, "out"_a);
  m.def(
      "beside",
      [](const nb::bytes& path) {
        const std::string name = shoal::beside(path_of(path));
        return nb::bytes(name.data(), name.size());
      },
      "path"_a);
  m.def(
      "take_place",
      [](const nb::bytes& made, const nb::bytes& path) { shoal::take_place(path_of(made), path_of(path)); },
      "made"_a, "path"_a);
  m.def(
      "recover", [](const nb::bytes& path) { return shoal::recover(path_of(path)); }, "path"_a);
  m.def("error_name", [](int code) { return std::string(shoal_error_name(code)); });
  m.def("mpi_library", &mpi_library);
  m.def("mpi_is_running", &mpi_is_running);
  m.attr("VERSION_MAJOR") = SHOAL_VERSION_MAJOR;
  m.attr("VERSION_MINOR") = SHOAL_VERSION_MINOR;
  m.attr("VERSION_PATCH") = SHOAL_VERSION_PATCH;
  m.attr("VERSION_NUMBER") = SHOAL_VERSION_NUMBER;
  m.attr("MAX_DIMS") = SHOAL_MAX_DIMS;
  m.attr("UNLIMITED") = SHOAL_UNLIMITED;
  m.attr("SERVES") = SHOAL_SERVES;
  m.attr("NO_RECORD") = SHOAL_NO_RECORD;
  m.attr("ALL_RECORDS") = SHOAL_ALL_RECORDS;
  m.attr("NEXT") = SHOAL_NEXT;
  m.attr("VERB_WRITE") = static_cast<int>(SHOAL_CALL_WRITE);
  m.attr("VERB_READ") = static_cast<int>(SHOAL_CALL_READ);
  m.attr("VERB_PUT") = static_cast<int>(SHOAL_CALL_PUT);
  m.attr("VERB_GET") = static_cast<int>(SHOAL_CALL_GET);
  m.attr("VERB_WRITE_BOXES") = static_cast<int>(SHOAL_CALL_WRITE_BOXES);
  m.attr("VERB_READ_BOXES") = static_cast<int>(SHOAL_CALL_READ_BOXES);
  m.attr("READ") = static_cast<int>(SHOAL_READ);
  m.attr("WRITE") = static_cast<int>(SHOAL_WRITE);
  m.attr("APPEND") = static_cast<int>(SHOAL_APPEND);
  const std::pair<const char*, int> types[] = {
      {"BYTE", SHOAL_BYTE},      {"CHAR", SHOAL_CHAR},     {"SHORT", SHOAL_SHORT},   {"INT", SHOAL_INT},
      {"FLOAT", SHOAL_FLOAT},    {"DOUBLE", SHOAL_DOUBLE}, {"UBYTE", SHOAL_UBYTE},   {"USHORT", SHOAL_USHORT},
      {"UINT", SHOAL_UINT},      {"INT64", SHOAL_INT64},   {"UINT64", SHOAL_UINT64}, {"STRING", SHOAL_STRING},
      {"LOGICAL", SHOAL_LOGICAL}};
  for (const auto& [name, number] : types)
    m.attr(name) = number;
}
