// SPDX-License-Identifier: BSD-3-Clause
#include "base/field_bytes.hpp"
#include "machine/fields.hpp"
#include "machine/figures.hpp"

namespace shoal {

namespace {

template <class Io>
struct WithoutKeys {
  Io& io;
  void operator()(const char* /*key*/, auto& value) { io(value); }
  void operator()(const char* /*key*/, const char* /*row*/, auto& table) {
    io(table.at, table.bytes_per_second);
  }
};

template <class Io, class Figures>
void visit_figures(Io& io, Figures& figures) {
  io(figures.path, figures.default_turns);
  visit_node(figures.node, WithoutKeys<Io>{io});
  visit_file_system(figures.file_system, WithoutKeys<Io>{io});
}

}  // namespace

void pack(ByteWriter& out, const std::optional<MachineFigures>& figures) {
  FieldWriter io(out);
  io(figures.has_value());
  if (figures) visit_figures(io, *figures);
}

std::optional<MachineFigures> unpack_machine_figures(ByteReader& in) {
  if (!in.get<bool>()) return std::nullopt;
  MachineFigures figures;
  FieldReader io(in);
  visit_figures(io, figures);
  return figures;
}

}  // namespace shoal
