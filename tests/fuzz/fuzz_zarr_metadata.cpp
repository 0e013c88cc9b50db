// SPDX-License-Identifier: BSD-3-Clause
// Metadata of Zarr: what is taken of version 3 is written, and read, the same again. The first byte says
// which document the rest is; of version 2 a line feed parts an array from its attributes.
#include "format/zarr/metadata.hpp"
#include "fuzz.hpp"

using namespace shoal;

namespace {

void take_root(const std::string& text) {
  bool consolidated = false;
  zarr::Hierarchy all = zarr::parse_root(text, "zarr.json", consolidated);
  zarr::settle_notes(all);
  std::string written;
  if (!fuzz::taken([&] { written = zarr::root_text(all); })) return;  // a name that is Shoal's
  const zarr::Hierarchy again = zarr::parse_root(written, "zarr.json", consolidated);
  fuzz::require(consolidated, "the metadata of all nodes are written");
  fuzz::require(again.arrays.size() == all.arrays.size(), "arrays are read as they were written");
  fuzz::require(zarr::root_text(again) == written, "metadata are read as they were written");
}

void take_node(const std::string& text) {
  zarr::Hierarchy all;
  zarr::parse_node(text, "ocean/temp", "zarr.json", all);
  zarr::settle_notes(all);
  for (const auto& [path, array] : all.arrays)
    fuzz::require(
        !array.refusal.empty() || (array.chunk.size() == array.shape.size() && volume(array.chunk) > 0),
        "an array that can be read has chunks");
}

void take_v2(const std::string& text) {
  const std::size_t line = text.find('\n');
  zarr::Hierarchy all;
  zarr::parse_array_v2(text.substr(0, line), line == std::string::npos ? "" : text.substr(line + 1), "temp",
                       ".zarray", all);
  zarr::settle_notes(all);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  fuzz::taken([&] {
    const std::string text = fuzz::text_of(data + 1, size - 1);
    switch (data[0]) {
      case 'n':
        return take_node(text);
      case '2':
        return take_v2(text);
      case 'c':
        return (void)zarr::parse_consolidated_v2(text, ".zmetadata");
      default:
        return take_root(text);
    }
  });
  return 0;
}
