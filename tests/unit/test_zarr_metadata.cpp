// SPDX-License-Identifier: BSD-3-Clause
// Metadata of Zarr: what Shoal writes it reads again, as it was; and what damaged documents give.
#include <cmath>
#include <cstring>
#include <limits>

#include "codec/blosc.hpp"
#include "zarr_documents.hpp"

using namespace shoal;
using namespace shoal::zarr;
using namespace shoal::test;

namespace {

ArrayMetadata array_of(Type type, std::vector<std::string> dims, Dims shape, Dims chunk, Dims object) {
  ArrayMetadata array;
  array.type = type;
  array.element = type == Type::string ? 0 : size_of(type);
  array.stored_as = type == Type::string  ? StoredAs::texts
                    : type == Type::char_ ? StoredAs::characters
                                          : StoredAs::numbers;
  array.dims = std::move(dims);
  array.shape = shape;
  array.chunk = chunk;
  array.object = object;
  array.sharded = !(chunk == object);
  return array;
}
ArrayMetadata array_of(Type type, std::vector<std::string> dims, Dims shape) {
  return array_of(type, std::move(dims), shape, shape, shape);
}

Hierarchy example() {
  Hierarchy all;
  all.dims = {{"time", 2, true}, {"y", 4}, {"x", 6}, {"ocean/x", 3}, {"nobody", 9}};
  all.root.attributes = {Attribute::text("title", "Zürich"), numbers<float>("tenth", Type::float_, {0.1F})};
  ArrayMetadata temp = array_of(Type::short_, {"time", "y", "x"}, {2, 4, 6}, {1, 2, 3}, {1, 4, 6});
  temp.filters = {*blosc_filter("zstd", 5, "shuffle"), {Filter::crc32c}};
  temp.attributes = {numbers<float>("scale_factor", Type::float_, {0.01F}),
                     numbers<std::int16_t>("_FillValue", Type::short_, {-999}),
                     Attribute::text("units", "degC")};
  all.arrays.emplace_back("temp", temp);
  all.groups.emplace_back("ocean", GroupMetadata{});
  all.groups.emplace_back("ocean/deep", GroupMetadata{});
  all.groups.emplace_back("ice", GroupMetadata{});
  all.groups[1].second.attributes = {numbers<std::uint8_t>("level", Type::ubyte, {3})};
  all.arrays.emplace_back("ocean/deep/q", array_of(Type::uint64, {"y", "ocean/x"}, {4, 3}));
  all.arrays.emplace_back("ice/w", array_of(Type::char_, {"y"}, {4}));
  all.arrays.emplace_back("ocean/r", array_of(Type::ubyte, {"x"}, {6}));  // the root's x
  all.arrays.emplace_back("ocean/deep/words", array_of(Type::string, {"y"}, {4}));
  ArrayMetadata crs = array_of(Type::int_, {}, {});
  crs.no_fill = true;
  all.arrays.emplace_back("crs", crs);
  return all;
}

}  // namespace

TEST_CASE("zarr metadata: a hierarchy is read as it was written") {
  const Hierarchy all = example();
  const std::string text = root_text(all);
  const Hierarchy read = read_root(text);
  CHECK(read.noted);
  CHECK(root_text(read) == text);
  check_same(read.root.attributes, all.root.attributes);
  REQUIRE(read.dims.size() == all.dims.size());
  for (std::size_t i = 0; i < all.dims.size(); ++i) {
    CHECK(read.dims[i].name == all.dims[i].name);
    CHECK(read.dims[i].length == all.dims[i].length);
    CHECK(read.dims[i].unlimited == all.dims[i].unlimited);
  }
  REQUIRE(read.groups.size() == all.groups.size());
  for (std::size_t i = 0; i < all.groups.size(); ++i) {
    CHECK(read.groups[i].first == all.groups[i].first);
    check_same(read.groups[i].second.attributes, all.groups[i].second.attributes);
  }
  REQUIRE(read.arrays.size() == all.arrays.size());
  for (std::size_t i = 0; i < all.arrays.size(); ++i) {
    const auto& [path, want] = all.arrays[i];
    const auto& [read_path, have] = read.arrays[i];
    CAPTURE(path);
    CHECK(read_path == path);
    CHECK(have.refusal.empty());
    CHECK(have.type == want.type);
    CHECK(have.stored_as == want.stored_as);
    CHECK(have.element == want.element);
    CHECK(have.shape == want.shape);
    CHECK(have.chunk == want.chunk);
    CHECK(have.object == want.object);
    CHECK(have.sharded == want.sharded);
    if (want.sharded) CHECK(have.index_at_start == want.index_at_start);
    CHECK(have.filters == want.filters);
    CHECK(have.dims == want.dims);
    CHECK(have.no_fill == want.no_fill);
    check_same(have.attributes, want.attributes);
  }
}

