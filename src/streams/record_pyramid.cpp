// SPDX-License-Identifier: BSD-3-Clause
// Levels of a pyramid: coarser copies of the values of a record, each made of the one before it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "streams/nth.hpp"
#include "streams/record_file.hpp"

namespace shoal::streams {

void RecordFile::define_coarse_variables() {
  for (const CoarseVariable& variable : file_.coarse_variables) {
    if (has(variable.name)) continue;
    dataset_->def_var(variable.name, variable.type, variable.dims, variable.decomposition);
    for (const Attribute& attribute : variable.attributes)
      put_att(variable.name.c_str(), attribute);
  }
}

void RecordFile::add_coarse_variables(std::vector<Coordinate>& out) const {
  for (const CoarseVariable& variable : file_.coarse_variables)
    out.push_back({variable.name, variable.values, variable.extents, variable.decomposition});
}

std::vector<double> RecordFile::all_values(const Values& values) const {
  const Output& output = *values.output;
  if (output.reducer) return reduced(values);
  if (output.interpolation != nullptr) return interpolated(values);
  const std::int64_t cells = values.collector->part->cells();
  const int bins = std::max(1, output.operation.bins);
  std::vector<double> out(static_cast<std::size_t>(bins * cells));
  for (int bin = 0; bin < bins && cells > 0; ++bin)
    values_of(values, bin, 0, cells, out.data() + bin * cells);
  return out;
}

void RecordFile::write_coarser(const Values& values, std::int64_t record) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const Output& output = *values.output;
  const Pyramid& pyramid = nth(file_.pyramids, output.pyramid);
  const int grid_dims = pyramid.steps.front().shape().size();
  Dims outer;
  if (output.operation.bins > 0) outer.push_back(output.operation.bins);
  for (std::size_t d = 0; d + static_cast<std::size_t>(grid_dims) < output.dims.size(); ++d)
    outer.push_back(output.dims[d].chosen());
  const std::int64_t fields = volume(outer);
  const Encoding& encoding = encoding_of(output);
  WeightedValues level{all_values(values), {}};
  for (std::int64_t f = 0; f < fields; ++f)
    level.weights.insert(level.weights.end(), pyramid.weights.begin(), pyramid.weights.end());
  for (std::size_t i = 0; i < level.values.size(); ++i)
    if (is_same_number(level.values[i], encoding.packing ? none : encoding.fill)) level.weights[i] = 0;
  const auto& variables = nth(numbers_.coarser, &output - file_.outputs.data());
  for (std::size_t i = 0; i < output.coarser.size(); ++i) {
    const Coarsening& step = pyramid.steps[i];
    level = step.join(comm_, level, fields, Coarsening::Kind::mean);
    const Encoding& coarse = encoding_of(output.coarser[i]);
    std::vector<double> stored = level.values;
    for (std::size_t c = 0; c < stored.size(); ++c)
      if (!(level.weights[c] > 0)) stored[c] = coarse.packing ? none : coarse.fill;
    // What does not fit is counted where the fields themselves are packed.
    OutOfRange ignored;
    if (coarse.packing)
      packer_of(coarse, &ignored).pack(stored.data(), static_cast<std::int64_t>(stored.size()));
    const Dims extents = joined(outer, step.local_shape());
    write_array(nth(variables, i), step.decomposition(),
                ArrayView::contiguous(stored.data(), Type::double_, extents), record);
  }
}

}  // namespace shoal::streams
