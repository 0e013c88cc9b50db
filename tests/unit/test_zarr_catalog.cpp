// The catalog of Zarr: where chunks lie, and what readers see between commits.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "codec/filters.hpp"
#include "codec/shard_index.hpp"
#include "format/catalog.hpp"
#include "format/format_traits.hpp"
#include "format/placement.hpp"
#include "format/zarr/array_objects.hpp"
#include "storage/container.hpp"
#include "storage/object_ends.hpp"
#include "support/folder.hpp"

using namespace shoal;
using shoal::testing::Folder;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t k_ny = 6, k_nx = 10;  // of fields; chunks are 2 x 5, shards 4 x 10

std::unique_ptr<Catalog> made(const std::string& path, std::int64_t shard_bytes = 4 * 10 * 4) {
  CatalogOptions options;
  options.shard_bytes = shard_bytes;
  return create_catalog(Format::zarr, path, open_posix_store, StoreMode::create, options);
}

std::unique_ptr<Catalog> opened(const std::string& path, bool writable = false) {
  return open_catalog(path, open_posix_store, writable, {});
}

VariableDef field(const std::string& name, std::vector<int> dims, const std::string& compression) {
  VariableDef variable;
  variable.name = name;
  variable.type = Type::float_;
  variable.dims = Numbered<int>(std::move(dims));
  variable.distributed = true;
  variable.filters = filters_of(compression);
  variable.chunks =
      variable.dims.count() == 3 ? std::vector<std::int64_t>{1, 2, 5} : std::vector<std::int64_t>{2, 5};
  return variable;
}

Schema schema_of_fields(Catalog& catalog, const std::string& compression) {
  Schema schema = catalog.schema();
  schema.dims = {{"time", 0, true}, {"y", k_ny, false}, {"x", k_nx, false}};
  schema.variables.push_back(field("temp", {0, 1, 2}, compression));
  schema.variables.push_back(field("mask", {1, 2}, compression));
  return schema;
}

/// Stores a chunk as ranks do.
void store_chunk(Catalog& catalog, const std::string& path, int v, const Dims& chunk, float value) {
  const Placement where = catalog.placement(v);
  std::vector<float> cells(static_cast<std::size_t>(volume(where.chunk)), value);
  std::span<const std::byte> bytes = std::as_bytes(std::span(cells));
  const Box one(chunk, Dims(chunk.size(), 1));
  const Box cells_of = cells_of_chunk(chunk, where.chunk);
  const auto folder = folder_container(path, open_posix_store);
  const FormatTraits& traits = traits_of(Format::zarr);
  if (where.kind == Placement::Kind::listed) {
    std::vector<bool> fresh;
    const Location at = catalog.place(v, one, Box(chunk, Dims(chunk.size(), 0)), fresh).at(0);
    const auto store = folder->open(traits.object_name(&where, at.object), StoreMode::write_or_create);
    store->write(at.offset, bytes);
    store->close();
  } else {
    std::vector<ObjectEnds::Entry> entries(ObjectEnds::k_entries + 1);
    const ObjectEnds ends(entries.data());
    catalog.share_space({nullptr, ends});
    catalog.open_objects(v, one);
    ChunkCoder coder(catalog.schema().variable(v).filters, sizeof(float));
    const auto stored = coder.encode(bytes).bytes;
    const Location at = ends.take(object_of_chunk(v, where, chunk), stored.size());
    const auto store = folder->open(traits.object_name(&where, at.object), StoreMode::write_or_create);
    store->write(at.offset, stored);
    store->close();
    catalog.enter(v, {{chunk, {at, stored.size(), 0}}});
    catalog.share_space({});
  }
  if (where.chunk.size() == 3) catalog.grow(0, cells_of.end(0));
}

/// The value of the first cell of a chunk.
float value_at(Catalog& catalog, int v, const Dims& chunk) {
  const Placement where = catalog.placement(v);
  const Box cell(cells_of_chunk(chunk, where.chunk).first, Dims(chunk.size(), 1));
  float value = 0;
  catalog.get(v, cell, reinterpret_cast<std::byte*>(&value));
  return value;
}

float fill() {
  float value = 0;
  std::memcpy(&value, default_fill(Type::float_), sizeof value);
  return value;
}

