// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/boxes/box_arrays.hpp"

#include <utility>

#include "dataset/values.hpp"

namespace shoal {

namespace {

std::size_t cells_in(const Dims& extents) {
  return static_cast<std::size_t>(volume(extents));
}

}  // namespace

BoxArrays::BoxArrays(const VariableDef& variable, std::vector<CellArray> boxes, const Box& section,
                     const Decomposition& cut)
    : variable_(variable), boxes_(std::move(boxes)), lead_(section.rank() - cut.rank()) {
  if (boxes_.empty()) return;
  if (cut.map() == nullptr) {
    array_ = boxes_.front();
    return;
  }
  const Dims uncut = tail(section.count, cut.uncut_dims());
  inner_ = volume(uncut);
  shape_ = Dims(std::span(section.count.begin(), section.count.begin() + lead_));
  shape_.push_back(cut.map()->local_cells());
  shape_ = joined(shape_, uncut);
  if (boxes_.size() == 1 && boxes_.front().is_dense()) {
    array_ = boxes_.front().with_extents(shape_);
    return;
  }
  element_ = boxes_.front().element();
  for (const auto& box : boxes_)
    if (!(box.element() == element_)) element_ = {variable.type, size_of(variable.type), false};
  if (lie_as_copied()) {
    array_ = CellArray::of_elements(element_, boxes_.front().host_cells(), shape_);
    return;
  }
  copy_.resize(cells_in(shape_) * element_.size);
  array_ = CellArray::of_elements(element_, copy_.data(), shape_);
}

// work(box, its first cell in a copy that begins there, strides there in the box's dimensions).
template <class Work>
void BoxArrays::for_each_copied(std::byte* copy, Work&& work) const {
  const auto row = inner_ * static_cast<std::int64_t>(element_.size);
  const Dims strides_of_copy = byte_strides(shape_, element_.size);
  std::int64_t at = 0;  // in the list
  for (const auto& box : boxes_) {
    const Dims& extents = box.extents();
    Dims strides = byte_strides(extents, element_.size);
    std::copy_n(strides_of_copy.begin(), lead_, strides.begin());
    work(box, copy + at * row, strides);
    at += volume(tail(extents, extents.size() - lead_)) / inner_;
  }
}

// Lie the boxes as in a copy, so that none is needed?
bool BoxArrays::lie_as_copied() const {
  std::byte* const first = boxes_.front().host_cells();
  if (first == nullptr) return false;
  bool so = true;
  for_each_copied(first, [&](const CellArray& box, const std::byte* at, const Dims& strides) {
    so = so && box.element() == element_ && box.lies_at(at, strides);
  });
  return so;
}

void BoxArrays::gather(ConversionErrors& errors) {
  if (copy_.empty()) return;
  for_each_copied(copy_.data(), [&](const CellArray& box, std::byte* to, const Dims& strides) {
    if (box.element() == element_) return box.copy_to(to, strides);
    const HostArray on_host(box);
    Bytes values = gather_values(on_host.view(), variable_, nullptr, errors);
    CellArray(ArrayView::contiguous(values.data(), variable_.type, box.extents())).copy_to(to, strides);
  });
}

void BoxArrays::scatter(ConversionErrors& errors) {
  if (copy_.empty()) return;
  for_each_copied(copy_.data(), [&](const CellArray& box, std::byte* from, const Dims& strides) {
    if (box.element() == element_) return box.copy_from(from, strides);
    Bytes values(cells_in(box.extents()) * element_.size);
    CellArray(ArrayView::contiguous(values.data(), variable_.type, box.extents())).copy_from(from, strides);
    const HostArray on_host(box, HostArray::Copy::empty);
    scatter_values(values.data(), variable_, on_host.view(), errors);
    on_host.store();
  });
}

}  // namespace shoal
