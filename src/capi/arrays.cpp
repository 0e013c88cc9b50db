// SPDX-License-Identifier: BSD-3-Clause
// Arrays of the caller.
#include "capi/handles.hpp"
#include "capi/structs.hpp"

namespace shoal::capi {

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
    throw Error(Code::invalid_argument, "the array has {} dimensions; allowed are 0 to 8", array.ndims);
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

}  // namespace shoal::capi