std::vector<std::string> files_in(const std::string& path) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(path))
    if (entry.is_regular_file()) files.push_back(fs::relative(entry.path(), path).string());
  std::sort(files.begin(), files.end());
  return files;
}

const std::vector<std::string>& compressions() {
  static const std::vector<std::string> k_all{"none", "zstd:1"};
  return k_all;
}

}  // namespace

TEST_CASE("objects: numbers name the variable, the draft and the place") {
  const ObjectNumber number{77, 5, (std::uint64_t{1} << 36) - 1};
  const ObjectNumber back = ObjectNumber::of(number.number());
  CHECK(back.variable == 77);
  CHECK(back.draft == 5);
  CHECK(back.place == number.place);
  CHECK(ObjectNumber::of(0).variable == -1);
  Placement where;
  where.chunk = {1, 2, 5};
  where.objects.cells = {1, 4, 10};
  where.objects.count = {0, 2, 3};
  where.objects.folder = "temp";
  for (const Dims& index : {Dims{0, 0, 0}, Dims{7, 1, 2}, Dims{1000000, 1, 0}}) {
    const Dims chunk{index[0], 2 * index[1] + 1, 2 * index[2]};
    const std::uint64_t object = object_of_chunk(3, where, chunk);
    CHECK(ObjectNumber::of(object).variable == 3);
    CHECK(indices_of_object(where.objects, ObjectNumber::of(object).place) == index);
  }
}

TEST_CASE("objects: space is taken in those that are open, by whoever comes") {
  std::vector<ObjectEnds::Entry> entries(ObjectEnds::k_entries + 1);
  ObjectEnds ends(entries.data());
  for (std::uint64_t i = 1; i <= ObjectEnds::k_most; ++i)
    ends.open(i << 36U, i, 10 * i);
  ends.open(std::uint64_t{5} << 36U, 99, 99);  // it is open
  CHECK(ends.take(std::uint64_t{5} << 36U, 7) == Location{5, 50});
  CHECK(ends.take(std::uint64_t{5} << 36U, 1) == Location{5, 57});
  CHECK(ends.take(std::uint64_t{ObjectEnds::k_most} << 36U, 1).object == ObjectEnds::k_most);
  CHECK(caught([&] { ends.take(12345, 1); }).code == Code::internal);
  ends.clear();
  CHECK_FALSE(ends.is_open(std::uint64_t{5} << 36U));
}

TEST_CASE("zarr: an index of a shard is checked") {
  ShardIndex index(3);
  index[1] = {100, 20};
  Bytes bytes = stored_shard_index(index, true);
  CHECK(bytes.size() == 3 * 16 + 4);
  const ShardIndex back = shard_index_of(bytes, true);
  CHECK_FALSE(back[0].is_there());
  CHECK(back[1].offset == 100);
  CHECK(back[1].bytes == 20);
  bytes[3] ^= std::byte{1};
  CHECK(caught([&] { shard_index_of(bytes, true); }).code == Code::format);
}

TEST_CASE("zarr: readers see what was committed, and nothing of what was not") {
  for (const std::string& compression : compressions()) {
    CAPTURE(compression);
    const Folder folder;
    const std::string path = folder.file("his.zarr");
    const auto catalog = made(path);
    catalog->define(schema_of_fields(*catalog, compression));
    CHECK(caught([&] { opened(path); }).code == Code::format);  // never committed
    store_chunk(*catalog, path, 0, {0, 0, 0}, 1);
    store_chunk(*catalog, path, 1, {0, 0}, 5);
    catalog->commit(true);
    {
      const auto reader = opened(path);
      CHECK(reader->schema().dims[0].length == 1);
      CHECK(reader->schema().dims[0].unlimited);
      CHECK(value_at(*reader, 0, {0, 0, 0}) == 1);
      CHECK(value_at(*reader, 0, {0, 2, 1}) == fill());
      CHECK(value_at(*reader, 1, {0, 0}) == 5);
    }
    // A record more, another chunk of the shard that is there, and one that is written again.
    store_chunk(*catalog, path, 0, {1, 0, 1}, 2);
    store_chunk(*catalog, path, 1, {1, 1}, 6);
    if (compression != "none") store_chunk(*catalog, path, 1, {0, 0}, 7);
    {
      const auto reader = opened(path);
      CHECK(reader->schema().dims[0].length == 1);
      CHECK(value_at(*reader, 1, {1, 1}) == fill());
      CHECK(value_at(*reader, 1, {0, 0}) == 5);
    }
    CHECK(value_at(*catalog, 1, {1, 1}) == 6);
    CHECK(value_at(*catalog, 1, {2, 0}) == fill());
    catalog->commit(false);
    const auto reader = opened(path);
    CHECK(reader->schema().dims[0].length == 2);
    CHECK(value_at(*reader, 0, {0, 0, 0}) == 1);
    CHECK(value_at(*reader, 0, {1, 0, 1}) == 2);
    CHECK(value_at(*reader, 1, {1, 1}) == 6);
    CHECK(value_at(*reader, 1, {0, 0}) == (compression == "none" ? 5 : 7));
    for (const std::string& file : files_in(path))
      CHECK_MESSAGE(file.find(".drafts") == std::string::npos, file);
  }
}