TEST_CASE("zarr metadata: nodes by themselves are those of the consolidated metadata") {
  const Hierarchy all = example();
  bool consolidated = true;
  std::string text = root_text(all);
  // The root as zarr-python leaves it when a group is added without consolidating.
  text.replace(text.find("\"consolidated_metadata\""), 23, "\"other\"");
  Hierarchy read = parse_root(text, "zarr.json", consolidated);
  CHECK_FALSE(consolidated);
  CHECK(read.arrays.empty());
  for (auto node = all.arrays.rbegin(); node != all.arrays.rend(); ++node)
    parse_node(text_of(node->second), node->first, node->first + "/zarr.json", read);
  for (const auto& [path, group] : all.groups)
    parse_node(text_of(group), path, path + "/zarr.json", read);
  settle_notes(read);
  CHECK(root_text(read) == root_text(all));
}

TEST_CASE("zarr metadata: attributes keep their types") {
  constexpr double k_nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double k_infinity = std::numeric_limits<double>::infinity();
  const std::vector<Attribute> attributes = {
      Attribute::text("text", "Übergang\n\"x\""),
      Attribute::text("empty", ""),
      Attribute::text("zeros", std::string("ab\0\0", 4)),
      Attribute::text("only_zeros", std::string("\0\0", 2)),
      Attribute::text("latin", "\xE4 \xFF"),
      Attribute::text("latin_zeros", std::string("\xE4\0", 2)),
      Attribute::text("nan_as_text", "NaN"),
      Attribute::text("zero_and_nan", std::string("\0NaN", 4)),
      strings("one_string", {"a"}),
      strings("strings", {"a", "", "ö"}),
      strings("no_strings", {}),
      strings("latin_strings", {"a", "\xE4"}),
      numbers<std::int8_t>("byte", Type::byte_, {-128, 127}),
      numbers<std::int16_t>("short", Type::short_, {-32768}),
      numbers<std::int32_t>("int", Type::int_, {std::numeric_limits<std::int32_t>::min(), 7}),
      numbers<std::int64_t>("int64", Type::int64, {std::numeric_limits<std::int64_t>::min()}),
      numbers<std::int64_t>("small_int64", Type::int64, {1, 2}),
      numbers<std::uint8_t>("ubyte", Type::ubyte, {255}),
      numbers<std::uint16_t>("ushort", Type::ushort, {65535}),
      numbers<std::uint32_t>("uint", Type::uint, {4294967295U}),
      numbers<std::uint64_t>("uint64", Type::uint64, {std::numeric_limits<std::uint64_t>::max()}),
      numbers<float>("float", Type::float_, {0.1F, std::numeric_limits<float>::denorm_min(), 3.4028235e38F}),
      numbers<float>("float_infinity", Type::float_, {-std::numeric_limits<float>::infinity()}),
      numbers<double>("double", Type::double_, {0.1, 1.0 / 3, 5e-324, 1.7976931348623157e308, 1e23}),
      numbers<double>("whole_double", Type::double_, {3.0}),
      numbers<double>("minus_zero", Type::double_, {-0.0}),
      numbers<double>("special", Type::double_, {k_nan, k_infinity, -k_infinity}),
      numbers<double>("nothing", Type::double_, {}),
      numbers<std::int16_t>("no_shorts", Type::short_, {}),
  };
  Hierarchy all;
  all.root.attributes = attributes;
  all.groups.emplace_back("g", GroupMetadata{});
  all.groups[0].second.attributes = attributes;
  ArrayMetadata array = array_of(Type::float_, {}, {});
  array.attributes = attributes;
  all.arrays.emplace_back("v", array);
  const Hierarchy read = read_root(root_text(all));
  check_same(read.root.attributes, attributes);
  check_same(read.groups.at(0).second.attributes, attributes);
  check_same(read.arrays.at(0).second.attributes, attributes);

  all.root.attributes = {Attribute::text("_nc_shoal", "x")};
  CHECK(has(error_of([&] { (void)root_text(all); }, Code::invalid_argument), "_nc_shoal"));
}

