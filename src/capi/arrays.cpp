// SPDX-License-Identifier: BSD-3-Clause
// Arrays and boxes of the caller.
#include <fmt/core.h>

#include "base/language.hpp"
#include "capi/handles.hpp"
#include "capi/structs.hpp"

namespace shoal::capi {

namespace {

BoxArgument box_of(const shoal_box& given) {
  const shoal_box box = taken(given, k_box_0_2, "shoal_box");
  if (box.ndims < 0 || box.ndims > k_max_dims)
    throw Error(Code::invalid_argument, "the box has {} dimensions; allowed are 0 to {}", box.ndims,
                k_max_dims);
  if (box.ndims > 0) {
    require(box.start, "start");
    require(box.count, "count");
  }
  const auto n = static_cast<std::size_t>(box.ndims);
  BoxArgument out{box.variable, Dims(std::span(box.start, n)), Dims(std::span(box.count, n)),
                  Dims(box.ndims, 1), argument_of(&box.array)};
  if (box.stride != nullptr) out.stride = Dims(std::span(box.stride, n));
  for (int d = 0; d < box.ndims; ++d) {
    if (out.start[d] < 0 || out.count[d] < 0)
      throw Error(Code::invalid_argument,
                  "the box starts at {} and counts {}; it must start at {} or more, and count 0 or more",
                  as_index(out.start[d]), out.count[d], as_index(0));
    if (out.stride[d] < 1)
      throw Error(Code::invalid_argument, "the stride of the box is {}; it must be 1 or more", out.stride[d]);
  }
  return out;
}

}  // namespace

CellArray array_of(const shoal_array* given) {
  require(given, "array");
  const shoal_array array = taken(*given, k_array_0_2, "shoal_array");
  ArrayView view;
  view.data = static_cast<std::byte*>(array.data);
  view.type = type_of(array.type);
  view.element_size = array.element_size == 0 ? size_of(view.type) : array.element_size;
  const std::size_t size = view.element_size;
  if (view.type == Type::logical ? size != 1 && size != 2 && size != 4 && size != 8
                                 : size != size_of(view.type))
    throw Error(Code::invalid_argument, "the array's element_size is {} bytes for type {}; allowed: {}", size,
                name_of(view.type),
                view.type == Type::logical ? "1, 2, 4 or 8" : std::to_string(size_of(view.type)));
  if (array.ndims < 0 || array.ndims > k_max_dims)
    throw Error(Code::invalid_argument, "the array has {} dimensions; allowed are 0 to {}", array.ndims,
                k_max_dims);
  if (array.ndims > 0) require(array.extents, "array.extents");
  const auto n = static_cast<std::size_t>(array.ndims);
  view.extents = Dims(std::span(array.extents, n));
  for (const auto extent : view.extents)
    if (extent < 0)
      throw Error(Code::invalid_argument, "the array has the extents {}; none may be negative",
                  text_of(view.extents));
  if (array.strides != nullptr) {
    view.strides = Dims(std::span(array.strides, n));
  } else {
    view.strides = row_major_strides(view.extents);
    for (auto& stride : view.strides)
      stride *= static_cast<int64_t>(size);
  }
  return CellArray::of_caller(view);
}

ArrayArgument argument_of(const shoal_array* array) {
  ArrayArgument out;
  out.problem = caught([&] { out.cells = array_of(array); });
  return out;
}

BoxesCall boxes_call_of(int n, const shoal_box* boxes) {
  BoxesCall call;
  call.problem = caught([&] {
    if (n < 0) throw Error(Code::invalid_argument, "the number of boxes is {}; it must be 0 or more", n);
    if (n > 0) require(boxes, "boxes");
    call.count = n;
  });
  // Each is as long as the caller's version has them, which taken() knows of the first.
  call.box = [n, boxes](int i) {
    const auto* const at = reinterpret_cast<const std::byte*>(boxes) + boxes->struct_size * std::size_t(i);
    const auto& box = *reinterpret_cast<const shoal_box*>(at);
    if (box.struct_size != boxes->struct_size)
      throw Error(Code::invalid_argument,
                  "struct_size of box {} is {}, and of the first one {}; all boxes "
                  "of a call have the same",
                  as_index(i), box.struct_size, boxes->struct_size);
    try {
      return box_of(box);
    } catch (const Error& error) {
      Status problem = error.status();
      if (n > 1) problem.message = fmt::format("box {}: {}", as_index(i), problem.message);
      throw Error(problem);
    }
  };
  return call;
}

std::vector<BoxArgument> boxes_of(int n, const shoal_box* boxes) {
  const BoxesCall call = boxes_call_of(n, boxes);
  if (!call.problem.ok()) throw Error(call.problem);
  std::vector<BoxArgument> out;
  out.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i)
    out.push_back(call.box(i));
  return out;
}

}  // namespace shoal::capi