TEST_CASE("zarr: a killed job's objects are no records, and go when the next one writes") {
  for (const std::string& compression : compressions()) {
    CAPTURE(compression);
    const Folder folder;
    const std::string path = folder.file("his.zarr");
    auto catalog = made(path);
    catalog->define(schema_of_fields(*catalog, compression));
    store_chunk(*catalog, path, 0, {0, 0, 0}, 1);
    store_chunk(*catalog, path, 1, {0, 0}, 5);
    catalog->commit(false);
    const auto committed = files_in(path);
    store_chunk(*catalog, path, 0, {1, 0, 0}, 2);
    store_chunk(*catalog, path, 0, {12, 1, 0}, 3);
    store_chunk(*catalog, path, 1, {1, 1}, 6);
    catalog.reset();
    CHECK(files_in(path).size() > committed.size());
    CHECK(value_at(*opened(path), 1, {1, 1}) == fill());
    const auto next = opened(path, true);
    CHECK(files_in(path) == committed);
    CHECK(next->schema().dims[0].length == 1);
    store_chunk(*next, path, 0, {1, 0, 0}, 4);
    next->commit(false);
    CHECK(value_at(*opened(path), 0, {1, 0, 0}) == 4);
    CHECK(value_at(*opened(path), 0, {1, 1, 0}) == fill());
  }
}

TEST_CASE("zarr: records that were lost are not committed") {
  const Folder folder;
  const std::string path = folder.file("his.zarr");
  const auto catalog = made(path);
  catalog->define(schema_of_fields(*catalog, "zstd:1"));
  store_chunk(*catalog, path, 0, {0, 0, 0}, 1);
  catalog->commit(false);
  store_chunk(*catalog, path, 0, {1, 0, 0}, 2);
  catalog->take_back(0, 1);
  store_chunk(*catalog, path, 0, {2, 0, 0}, 3);
  catalog->commit(false);
  const auto reader = opened(path);
  CHECK(reader->schema().dims[0].length == 3);
  CHECK(value_at(*reader, 0, {1, 0, 0}) == fill());
  CHECK(value_at(*reader, 0, {2, 0, 0}) == 3);
}

TEST_CASE("zarr: a variable gets another name with all that it has") {
  for (const std::string& compression : compressions()) {
    CAPTURE(compression);
    const Folder folder;
    const std::string path = folder.file("his.zarr");
    const auto catalog = made(path);
    catalog->define(schema_of_fields(*catalog, compression));
    store_chunk(*catalog, path, 0, {0, 0, 0}, 1);
    store_chunk(*catalog, path, 1, {0, 0}, 5);
    catalog->commit(false);
    Schema wanted = catalog->schema();
    wanted.changes = {{SchemaChange::Kind::rename_variable, 1, "mask", "land"}};
    wanted.variables[1].name = "land";
    catalog->define(wanted);
    store_chunk(*catalog, path, 1, {1, 0}, 6);
    CHECK(value_at(*opened(path), 1, {0, 0}) == 5);
    CHECK(opened(path)->schema().variables[1].name == "mask");
    catalog->commit(false);
    const auto reader = opened(path);
    CHECK(reader->schema().variables[1].name == "land");
    CHECK(value_at(*reader, 1, {0, 0}) == 5);
    CHECK(value_at(*reader, 1, {1, 0}) == 6);
    CHECK_FALSE(fs::exists(path + "/mask"));
    // The name is free again.
    wanted = catalog->schema();
    wanted.variables.push_back(field("mask", {1, 2}, compression));
    catalog->define(wanted);
    store_chunk(*catalog, path, 2, {0, 0}, 8);
    catalog->commit(false);
    CHECK(value_at(*opened(path), 2, {0, 0}) == 8);
  }
}

