// SPDX-License-Identifier: BSD-3-Clause
//
// What the files of the extension module share: Python's buffers, text and communicators.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <shoal/shoal.hpp>
#include <string>
#include <vector>

namespace shoal_python {

namespace nb = nanobind;

using Indices = std::vector<std::int64_t>;

/// Holds on to the memory of a Python object (a numpy array, mostly) while Shoal works on it.
class Buffer {
 public:
  Buffer(nb::handle object, bool writable) {
    const int flags = PyBUF_STRIDES | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw nb::python_error();
  }
  ~Buffer() { PyBuffer_Release(&view_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  /// type: SHOAL_*; the item size of the buffer must be that of the type.
  shoal::Array array(int type) const {
    const auto size = static_cast<std::size_t>(view_.itemsize);
    if (type != SHOAL_LOGICAL && size != size_of(type))
      throw shoal::Error(shoal::Code::type, "The array's items have " + std::to_string(size) +
                                                " bytes, its type " + std::to_string(size_of(type)) + ".");
    const Indices extents(view_.shape, view_.shape + view_.ndim);
    const Indices strides(view_.strides, view_.strides + view_.ndim);
    return shoal::Array(view_.buf, static_cast<shoal::Type>(type), size, extents, strides);
  }
  void* data() const { return view_.buf; }
  Py_ssize_t bytes() const { return view_.len; }
  bool contiguous() const { return PyBuffer_IsContiguous(&view_, 'C') != 0; }

  static std::size_t size_of(int type) {
    switch (type) {
      case SHOAL_BYTE:
      case SHOAL_CHAR:
      case SHOAL_UBYTE:
      case SHOAL_LOGICAL:
        return 1;
      case SHOAL_SHORT:
      case SHOAL_USHORT:
        return 2;
      case SHOAL_INT:
      case SHOAL_UINT:
      case SHOAL_FLOAT:
        return 4;
      default:
        return 8;
    }
  }

 private:
  Py_buffer view_{};
};

inline MPI_Comm comm_of(int fortran_handle) {
  return MPI_Comm_f2c(static_cast<MPI_Fint>(fortran_handle));
}

/// Text that is not UTF-8 comes through unchanged (surrogateescape), as file names do in Python.
inline nb::object text_object(const std::string& text) {
  return nb::steal(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"));
}

/// Paths come as bytes: names of files need not be text.
inline std::string path_of(const nb::bytes& path) {
  return {path.c_str(), path.size()};
}

/// So do strings of attributes.
inline std::vector<std::string> strings_of(const std::vector<nb::bytes>& values) {
  std::vector<std::string> strings;
  strings.reserve(values.size());
  for (const auto& value : values)
    strings.emplace_back(value.c_str(), value.size());
  return strings;
}

/// Numbers that a buffer has for an attribute of the type.
inline std::int64_t count_of(const Buffer& values, int type) {
  if (!values.contiguous())
    throw shoal::Error(shoal::Code::invalid_argument, "The values of an attribute must be contiguous.");
  return values.bytes() / static_cast<Py_ssize_t>(Buffer::size_of(type));
}

/// NULL for none: the library's name for the file, or for all files.
inline const char* owner_of(const std::string& name) {
  return name.empty() ? nullptr : shoal::detail::text(name);
}

/// What is made while it lives speaks in Python's terms in its messages.
class InPython {
 public:
  InPython() : before_(shoal_speak(SHOAL_SPEAK_PYTHON)) {}
  ~InPython() { shoal_speak(before_); }
  InPython(const InPython&) = delete;
  InPython& operator=(const InPython&) = delete;

 private:
  int before_;
};

/// Streams, in _streams.cpp.
void bind_streams(nb::module_& m);

}  // namespace shoal_python