TEST_CASE("zarr metadata: notes are hints") {
  const auto with = [](const std::string& notes, const std::string& attributes) {
    return read_root(fmt::format(R"({{"zarr_format": 3, "node_type": "group", "consolidated_metadata":
        {{"kind": "inline", "must_understand": false, "metadata": {{"a": {}}}}},
        "attributes": {{{}"_nc_shoal": {}}}}})",
                                 document(), attributes, notes));
  };
  SUBCASE("an attribute that was changed has the type of its value") {
    const Hierarchy all = with(
        R"({"version": 1, "types": {"": {"a": "short", "b": "float", "c": "char[9]", "d": "nonsense",
      "e": "string"}}})",
        R"("a": 70000, "b": 0.1, "c": 5, "d": "x", "e": [1, 2], )");
    CHECK(all.noted);
    const std::vector<Attribute> wanted = {
        numbers<std::int32_t>("a", Type::int_, {70000}), numbers<double>("b", Type::double_, {0.1}),
        numbers<std::int32_t>("c", Type::int_, {5}), Attribute::text("d", "x"),
        numbers<std::int32_t>("e", Type::int_, {1, 2})};
    check_same(all.root.attributes, wanted);
  }
  SUBCASE("lengths are those of the arrays") {
    const Hierarchy all =
        with(R"({"version": 1, "dimensions": [["y", 2, "unlimited"], ["x", 5], ["gone/z", 1]]})", "");
    REQUIRE(all.dims.size() == 2);
    CHECK(all.dims[0].length == 4);
    CHECK(all.dims[0].unlimited);
    CHECK(all.dims[1].length == 6);
  }
  SUBCASE("damaged notes are none") {
    for (const char* notes :
         {"5", "[]", "null", "{}", R"({"version": 2})",
          R"({"version": 1, "dimensions": 3, "types": [], "order": {}})",
          R"({"version": 1, "dimensions": [[], ["x"], ["x", -1], ["x", "6"], ["x/", 6], 7],
      "types": {"": 1, "a": []}})",
          R"({"version": 1, "hidden": {"": {"x": 1, "y": [1, 2], "z": ["short", "x"], "a/b": ["int", 1]}}})",
          R"({"version": 1, "paths": {"a": ["nowhere", 7]}, "order": ["b", "a", 5], "characters": 1})",
          R"({"version": 1, "types": {"": {"x": "char[99999999999999999999]", "y": "char["}}})"}) {
      CAPTURE(notes);
      const Hierarchy all = with(notes, R"("x": "text", )");
      CHECK(all.dims.empty());
      check_same(all.root.attributes, {Attribute::text("x", "text")});
      CHECK(all.arrays.at(0).second.dims == std::vector<std::string>{"y", "x"});
      CHECK(root_text(read_root(root_text(all))) == root_text(all));
    }
  }
}