TEST_CASE("zarr: a shard that is damaged says so, and names the file") {
  const Folder folder;
  const std::string path = folder.file("his.zarr");
  const auto catalog = made(path);
  catalog->define(schema_of_fields(*catalog, "zstd:1"));
  store_chunk(*catalog, path, 1, {0, 0}, 5);
  catalog->commit(false);
  const std::string shard = path + "/mask/c/0/0";
  const auto flip = [&](std::streamoff at) {
    std::fstream file(shard, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(at);
    const char byte = static_cast<char>(file.get() ^ 1);
    file.seekp(at);
    file.put(byte);
  };
  const auto found = [&] { return caught([&] { value_at(*opened(path), 1, {0, 0}); }); };
  CHECK(found().ok());
  flip(0);
  CHECK(found().code == Code::format);
  CHECK(found().file == shard);
  flip(0);
  const auto size = static_cast<std::streamoff>(fs::file_size(shard));
  flip(size - 1);
  CHECK(found().code == Code::format);
  flip(size - 1);
  fs::resize_file(shard, static_cast<std::uintmax_t>(size - 3));
  CHECK(found().code == Code::format);
  fs::resize_file(shard, 10);
  CHECK(found().code == Code::format);
  fs::remove(shard);
  CHECK(value_at(*opened(path), 1, {0, 0}) == fill());
}

TEST_CASE("zarr: a new variable takes no folder of somebody else's, and that of a killed job") {
  const Folder folder;
  const std::string path = folder.file("his.zarr");
  auto catalog = made(path);
  catalog->define(schema_of_fields(*catalog, "zstd:1"));
  catalog->commit(false);
  const auto with = [&](Catalog& to, const std::string& name) {
    Schema wanted = to.schema();
    wanted.variables.push_back(field(name, {1, 2}, "zstd:1"));
    return caught([&] { to.define(wanted); });
  };
  fs::create_directories(path + "/theirs/c");
  std::ofstream(path + "/theirs/zarr.json") << "{}";
  const Status refused = with(*catalog, "theirs");
  CHECK(refused.code == Code::exists);
  CHECK(refused.variable == "theirs");
  CHECK(fs::exists(path + "/theirs/zarr.json"));
  Schema renamed = catalog->schema();
  renamed.changes = {{SchemaChange::Kind::rename_variable, 1, "mask", "theirs"}};
  renamed.variables[1].name = "theirs";
  CHECK(caught([&] { catalog->define(renamed); }).code == Code::exists);
  CHECK(with(*catalog, "late").ok());
  store_chunk(*catalog, path, 2, {0, 0}, 5);
  catalog.reset();  // killed
  CHECK(fs::exists(path + "/late/c/0/0"));
  catalog = opened(path, true);
  CHECK(with(*catalog, "late").ok());
  CHECK_FALSE(fs::exists(path + "/late/c/0/0"));
  store_chunk(*catalog, path, 2, {1, 0}, 6);
  catalog->commit(false);
  CHECK(value_at(*opened(path), 2, {0, 0}) == fill());
  CHECK(value_at(*opened(path), 2, {1, 0}) == 6);
  CHECK_FALSE(fs::exists(path + "/late/.drafts"));
}

TEST_CASE("zarr: what could not be stored is stored by the next commit, beside what there was") {
  const Folder folder;
  const std::string path = folder.file("his.zarr");
  std::string full;  // objects with this in their names cannot be made, once
  const StoreOpener open = [&](const std::string& at, StoreMode mode) {
    if (!full.empty() && mode != StoreMode::read && at.find(full) != std::string::npos) {
      full.clear();
      throw Error(Code::no_space, "no space is left").in_file(at);
    }
    return open_posix_store(at, mode);
  };
  const auto catalog = create_catalog(Format::zarr, path, open, StoreMode::create, {});
  Schema schema = catalog->schema();
  schema.dims = {{"time", 0, true}};
  VariableDef time;
  time.name = "time";
  time.type = Type::double_;
  time.dims = Numbered<int>(std::vector<int>{0});
  schema.variables.push_back(time);
  catalog->define(schema);
  const auto put = [&](std::int64_t record, double value) {
    catalog->put(0, Box(Dims{record}, Dims{1}), reinterpret_cast<const std::byte*>(&value));
  };
  put(0, 1);
  catalog->commit(false);
  put(1, 2);
  full = "/time/.drafts";
  CHECK(caught([&] { catalog->commit(false); }).code == Code::no_space);
  catalog->commit(false);
  std::vector<double> values(2);
  opened(path)->get(0, Box(Dims{0}, Dims{2}), reinterpret_cast<std::byte*>(values.data()));
  CHECK(values == std::vector<double>{1, 2});
  // The mark of a new variable's folder, too.
  Schema wanted = catalog->schema();
  time.name = "late";
  wanted.variables.push_back(time);
  full = "/late/.drafts";
  catalog->define(wanted);
  CHECK(full.empty());
  full = "/late/.drafts";
  CHECK(caught([&] { catalog->commit(false); }).code == Code::no_space);
  catalog->commit(false);
  CHECK(opened(path)->schema().variables.count() == 2);
}

TEST_CASE("zarr: a group that has another name leaves nothing of the old one") {
  const Folder folder;
  const std::string path = folder.file("his.zarr");
  const auto catalog = made(path);
  Schema schema = catalog->schema();
  schema.groups = {{"ocean", {}}};
  schema.dims = {{"y", k_ny, false}, {"x", k_nx, false}};
  schema.variables.push_back(field("ocean/mask", {0, 1}, "none"));
  catalog->define(schema);
  store_chunk(*catalog, path, 0, {0, 0}, 5);
  catalog->commit(false);
  CHECK(fs::exists(path + "/ocean/zarr.json"));
  Schema wanted = changed(catalog->schema(), {{SchemaChange::Kind::rename_group, 0, "ocean", "sea"}});
  wanted.changes = {{SchemaChange::Kind::rename_group, 0, "ocean", "sea"}};
  catalog->define(wanted);
  catalog->commit(false);
  CHECK(value_at(*opened(path), 0, {0, 0}) == 5);
  for (const std::string& file : files_in(path))
    CHECK_MESSAGE(!file.starts_with("ocean/"), file);
}

TEST_CASE("zarr: what is put many times to the same cells waits once, and leaves those beside it") {
  const Folder folder;
  const std::string path = folder.file("his.zarr");
  const auto catalog = made(path);
  Schema schema = schema_of_fields(*catalog, "none");
  schema.variables[1].distributed = false;
  catalog->define(schema);
  const auto put = [&](std::int64_t x, float value) {
    catalog->put(1, Box({0, x}, {1, 1}), reinterpret_cast<const std::byte*>(&value));
  };
  put(0, 1);
  catalog->commit(false);
  catalog->set_distributed(1);
  for (int i = 0; i < 1000; ++i)
    put(3, static_cast<float>(i));
  put(1, 7);
  // Another rank stores a cell beside them meanwhile.
  const Placement where = catalog->placement(1);
  const Location at = catalog->find(1, Box({0, 0}, {1, 1})).at(0);
  const float theirs = 8;
  const auto store = folder_container(path, open_posix_store)
                         ->open(traits_of(Format::zarr).object_name(&where, at.object), StoreMode::write);
  store->write(at.offset + 2 * sizeof(float), std::as_bytes(std::span(&theirs, 1)));
  store->close();
  catalog->commit(false);
  std::vector<float> row(5);
  opened(path)->get(1, Box({0, 0}, {1, 5}), reinterpret_cast<std::byte*>(row.data()));
  CHECK(row == std::vector<float>{1, 7, 8, 999, fill()});
}
