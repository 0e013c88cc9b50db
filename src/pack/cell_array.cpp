// SPDX-License-Identifier: BSD-3-Clause
#include "pack/cell_array.hpp"

namespace shoal {

CellArray CellArray::of_caller(const ArrayView& view) {
  return {view, find_access(view)};
}

CellArray CellArray::of_source(Type type, const Dims& extents, CellSource source, const Dims& first,
                               std::int64_t most_cells) {
  return {ArrayView::contiguous(nullptr, type, extents),
          std::make_shared<SourceCells>(std::move(source), first, most_cells)};
}

CellArray CellArray::of_elements(const Element& element, std::byte* cells, const Dims& extents) {
  return ArrayView{cells,         element.type, element.size, extents, byte_strides(extents, element.size),
                   element.packer};
}

CellArray CellArray::packed_by(const Packer* packer) const {
  CellArray out = *this;
  out.view_.packer = packer;
  return out;
}

bool CellArray::is_dense() const {
  const Dims strides = byte_strides(view_.extents, view_.element_size);
  for (int d = 0; d < strides.size(); ++d)
    if (view_.extents[d] > 1 && view_.strides[d] != strides[d]) return false;
  return view_.data != nullptr;
}

bool CellArray::lies_at(const std::byte* first, const Dims& strides) const {
  for (int d = 0; d < strides.size(); ++d)
    if (view_.extents[d] > 1 && view_.strides[d] != strides[d]) return false;
  return first != nullptr && host_cells() == first;
}

std::byte* CellArray::host_cells_as(Type type) const {
  return view_.type == type && view_.element_size == size_of(type) && is_dense() ? host_cells() : nullptr;
}

CellArray CellArray::without_cells() const {
  CellArray out = *this;
  out.view_.data = nullptr;
  out.access_ = nullptr;
  return out;
}

CellArray CellArray::with_leading_dim() const {
  CellArray out = *this;
  out.view_.extents = joined(Dims{1}, view_.extents);
  out.view_.strides = joined(Dims{0}, view_.strides);
  return out;
}

CellArray CellArray::at(std::int64_t index) const {
  CellArray out = *this;
  const int others = view_.extents.size() - 1;
  if (out.view_.data != nullptr) out.view_.data += index * view_.strides[0];
  out.view_.extents = tail(view_.extents, others);
  out.view_.strides = tail(view_.strides, others);
  return out;
}

CellArray CellArray::with_extents(const Dims& extents) const {
  CellArray out = *this;
  out.view_.extents = extents;
  out.view_.strides = byte_strides(extents, view_.element_size);
  return out;
}

void CellArray::copy_to(std::byte* to, const Dims& strides) const {
  gather(BlockCells{Box::whole(extents()), strides}, to, {find_conversion(element(), element()), nullptr});
}

void CellArray::copy_from(const std::byte* from, const Dims& strides) const {
  scatter(BlockCells{Box::whole(extents()), strides}, from, {find_conversion(element(), element()), nullptr});
}

HostArray::HostArray(const CellArray& array, Copy copy) : array_(array), view_(array.view_) {
  if (!array.has_cells() || array.host_cells() != nullptr) return;
  copy_.resize(bytes_of(Box::whole(view_.extents), view_.element_size));
  view_.data = copy_.data();
  view_.strides = byte_strides(view_.extents, view_.element_size);
  if (copy == Copy::fetched) array_.access_->fetch(array_.view_, Box::whole(view_.extents), copy_.data());
}

void HostArray::store() const {
  if (!copy_.empty()) array_.access_->store(array_.view_, Box::whole(view_.extents), copy_.data());
}

}  // namespace shoal