TEST_CASE("zarr metadata: fill values, for Zarr and for readers of CF") {
  ArrayMetadata array = array_of(Type::float_, {"x"}, {6});
  // Without _FillValue unwritten cells are NetCDF's, and nothing says that they are missing.
  CHECK(has(text_of(array), "\"fill_value\": 9.969209968386869e+36"));
  CHECK(has(text_of(array), "\"attributes\": {}"));
  array.attributes = {numbers<float>("_FillValue", Type::float_, {1e20F})};
  CHECK(has(text_of(array), "\"fill_value\": 1.0000000200408773e+20"));
  CHECK(has(text_of(array), "\"_FillValue\": \"AAAAgB2vFUQ=\""));  // as xarray writes it
  const ArrayMetadata read = one_array(text_of(array));
  check_same(read.attributes, array.attributes);
  CHECK(fill_as<float>(read) == 1e20F);

  const float nan = std::numeric_limits<float>::quiet_NaN();
  array.attributes = {numbers<float>("_FillValue", Type::float_, {nan})};
  CHECK(has(text_of(array), "\"fill_value\": \"NaN\""));
  std::uint32_t bits = 0x7fc00001U;
  array.fill.resize(sizeof bits);
  std::memcpy(array.fill.data(), &bits, sizeof bits);
  CHECK(has(text_of(array), "\"fill_value\": \"0x7fc00001\""));
  CHECK(one_array(text_of(array)).fill == array.fill);
  array.fill.clear();

  // One of another type: xarray could not open the store.
  Hierarchy all;
  array.attributes = {numbers<double>("_FillValue", Type::double_, {-1}),
                      numbers<float>("missing_value", Type::float_, {nan})};
  all.arrays.emplace_back("a", array);
  CHECK(has(text_of(array), "\"attributes\": {}"));
  check_same(read_root(root_text(all)).arrays.at(0).second.attributes, array.attributes);

  ArrayMetadata text = array_of(Type::char_, {"x"}, {6});
  text.attributes = {Attribute::text("_FillValue", "-")};
  CHECK(has(text_of(text), "\"fill_value\": 45"));
  CHECK(has(text_of(text), "\"attributes\": {}"));

  ArrayMetadata logical = array_of(Type::byte_, {"x"}, {6});
  logical.stored_as = StoredAs::logicals;
  CHECK(has(text_of(logical), "\"fill_value\": false"));
  logical.fill = {std::byte{7}};
  CHECK(has(error_of([&] { (void)text_of(logical); }, Code::not_supported), "bool"));
}

