// SPDX-License-Identifier: BSD-3-Clause
// A set of files whose headers say anything of how it was cut: dimensions, and the attributes of the
// conventions, out of the input's bytes.
#include "format/catalog.hpp"
#include "format/classic/header.hpp"
#include "format/tiles/file_set.hpp"
#include "fuzz.hpp"
#include "unit/memory_store.hpp"

using namespace shoal;

namespace {

/// The bytes of the input, one after the other; zeros at its end.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  int byte() { return at_ < size_ ? data_[at_++] : 0; }
  bool empty() const { return at_ >= size_; }
  /// Mostly small, now and then anything.
  std::int32_t number() {
    const int first = byte();
    if (first < 240) return first % 16 - 1;
    std::uint32_t all = 0;
    for (int i = 0; i < 4; ++i)
      all = all << 8 | static_cast<std::uint32_t>(byte());
    return static_cast<std::int32_t>(all);
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_, at_ = 0;
};

constexpr const char* k_names[] = {"x", "y", "time", "xi_rho", "xi_u", "eta_rho", "eta_v", "lon"};
constexpr const char* k_attributes[] = {
    "domain_decomposition", "NumFilesInSet",         "DOMAIN_dimensions_ids", "DOMAIN_size_global",
    "DOMAIN_size_local",    "DOMAIN_position_first", "DOMAIN_position_last",  "DOMAIN_halo_size_start",
    "DOMAIN_halo_size_end", "DOMAIN_number",         "DOMAIN_number_total",   "partition"};

Attribute attribute_of(Input& in) {
  const char* name = k_attributes[static_cast<std::size_t>(in.byte()) % std::size(k_attributes)];
  const int count = in.byte() % 5;
  if (in.byte() % 8 == 0) {
    std::vector<double> values;
    for (int i = 0; i < count; ++i)
      values.push_back(in.byte() % 8 == 0 ? 1e300 * in.number() : in.number());
    return Attribute::numbers(name, Type::double_, values.data(), count);
  }
  std::vector<std::int32_t> values;
  for (int i = 0; i < count; ++i)
    values.push_back(in.number());
  return Attribute::numbers(name, Type::int_, values.data(), count);
}

Bytes file_of(Input& in) {
  Schema schema;
  schema.format = Format::cdf5;
  const int dims = 1 + in.byte() % 3;
  for (int d = 0; d < dims; ++d) {
    const std::string name = k_names[static_cast<std::size_t>(in.byte()) % std::size(k_names)];
    if (schema.find_dim(name) < 0) schema.dims.push_back({name, 1 + in.byte() % 6, false});
  }
  for (int n = in.byte() % 10; n > 0; --n)
    schema.attributes.push_back(attribute_of(in));
  for (int v = 0; v < static_cast<int>(schema.dims.size()); ++v) {
    VariableDef def;
    def.name = in.byte() % 8 == 0 ? "v" + std::to_string(v) : schema.dim(v).name;
    def.type = Type::int_;
    def.dims = {v};
    for (int n = in.byte() % 3; n > 0; --n)
      def.attributes.push_back(attribute_of(in));
    schema.variables.push_back(def);
  }
  VariableDef field;
  field.name = "field";
  field.type = Type::float_;
  for (int d = 0; d < static_cast<int>(schema.dims.size()); ++d)
    field.dims.push_back(d);
  schema.variables.push_back(field);
  const std::vector<std::int64_t> zeros(schema.variables.size(), 0);
  std::vector<std::int64_t> slabs(schema.variables.size(), 4096);
  Bytes bytes = encode_header(schema, zeros, slabs);
  std::vector<std::int64_t> begins;
  for (std::size_t v = 0; v < schema.variables.size(); ++v)
    begins.push_back(static_cast<std::int64_t>(bytes.size() + 4096 * v));
  bytes = encode_header(schema, begins, slabs);
  bytes.resize(bytes.size() + 4096 * schema.variables.size());
  return bytes;
}

void look_at(const FileSet& set) {
  for (int v = 0; v < static_cast<int>(set.schema.variables.size()); ++v) {
    const Dims shape = set.schema.shape(v);
    std::int64_t cells = 0;
    for (const auto& piece : set.pieces(v, Box::whole(shape))) {
      fuzz::require(Box::whole(shape).contains(piece.cells), "a piece lies in the whole");
      fuzz::require(piece.cells.count == piece.in_file.count, "a piece is as large in its file");
      cells += piece.cells.cells();
    }
    fuzz::require(cells > 0 || set.has_gaps[static_cast<std::size_t>(v)] || volume(shape) == 0,
                  "cells are in a file, or reported as missing");
  }
  ByteWriter out;
  pack(out, set);
  const Bytes packed = out.take();
  ByteReader in(packed);
  fuzz::require(unpack_file_set(in).files.size() == set.files.size(), "a set is unpacked as it was packed");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in(data, size);
  std::vector<std::shared_ptr<test::MemoryFile>> files;
  std::vector<std::string> paths;
  const int count = 1 + in.byte() % 4;
  FileSetOptions options;
  constexpr MissingTiles k_missing[] = {MissingTiles::refuse, MissingTiles::common, MissingTiles::fill};
  options.missing = k_missing[in.byte() % 3];
  if (!fuzz::taken([&] {
        for (int f = 0; f < count; ++f) {
          files.push_back(std::make_shared<test::MemoryFile>());
          files.back()->content = file_of(in);
          paths.push_back("out.nc.000" + std::to_string(f));
        }
      }))
    return 0;
  options.open_store = [&](const std::string& path, StoreMode) -> std::unique_ptr<Store> {
    const auto f = static_cast<std::size_t>(path.back() - '0');
    return std::make_unique<test::MemoryStore>(files.at(f));
  };
  fuzz::taken([&] { look_at(open_file_set(paths, options)); });
  return 0;
}
