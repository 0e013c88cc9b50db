// SPDX-License-Identifier: BSD-3-Clause
#include "format/reference/reference.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <ostream>
#include <span>
#include <streambuf>
#include <utility>

#include "codec/convert.hpp"
#include "format/group_paths.hpp"
#include "format/reference/chunk_grid.hpp"
#include "format/reference/json.hpp"
#include "storage/below.hpp"
#include "storage/paths.hpp"

namespace shoal {

using namespace reference;  // NOLINT

namespace {

constexpr std::int64_t k_always_inline = 1024;     // bytes: a request for them takes longer than copying
constexpr std::int64_t k_may_inline = 256 * 1024;  // bytes of a variable that cannot be given by address

/// One key of the store: where its bytes are, or the bytes themselves.
struct Entry {
  std::string key;
  int file = -1;  ///< -1: inline
  std::uint64_t address = 0, bytes = 0;
  std::string text;
};

/// What is known of one variable after all files were looked at.
struct Array {
  std::vector<StoredPart> parts;
  std::vector<Placement> placements;  ///< [parts]
  std::optional<bool> swapped;
  bool inlined = false;
  std::string why_inlined;  ///< not just because it is small
  ChunkGrid grid;
  std::vector<Entry> entries;
  std::int64_t present = 0;      ///< chunks that have bytes
  std::optional<Bytes> missing;  ///< value of cells that no file has bytes for
  // Of one that is copied into the reference:
  std::vector<SetPiece> pieces;
  Bytes values;
  std::vector<std::string> strings;
};

class ReferenceWriter {
 public:
  ReferenceWriter(FileSet set, const FileSetOptions& options) : set_(std::move(set)), options_(options) {
    arrays_.resize(set_.schema.variables.size());
  }
  void run(std::ostream& out);

 private:
  template <class Visit>
  void for_each_file(Visit&& visit);
  const VariableDef& def(int v) const { return set_.schema.variable(v); }
  Array& array(int v) { return arrays_[v]; }
  void look(int file, Catalog& catalog);
  void choose_grids();
  void collect(int file, Catalog& catalog);
  void collect_blocks(int v, std::size_t part, Catalog& catalog, std::uint64_t file_size);
  void collect_pieces(int v, std::size_t part, Catalog& catalog, std::uint64_t file_size);
  void add(int v, const Dims& index, std::size_t part, std::uint64_t address, std::uint64_t bytes,
           const Box& cells, Catalog& catalog, std::uint64_t file_size);
  void note_missing(int v, std::size_t part, const Dims& cell, Catalog& catalog);
  void set_missing(int v, const Bytes& value);
  void prepare_inline(int v);
  void collect_inline(int v, int file, Catalog& catalog);
  void finish_inline(int v);
  std::string array_json(int v);
  std::string attributes_json(const std::vector<Attribute>& attributes, const std::vector<int>* dims) const;
  std::string codecs(int v, std::string& compressor) const;
  void make_folder();
  std::string path_of(int file) const;