TEST_CASE("zarr metadata: damaged documents are errors") {
  const auto error = [](const std::string& member, const std::string& value) {
    return error_of([&] { (void)array_with(member, value); });
  };
  for (const char* bad :
       {"[-1, 6]", "[9223372036854775808, 1]", "[1e30, 1]", "[1.5, 1]", "5", "[\"4\", 6]", "null", ""})
    CHECK(has(error("shape", bad), "shape"));
  for (const char* bad :
       {"[0, 6]", "[2]", "[2, 6, 1]", "[-2, 6]", "[]", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"})
    CHECK(has(error("chunk_grid",
                    fmt::format(R"({{"name": "regular", "configuration": {{"chunk_shape": {}}}}})", bad)),
              "chunk"));
  CHECK(has(error("chunk_grid", R"({"name": "regular"})"), "chunk_grid"));
  CHECK(has(error("chunk_key_encoding", R"({"name": "default", "configuration": {"separator": "../"}})"),
            "separator"));
  CHECK(has(error("codecs", "[]"), "codecs"));
  CHECK(has(error("codecs", "{}"), "codecs"));
  CHECK(has(error("codecs", "[5]"), "codec"));
  CHECK(has(error("codecs", "[\"bytes\", {}]"), "codec"));
  CHECK(has(error("codecs", R"([{"name": "bytes", "configuration": {"endian": "middle"}}])"), "endian"));
  CHECK(has(error("codecs", R"([{"name": "transpose", "configuration": {"order": [0, 0]}}, "bytes"])"),
            "order"));
  CHECK(has(error("codecs", R"([{"name": "transpose", "configuration": {"order": [0, 2]}}, "bytes"])"),
            "order"));
  CHECK(
      has(error("codecs",
                R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 4], "codecs": ["bytes"],
      "index_codecs": ["bytes"]}}])"),
          "whole chunks"));
  CHECK(has(error("dimension_names", "[\"y\"]"), "dimension_names"));
  CHECK(has(error("attributes", "[]"), "attributes"));
  CHECK(has(error("zarr_format", "2"), "zarr_format"));
  CHECK(has(error("node_type", "\"file\""), "node_type"));
  CHECK(has(error("node_type", ""), "node_type"));

  for (const std::string& bad :
       {std::string("{"), std::string(""), std::string("null"), std::string("[]"),
        std::string("{\"a\": 1, \"a\": 2}"), std::string(100'000, '['), std::string("{\"a\": \"\xFF\"}"),
        document() + "x", std::string("\xEF\xBB\xBF")}) {
    bool consolidated = false;
    Hierarchy all;
    CHECK(has(error_of([&] { (void)parse_root(bad, "there.json", consolidated); }), "there.json"));
    CHECK(has(error_of([&] { parse_node(bad, "a", "there.json", all); }), "there.json"));
    CHECK(has(error_of([&] { (void)parse_consolidated_v2(bad, "there.json"); }), "there.json"));
    CHECK(has(error_of([&] { parse_array_v2(bad, "", "a", "there.json", all); }), "there.json"));
  }
  // Every beginning of a document.
  const std::string whole = root_text(example());
  for (std::size_t n = 0; n < whole.size(); ++n) {
    bool consolidated = false;
    CHECK_FALSE(error_of([&] { (void)parse_root(whole.substr(0, n), "zarr.json", consolidated); }).empty());
  }
}

TEST_CASE("zarr metadata: paths in a store") {
  const auto with = [](const std::string& first, const std::string& second) {
    const std::string group = R"({"zarr_format": 3, "node_type": "group"})";
    bool consolidated = false;
    return parse_root(fmt::format(R"({{"zarr_format": 3, "node_type": "group", "consolidated_metadata":
        {{"kind": "inline", "metadata": {{"{}": {}, "{}": {}}}}}}})",
                                  first, document(), second, group),
                      "zarr.json", consolidated);
  };
  const Hierarchy all = with("a/b/c", "a");
  REQUIRE(all.groups.size() == 2);
  CHECK(all.groups[0].first == "a");
  CHECK(all.groups[1].first == "a/b");
  CHECK(all.arrays.at(0).first == "a/b/c");
  CHECK_FALSE(all.noted);
  for (const char* bad : {"../../etc", "/a", "a/", "a//b", "a/./b", "..", "a\\u0000b"})
    CHECK(has(error_of([&] { (void)with(bad, "g"); }), "path"));
  CHECK(has(error_of([&] { (void)with("a", "a/b"); }), "an array"));
  CHECK(has(error_of([&] { (void)with("a/b", "a/b/c"); }), "an array"));
  std::string deep = "a";
  for (int i = 0; i < 100; ++i)
    deep += "/a";
  CHECK(has(error_of([&] { (void)with(deep, "g"); }), "path"));
  bool consolidated = false;
  CHECK(has(error_of([&] { (void)parse_root(document(), "zarr.json", consolidated); }, Code::not_supported),
            "group"));

  for (const char* good : {"temp", "ocean/temp", "c", "_x", "a.b"})
    CHECK_NOTHROW(check_zarr_name(good));
  for (const char* bad : {"__x", "ocean/__x", "__x/temp", "zarr.json", "..", "ocean/..."})
    CHECK(has(error_of([&] { check_zarr_name(bad); }, Code::invalid_argument), "Zarr"));
}
