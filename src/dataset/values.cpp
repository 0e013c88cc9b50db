// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/values.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/language.hpp"
#include "base/text.hpp"
#include "pack/cells.hpp"

namespace shoal {

namespace {

// Call visit with the place of each element, row-major.
template <class Visit>
void for_each_element(const ArrayView& view, Visit&& visit) {
  const std::int64_t n = volume(view.extents);
  for (std::int64_t i = 0; i < n; ++i) {
    const Dims index = unravel(i, view.extents);
    std::byte* at = view.data;
    for (int d = 0; d < index.size(); ++d)
      at += index[d] * view.strides[d];
    visit(i, at);
  }
}

}  // namespace

bool is_plain(const ArrayView& view, Type variable_type) {
  return view.type == variable_type && view.type != Type::string &&
         view.element_size == size_of(variable_type) &&
         view.strides == byte_strides(view.extents, view.element_size);
}

Bytes gather_values(const ArrayView& view, const VariableDef& variable, const Rounding* rounding,
                    ConversionErrors& conversion_errors) {
  const std::size_t size = size_of(variable.type);
  const Element stored{variable.type, size, false};
  const ConvertRun convert = find_conversion(CellArray(view).element(), stored).rounded(rounding, stored);
  Bytes values(static_cast<std::size_t>(volume(view.extents)) * size);
  const Bytes fill = fill_of(variable);
  if (!values.empty())
    conversion_errors = copy_box(view.data, view.strides, values.data(), byte_strides(view.extents, size),
                                 view.extents, convert, fill.data());
  return values;
}

void scatter_values(const std::byte* values, const VariableDef& variable, const ArrayView& view,
                    ConversionErrors& conversion_errors) {
  const std::size_t size = size_of(variable.type);
  const ConvertRun convert = find_conversion({variable.type, size, false}, CellArray(view).element());
  // A logical value that is not known is false; other types have a fill value.
  Bytes fill(view.element_size);
  if (view.type != Type::logical) std::memcpy(fill.data(), default_fill(view.type), fill.size());
  if (volume(view.extents) > 0)
    conversion_errors = copy_box(values, byte_strides(view.extents, size), view.data, view.strides,
                                 view.extents, convert, fill.data());
}

std::vector<std::string> gather_strings(const ArrayView& view) {
  std::vector<std::string> texts;
  for_each_element(view, [&](std::int64_t i, const std::byte* at) {
    const char* text = nullptr;
    std::memcpy(&text, at, sizeof text);
    if (text == nullptr)
      throw Error(Code::invalid_argument, "text [{}] of the array is NULL",
                  index_text(unravel(i, view.extents)));
    texts.emplace_back(text);
  });
  return texts;
}

void scatter_strings(const std::vector<std::string>& texts, const ArrayView& view) {
  std::vector<char*> copies;
  for (const auto& text : texts) {
    char* copy = strdup(text.c_str());
    if (copy == nullptr) {
      for (char* c : copies)
        std::free(c);
      throw std::bad_alloc();
    }
    copies.push_back(copy);
  }
  for_each_element(view, [&](std::int64_t i, std::byte* at) {
    std::memcpy(at, &copies[static_cast<std::size_t>(i)], sizeof(char*));
  });
}

Status conversion_status(const ConversionErrors& conversion_errors, const Box& box, Type from, Type to) {
  if (conversion_errors.count == 0) return {};
  Dims index = unravel(conversion_errors.first, box.count);
  for (int d = 0; d < index.size(); ++d)
    index[d] += box.first[d];
  const std::string which =
      conversion_errors.count == 1 ? "1 value does" : fmt::format("{} values do", conversion_errors.count);
  return {Code::range,
          fmt::format(
              "{} not fit from {} to {}, the first at index [{}] (counting {}); fill values stand in their "
              "place, all others were moved",
              which, name_of(from), name_of(to), index_text(index), counted_from())};
}

}  // namespace shoal