  FileSet set_;
  const FileSetOptions& options_;
  Numbered<Array> arrays_;
  std::string folder_;  // of all files, with a slash at the end
  bool template_ = false;
};

std::int64_t bytes_of(const FileSet& set, int v) {
  return volume(set.schema.shape(v)) *
         static_cast<std::int64_t>(std::max<std::size_t>(size_of(set.schema.variable(v).type), 1));
}

std::string key_of(const std::string& name, const Dims& index) {
  std::string key;
  for (const auto i : index)
    key += (key.empty() ? "" : ".") + std::to_string(i);
  return name + "/" + (key.empty() ? "0" : key);
}

template <class Visit>
void ReferenceWriter::for_each_file(Visit&& visit) {
  for (std::size_t f = 0; f < set_.files.size(); ++f) {
    with_catalog_of(set_.files[f].path, options_,
                    [&](Catalog& catalog) { visit(static_cast<int>(f), catalog); });
  }
}

/// How the file stores its part of each variable.
void ReferenceWriter::look(int f, Catalog& catalog) {
  const SetFile& file = set_.files[f];
  for (int v = 0; v < static_cast<int>(arrays_.size()); ++v) {
    const int own = file.variables[v];
    const Box owned = set_.box_of(f, v);
    Array& a = array(v);
    const auto same_cells = [&](const StoredPart& p) { return p.owned == owned; };
    if (own < 0 || owned.empty()) continue;
    require_plain(def(v));
    // Files that hold the same cells of fewer dimensions: the first of them will do.
    if ((!set_.is_cut(v) && !a.parts.empty()) || std::any_of(a.parts.begin(), a.parts.end(), same_cells))
      continue;
    const VariableDef& definition = catalog.schema().variable(own);
    const Placement placement = catalog.placement(own);
    const int n = owned.rank();
    StoredPart part{f, owned, Dims(n), Dims(n), placement.chunk, definition.filters.empty()};
    for (int d = 0; d < n; ++d) {
      const int dim = def(v).dims[d];
      part.origin[d] = file.spans[dim].first - file.spans[dim].before;
      part.shape[d] = file.spans[dim].stored;
    }
    if (definition.filters != def(v).filters && !a.parts.empty())
      throw Error(Code::not_supported, "the variable is compressed otherwise than in another file of the set")
          .of_variable(def(v).name);
    set_.schema.variable(v).filters = definition.filters;
    if (a.swapped && *a.swapped != placement.swapped)
      throw Error(Code::not_supported, "the byte order is not that of another file of the set")
          .of_variable(def(v).name);
    a.swapped = placement.swapped;
    if (definition.type == Type::string)
      a.why_inlined = "it holds strings of any length";
    else if (placement.kind == Placement::Kind::library && definition.chunks.empty())
      a.why_inlined = "it is stored in a way that only HDF5 can read (compact, external, ...)";
    a.parts.push_back(part);
    a.placements.push_back(placement);
  }
}

void ReferenceWriter::choose_grids() {
  for (int v = 0; v < static_cast<int>(arrays_.size()); ++v) {
    Array& a = array(v);
    const std::int64_t bytes = bytes_of(set_, v);
    a.inlined = bytes <= k_always_inline || !a.why_inlined.empty();
    if (!a.inlined) {
      try {
        a.grid = chunk_grid_of(set_, v, a.parts);
      } catch (const Error&) {
        if (bytes > k_may_inline) throw;
        a.inlined = true;
      }
    }
    if (!a.inlined) continue;
    if (bytes > k_may_inline && def(v).type != Type::string)
      throw Error(Code::not_supported,
                  "no reference can be made: the variable has no addresses in the file, since " +
                      a.why_inlined + ", and its " + std::to_string(bytes) +
                      " bytes are too many to be copied into the reference")
          .of_variable(def(v).name)
          .in_file(set_.files.front().path);
    a.grid = {set_.schema.shape(v), true};
    for (auto& n : a.grid.chunk)
      n = std::max<std::int64_t>(n, 1);
    prepare_inline(v);
  }
}

void ReferenceWriter::collect(int f, Catalog& catalog) {
  const auto size = options_.open_store(set_.files[f].path, StoreMode::read)->size();
  for (int v = 0; v < static_cast<int>(arrays_.size()); ++v) {
    Array& a = array(v);
    if (a.inlined) collect_inline(v, f, catalog);
    for (std::size_t p = 0; !a.inlined && p < a.parts.size(); ++p) {
      if (a.parts[p].file != f) continue;
      if (a.grid.blocks_as_stored)
        collect_blocks(v, p, catalog, size);
      else
        collect_pieces(v, p, catalog, size);
    }
  }
}

/// The file's own blocks become chunks.
void ReferenceWriter::collect_blocks(int v, std::size_t p, Catalog& catalog, std::uint64_t file_size) {
  Array& a = array(v);
  const StoredPart& part = a.parts[p];
  const Placement& placement = a.placements[p];
  const int own = set_.files[part.file].variables[v];
  Box in_file = part.owned;
  for (int d = 0; d < in_file.rank(); ++d)
    in_file.first[d] -= part.origin[d];
  const Box blocks = chunks_of(in_file, part.chunk);
  const auto plain = static_cast<std::uint64_t>(volume(part.chunk)) * size_of(def(v).type);
  std::vector<StoredChunk> stored;
  if (placement.kind != Placement::Kind::regular) stored = catalog.stored_chunks(own, blocks);
  const Dims strides = row_major_strides(chunks_of(Box::whole(part.shape), part.chunk).count);
  std::size_t i = 0;
  for_each_index(blocks, [&](const Dims& block) {
    StoredChunk chunk;
    if (!stored.empty()) {
      chunk = stored[i++];
    } else if (placement.begin != k_unplaced) {
      std::int64_t number = 0;
      for (int d = 0; d < block.size(); ++d)
        number += block[d] * strides[d];
      chunk = {location_of(placement, number), plain, 0};
    }
    if (chunk.left_out != 0)
      throw Error(Code::not_supported,
                  "some chunks went through other filters than the rest; Zarr cannot say this")
          .of_variable(def(v).name);
    Dims index = block;
    const Box cells = cells_of_chunk(block, part.chunk);
    Box whole = cells;
    for (int d = 0; d < index.size(); ++d) {
      whole.first[d] += part.origin[d];
      index[d] = whole.first[d] / a.grid.chunk[d];
    }
    if (!chunk.address.is_placed())
      note_missing(v, p, cells.first, catalog);
    else
      add(v, index, p, chunk.address.offset, chunk.bytes, cells, catalog, file_size);
  });
}

/// Parts of the file's blocks become chunks.
void ReferenceWriter::collect_pieces(int v, std::size_t p, Catalog& catalog, std::uint64_t file_size) {
  Array& a = array(v);
  const StoredPart& part = a.parts[p];
  const Placement& placement = a.placements[p];
  const int own = set_.files[part.file].variables[v];
  const auto size = static_cast<std::uint64_t>(size_of(def(v).type));
  const Box all_blocks = chunks_of(Box::whole(part.shape), part.chunk);
  const Dims block_strides = row_major_strides(all_blocks.count);
  const Dims strides = row_major_strides(part.chunk);
  std::vector<Location> addresses;
  if (placement.kind != Placement::Kind::regular) addresses = catalog.find(own, all_blocks);
  for_each_index(chunks_of(part.owned, a.grid.chunk), [&](const Dims& index) {
    Box cells = cells_of_chunk(index, a.grid.chunk);
    std::uint64_t number = 0;
    std::uint64_t in_block = 0;
    for (int d = 0; d < index.size(); ++d) {
      cells.first[d] -= part.origin[d];
      number += static_cast<std::uint64_t>(cells.first[d] / part.chunk[d] * block_strides[d]);
      in_block += static_cast<std::uint64_t>(cells.first[d] % part.chunk[d] * strides[d]);
    }
    std::uint64_t address = placement.begin;
    if (!addresses.empty())
      address = addresses[static_cast<std::size_t>(number)].offset;
    else if (address != k_unplaced)
      address += number * placement.stride;
    if (address == k_unplaced)
      note_missing(v, p, cells.first, catalog);
    else
      add(v, index, p, address + in_block * size, static_cast<std::uint64_t>(volume(cells.count)) * size,
          cells, catalog, file_size);
  });
}

void ReferenceWriter::add(int v, const Dims& index, std::size_t p, std::uint64_t address, std::uint64_t bytes,
                          const Box& cells, Catalog& catalog, std::uint64_t file_size) {
  Array& a = array(v);
  ++a.present;
  Entry entry{key_of(def(v).name, index), a.parts[p].file, address, bytes, {}};
  if (address + bytes > file_size) {
    // The last record may end with the file, and reads as fill from there on.
    const int own = set_.files[entry.file].variables[v];
    Bytes values(static_cast<std::size_t>(bytes));
    catalog.get(own, cells, values.data());
    if (*a.swapped)
      swap_bytes(values.data(), size_of(def(v).type),
                 static_cast<std::int64_t>(bytes / size_of(def(v).type)));
    entry.file = -1;
    entry.text = "base64:" + base64(values.data(), values.size());
  }
  a.entries.push_back(std::move(entry));
}

void ReferenceWriter::set_missing(int v, const Bytes& value) {
  Array& a = array(v);
  if (a.missing && *a.missing != value)
    throw Error(
        Code::not_supported,
        "cells without bytes in a file read as different values in different files; Zarr has one fill value")
        .of_variable(def(v).name);
  a.missing = value;
}

void ReferenceWriter::note_missing(int v, std::size_t p, const Dims& cell, Catalog& catalog) {
  const StoredPart& part = array(v).parts[p];
  const int own = set_.files[part.file].variables[v];
  Bytes value(size_of(def(v).type));
  catalog.get(own, Box(cell, Dims(cell.size(), 1)), value.data());
  set_missing(v, value);
}

void ReferenceWriter::prepare_inline(int v) {
  Array& a = array(v);
  const Box all = Box::whole(set_.schema.shape(v));
  a.pieces = set_.pieces(v, all);
  if (def(v).type == Type::string) {
    a.strings.resize(static_cast<std::size_t>(all.cells()));
    return;
  }
  const Bytes fill = gap_value(def(v));
  a.values.resize(static_cast<std::size_t>(all.cells()) * fill.size());
  if (!all.empty())
    fill_box(a.values.data(), {static_cast<std::int64_t>(fill.size())}, {all.cells()}, fill.data(),
             fill.size());
}

void ReferenceWriter::collect_inline(int v, int file, Catalog& catalog) {
  Array& a = array(v);
  const Box all = Box::whole(set_.schema.shape(v));
  const bool text = def(v).type == Type::string;
  const std::size_t size = text ? 0 : size_of(def(v).type);
  for (const auto& piece : a.pieces) {
    if (piece.file != file) continue;
    Bytes part(static_cast<std::size_t>(piece.cells.cells()) * size);
    std::vector<std::string> strings;
    if (text)
      strings = catalog.get_strings(piece.variable, piece.in_file);
    else
      catalog.get(piece.variable, piece.in_file, part.data());
    std::size_t i = 0;
    for_each_index(piece.cells, [&](const Dims& index) {
      const auto at = static_cast<std::size_t>(position_in(index, all));
      if (text)
        a.strings[at] = strings[i];
      else
        std::copy_n(part.begin() + static_cast<std::ptrdiff_t>(i * size), size,
                    a.values.begin() + static_cast<std::ptrdiff_t>(at * size));
      ++i;
    });
  }
}

void ReferenceWriter::finish_inline(int v) {
  Array& a = array(v);
  const Box all = Box::whole(set_.schema.shape(v));
  if (all.empty()) return;
  Bytes& values = a.values;
  if (def(v).type == Type::string) {
    // numcodecs' vlen-utf8: how many, then each with its length in front, little-endian.
    const auto put = [&](std::uint64_t n) {
      for (unsigned byte = 0; byte < 4; ++byte)
        values.push_back(static_cast<std::byte>(n >> (8 * byte)));
    };
    put(a.strings.size());
    for (const auto& s : a.strings) {
      put(s.size());
      const auto* p = reinterpret_cast<const std::byte*>(s.data());
      values.insert(values.end(), p, p + s.size());
    }
  } else if (a.swapped.value_or(false)) {
    swap_bytes(values.data(), size_of(def(v).type), all.cells());
  }
  a.entries.push_back(
      {key_of(def(v).name, Dims(all.rank())), -1, 0, 0, "base64:" + base64(values.data(), values.size())});
  values = {};
}

std::string dtype_of(Type type, bool big) {
  const std::string order = size_of(type) == 1 ? "|" : big ? ">" : "<";
  switch (type) {
    case Type::string:
      return "|O";
    case Type::char_:
      return "|S1";
    case Type::float_:
    case Type::double_:
      return order + "f" + std::to_string(size_of(type));
    case Type::ubyte:
    case Type::ushort:
    case Type::uint:
    case Type::uint64:
      return order + "u" + std::to_string(size_of(type));
    default:
      return order + "i" + std::to_string(size_of(type));
  }
}

std::string ReferenceWriter::codecs(int v, std::string& compressor) const {
  const Array& a = arrays_[v];
  if (def(v).type == Type::string) return R"([{"id": "vlen-utf8"}])";
  if (a.inlined || def(v).filters.empty()) return "null";
  std::vector<std::string> all;
  bool checksum = false;
  for (const auto& step : def(v).filters) {
    const std::string filter = name_of(step);
    // The checksum makes chunks 4 bytes longer; Zarr shuffles whole elements only.
    if (filter == "shuffle" && checksum && 4 % size_of(def(v).type) != 0)
      throw Error(
          Code::not_supported,
          "no reference can be made: the filter fletcher32 comes before shuffle, which Zarr can read for "
          "types of up to 4 bytes only")
          .of_variable(def(v).name);
    checksum = checksum || filter == "fletcher32";
    if (filter == "shuffle")
      all.push_back(R"({"id": "shuffle", "elementsize": )" + std::to_string(size_of(def(v).type)) + "}");
    else if (filter == "deflate")
      all.emplace_back(R"({"id": "zlib", "level": 1})");
    else if (filter == "zstd")
      all.emplace_back(R"({"id": "zstd", "level": 1})");
    else if (filter == "bzip2")
      all.emplace_back(R"({"id": "bz2", "level": 1})");
    else if (filter == "fletcher32")
      all.emplace_back(R"({"id": "fletcher32"})");
    else
      throw Error(Code::not_supported, "no reference can be made: Zarr has no codec for the filter '" +
                                           filter + "'; there are shuffle, deflate, zstd, bzip2, fletcher32")
          .of_variable(def(v).name);
  }
  // The last one that makes bytes fewer is the compressor, as other writers have it.
  const int last = def(v).filters.back().id;
  if (last != Filter::shuffle && last != Filter::fletcher32) {
    compressor = all.back();
    all.pop_back();
  }
  if (all.empty()) return "null";
  std::string list;
  for (const auto& one : all)
    list += (list.empty() ? "" : ", ") + one;
  return "[" + list + "]";
}

std::string list_of(const Dims& numbers) {
  std::string list;
  for (const auto n : numbers)
    list += (list.empty() ? "" : ", ") + std::to_string(n);
  return "[" + list + "]";
}

std::string ReferenceWriter::array_json(int v) {
  Array& a = array(v);
  const VariableDef& definition = def(v);
  // Readers take the fill value for a mark of missing values, so it is there only if it must be.
  std::string fill = "null";
  const Attribute* marked = find_attribute(definition.attributes, "_FillValue");
  if (definition.type != Type::string && definition.type != Type::char_) {
    if (!a.inlined && set_.has_gaps[v]) set_missing(v, gap_value(definition));
    if (marked != nullptr && marked->type == definition.type && marked->count() == 1) {
      if (a.missing && *a.missing != marked->data)
        throw Error(Code::not_supported,
                    "no reference can be made: cells without bytes in the file do not read as the variable's "
                    "_FillValue; Zarr has one fill value")
            .of_variable(definition.name);
      fill = number(definition.type, marked->data.data(), true);
    } else if (a.missing) {
      fill = number(definition.type, a.missing->data(), true);
    }
  }
  const bool big = a.swapped.value_or(false) != machine_is_big_endian();
  std::string compressor = "null";
  const std::string filters = codecs(v, compressor);
  return R"({"zarr_format": 2, "shape": )" + list_of(set_.schema.shape(v)) + R"(, "chunks": )" +
         list_of(a.grid.chunk) + R"(, "dtype": )" + json_string(dtype_of(definition.type, big)) +
         R"(, "fill_value": )" + fill + R"(, "order": "C", "filters": )" + filters + R"(, "compressor": )" +
         compressor + "}";
}

std::string ReferenceWriter::attributes_json(const std::vector<Attribute>& attributes,
                                             const std::vector<int>* dims) const {
  std::string out = "{";
  for (const auto& attribute : attributes)
    if (attribute.name != "_FillValue")
      out += (out.size() > 1 ? ", " : "") + json_string(attribute.name) + ": " + json_value(attribute);
  if (dims != nullptr) {
    out += std::string(out.size() > 1 ? ", " : "") + R"("_ARRAY_DIMENSIONS": [)";
    for (std::size_t d = 0; d < dims->size(); ++d)
      out += (d > 0 ? ", " : "") + json_string(name_in_group(set_.schema.dim((*dims)[d]).name));
    out += "]";
  }
  return out + "}";
}

void ReferenceWriter::make_folder() {
  std::string common;
  bool braces = false;
  for (auto& file : set_.files) {
    file.path = normal_path(file.path);
    braces = braces || file.path.find_first_of("{}") != std::string::npos;
    if (common.empty()) common = folder_of(file.path);
    while (!is_below(file.path, common) && common != folder_of(common))
      common = folder_of(common);
  }
  folder_ = common;
  if (folder_.empty() || folder_.back() != '/') folder_ += '/';
  template_ = !braces;
}

std::string ReferenceWriter::path_of(int f) const {
  const std::string& path = set_.files[f].path;
  // Here the braces are wanted.
  return template_ ? "\"{{u}}" + json_string(path.substr(folder_.size())).substr(1) : json_string(path);
}

void ReferenceWriter::run(std::ostream& out) {
  for_each_file([&](int f, Catalog& catalog) { look(f, catalog); });
  choose_grids();
  for_each_file([&](int f, Catalog& catalog) { collect(f, catalog); });
  make_folder();
  out << "{\n\"version\": 1,\n";
  if (template_) out << "\"templates\": {\"u\": " << json_string(folder_) << "},\n";
  out << "\"refs\": {\n";
  // All metadata once more in one key: Zarr's own library lists nothing in groups of a reference without it,
  // and wants what is in a group side by side.
  std::map<std::string, std::string> all;
  const auto metadata = [&](const std::string& key, std::string json) {
    out << json_string(key) << ": " << json_string(json) << ",\n";
    all.emplace(key, std::move(json));
  };
  const auto group = [&](const std::string& path, const std::vector<Attribute>& attributes) {
    metadata(path_in(path, ".zgroup"), R"({"zarr_format": 2})");
    metadata(path_in(path, ".zattrs"), attributes_json(attributes, nullptr));
  };
  group("", set_.schema.attributes);
  for (const auto& one : set_.schema.groups)
    group(one.name, one.attributes);
  for (int v = 0; v < static_cast<int>(arrays_.size()); ++v) {
    in_context(set_.files.front().path, [&] {
      in_context_of_variable(def(v).name, [&] {
        if (array(v).inlined) finish_inline(v);
        const std::string& name = def(v).name;
        metadata(name + "/.zarray", array_json(v));
        metadata(name + "/.zattrs", attributes_json(def(v).attributes, &def(v).dims));
      });
    });
    for (const auto& entry : array(v).entries) {
      out << json_string(entry.key) << ": ";
      if (entry.file < 0)
        out << json_string(entry.text);
      else
        out << "[" << path_of(entry.file) << ", " << entry.address << ", " << entry.bytes << "]";
      out << ",\n";
    }
    array(v).entries = {};
  }
  std::string consolidated;
  for (const auto& [key, json] : all)
    consolidated += (consolidated.empty() ? "" : ", ") + json_string(key) + ": " + json;
  out << "\".zmetadata\": "
      << json_string(R"({"zarr_consolidated_format": 1, "metadata": {)" + consolidated + "}}") << "\n}\n}\n";
}

/// What is put into a stream goes to a store, piece by piece.
class StoreBuffer final : public std::streambuf {
 public:
  explicit StoreBuffer(Store& store) : store_(store) { setp(piece_.data(), piece_.data() + piece_.size()); }

