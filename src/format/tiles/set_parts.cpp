// SPDX-License-Identifier: BSD-3-Clause
// What a set of files that was worked out says of its parts.
#include <algorithm>

#include "base/field_bytes.hpp"
#include "format/tiles/file_set.hpp"

namespace shoal {

const char* name_of(SetStyle style) {
  switch (style) {
    case SetStyle::fms:
      return "FMS";
    case SetStyle::roms:
      return "ROMS";
    case SetStyle::nemo:
      break;
  }
  return "NEMO";
}

Bytes gap_value(const VariableDef& variable) {
  if (find_attribute(variable.attributes, k_fill_name) == nullptr) {
    const Attribute* missing = find_attribute(variable.attributes, "missing_value");
    if (missing != nullptr && missing->type == variable.type && variable.type != Type::string &&
        missing->data.size() >= size_of(variable.type))
      return {missing->data.begin(),
              missing->data.begin() + static_cast<std::ptrdiff_t>(size_of(variable.type))};
  }
  return fill_of(variable);
}

bool FileSet::is_cut(int variable) const {
  const auto& dims = schema.variable(variable).dims;
  return std::any_of(dims.begin(), dims.end(), [&](int d) { return cut[d]; });
}

Box FileSet::box_of(int file, int variable) const {
  const auto& dims = schema.variable(variable).dims;
  const SetFile& in = files[file];
  const auto n = static_cast<int>(dims.size());
  Box box{Dims(n), Dims(n)};
  if (in.variables[variable] < 0) {
    if (n == 0) return {Dims(1), Dims(1)};  // a box of no dimensions would have one cell
    return box;
  }
  for (int d = 0; d < n; ++d) {
    const Span& span = in.spans[dims[d]];
    box.first[d] = span.first;
    box.count[d] = span.count;
  }
  return box;
}

std::vector<SetPiece> FileSet::pieces(int variable, const Box& region) const {
  const auto& dims = schema.variable(variable).dims;
  const bool one_file = !is_cut(variable);
  std::vector<SetPiece> out;
  if (region.empty()) return out;
  for (std::size_t f = 0; f < files.size(); ++f) {
    if (files[f].variables[variable] < 0) continue;
    const Box cells = intersection(box_of(static_cast<int>(f), variable), region);
    if (cells.empty()) continue;
    // The first with the most of it: files may have fewer records than the set.
    if (one_file && !out.empty() && cells.cells() <= out.front().cells.cells()) continue;
    if (one_file) out.clear();
    if (std::any_of(out.begin(), out.end(), [&](const SetPiece& p) { return p.cells == cells; })) continue;
    Box in_file = cells;
    for (int d = 0; d < cells.rank(); ++d) {
      const Span& span = files[f].spans[dims[d]];
      in_file.first[d] += span.before - span.first;
    }
    out.push_back({static_cast<int>(f), cells, in_file, files[f].variables[variable]});
    if (one_file && cells == region) break;
  }
  return out;
}

namespace {

// All but the schema.
template <class Io, class AnySet>
void visit_set(Io& io, AnySet& set) {
  io(set.style, set.cut, set.has_gaps, set.warnings);
  io.each(set.files, [](auto& to, auto& file) { to(file.path, file.number, file.spans, file.variables); });
}

}  // namespace

void pack(ByteWriter& out, const FileSet& set) {
  pack(out, set.schema);
  FieldWriter io(out);
  visit_set(io, set);
}

FileSet unpack_file_set(ByteReader& in) {
  FileSet set;
  set.schema = unpack_schema(in);
  FieldReader io(in);
  visit_set(io, set);
  return set;
}

}  // namespace shoal