 protected:
  int_type overflow(int_type c) override {
    sync();
    if (traits_type::eq_int_type(c, traits_type::eof())) return traits_type::not_eof(c);
    *pptr() = traits_type::to_char_type(c);
    pbump(1);
    return c;
  }
  int sync() override {
    const auto n = static_cast<std::size_t>(pptr() - pbase());
    store_.write(at_, std::as_bytes(std::span(piece_.data(), n)));
    at_ += n;
    setp(piece_.data(), piece_.data() + piece_.size());
    return 0;
  }

 private:
  Store& store_;
  std::uint64_t at_ = 0;
  std::vector<char> piece_ = std::vector<char>(std::size_t{1} << 20);
};

}  // namespace

void write_reference(const std::vector<std::string>& paths, const std::string& out,
                     const FileSetOptions& options) {
  FileSet set = set_of(sources_of(paths), options);
  write_whole(out, [&](const std::string& path) {
    try {
      const auto store = open_posix_store(path, StoreMode::create_exclusive);
      StoreBuffer buffer(*store);
      std::ostream file(&buffer);
      file.exceptions(std::ios::badbit);  // what the store throws is thrown on
      ReferenceWriter(std::move(set), options).run(file);
      file.flush();
      store->close();
    } catch (const Error& e) {
      if (e.status().file != path) throw;
      Status status = e.status();
      status.file = out;
      throw Error(std::move(status));
    }
  });
}

}  // namespace shoal
