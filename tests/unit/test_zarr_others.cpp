// SPDX-License-Identifier: BSD-3-Clause
// Metadata of Zarr that zarr-python, xarray and others have written.
#include <cmath>
#include <cstring>
#include <limits>

#include "codec/blosc.hpp"
#include "zarr_documents.hpp"

using namespace shoal;
using namespace shoal::zarr;
using namespace shoal::test;

TEST_CASE("zarr metadata: fill values of others") {
  CHECK(std::isnan(fill_as<float>(one_array(document()))));
  CHECK(fill_as<float>(array_with("fill_value", "\"-Infinity\"")) == -std::numeric_limits<float>::infinity());
  CHECK(std::isnan(fill_as<float>(array_with("fill_value", "NaN"))));
  CHECK(fill_as<float>(array_with("fill_value", "\"0x3f800000\"")) == 1.0F);
  CHECK(fill_as<float>(array_with("fill_value", "0")) == 0.0F);
  for (const char* bad : {"null", "\"x\"", "[]", "1e300", "\"0x3f8\"", "\"0xzzzzzzzz\"", "true", "{}"})
    CHECK(has(error_of([&] { (void)array_with("fill_value", bad); }), "fill_value"));
  const auto with_type = [](const char* type, const char* fill) {
    std::string text = document("data_type", type);
    text.replace(text.find("\"NaN\""), 5, fill);
    return one_array(text);
  };
  CHECK(fill_as<std::uint64_t>(with_type("\"uint64\"", "18446744073709551615")) == 18446744073709551615U);
  CHECK(fill_as<std::int16_t>(with_type("{\"name\": \"int16\"}", "-5.0")) == -5);
  for (const char* bad : {"40000", "1.5", "\"NaN\"", "1e30", "99999999999999999999"})
    CHECK(has(error_of([&] { (void)with_type("\"int16\"", bad); }), "short"));
  CHECK(with_type(R"({"name": "null_terminated_bytes", "configuration": {"length_bytes": 5}})", "\"YWI=\"")
            .fill_text == "ab");
  // What is missing to xarray, and what chunks that are not there hold.
  ArrayMetadata array = array_with("attributes", R"({"_FillValue": "AAAAgB2vFUQ="})");
  check_same(array.attributes, {numbers<float>("_FillValue", Type::float_, {1e20F})});
  CHECK(std::isnan(fill_as<float>(array)));
  array = array_with("attributes", R"({"_FillValue": -9})");
  check_same(array.attributes, {numbers<float>("_FillValue", Type::float_, {-9})});
  array = array_with("attributes", R"({"_FillValue": "no base64", "x": 1})");
  CHECK(array.attributes.at(0).type == Type::char_);
}

TEST_CASE("zarr metadata: types of zarr-python") {
  const auto read = [](const char* type) {
    std::string text = document("data_type", type);
    text.replace(text.find("\"NaN\""), 5, "0");
    return one_array(text);
  };
  ArrayMetadata array = read("\"bool\"");
  CHECK(array.stored_as == StoredAs::logicals);
  CHECK(find_attribute(array.attributes, "flag_meanings") != nullptr);
  array = read(R"({"name": "fixed_length_utf32", "configuration": {"length_bytes": 20}})");
  CHECK(array.stored_as == StoredAs::fixed_unicode);
  CHECK(array.type == Type::string);
  CHECK(array.element == 20);
  for (const char* type :
       {"\"float16\"", "\"complex64\"", "\"r16\"",
        R"({"name": "numpy.datetime64", "configuration": {"unit": "s"}})",
        R"({"name": "structured", "configuration": {"fields": []}})", "\"variable_length_bytes\"",
        R"({"name": "fixed_length_utf32", "configuration": {"length_bytes": 21}})",
        R"({"name": "null_terminated_bytes"})",
        R"({"name": "null_terminated_bytes", "configuration": {"length_bytes": 1e30}})"}) {
    CAPTURE(type);
    array = read(type);
    CHECK(array.type == Type::none);
    CHECK(has(array.refusal, "data type"));
    CHECK(array.shape == Dims{4, 6});
    // It stays as it is when the root is written again.
    Hierarchy all;
    all.arrays.emplace_back("a", array);
    CHECK(read_root(root_text(all)).arrays.at(0).second.document == array.document);
  }
  CHECK(has(error_of([&] { (void)read("7"); }), "data_type"));
}

TEST_CASE("zarr metadata: codecs of zarr-python") {
  ArrayMetadata array =
      array_with("codecs", R"([{"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 3],
      "codecs": [{"name": "transpose", "configuration": {"order": [1, 0]}}, "bytes",
      {"name": "blosc", "configuration": {"typesize": 4, "cname": "lz4", "clevel": 9,
      "shuffle": "bitshuffle", "blocksize": 0}}],
      "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
      "index_location": "start"}}])");
  CHECK(array.refusal.empty());
  CHECK(array.sharded);
  CHECK(array.chunk == Dims{1, 3});
  CHECK(array.object == Dims{2, 6});
  CHECK(array.index_at_start);
  CHECK(array.index_checksum);
  CHECK(array.order == std::vector<int>{1, 0});
  CHECK(array.filters == Filters{*blosc_filter("lz4", 9, "bitshuffle")});

  array = array_with("codecs", codecs(R"({"name": "numcodecs.shuffle", "configuration": {"elementsize": 4}},
      {"name": "numcodecs.zlib", "configuration": {"level": 3}}, {"name": "numcodecs.fletcher32"})"));
  CHECK(array.filters == Filters{{Filter::shuffle}, {Filter::deflate, 3}, {Filter::fletcher32}});
  CHECK(array.refusal.empty());
  array = array_with("codecs",
                     codecs(R"({"name": "gzip", "configuration": {"level": 5}}, "crc32c", "numcodecs.lz4")"));
  CHECK(array.filters == Filters{{Filter::gzip, 5}, {Filter::crc32c}, {Filter::lz4}});
  array = array_with("codecs", R"([{"name": "bytes", "configuration": {"endian": "big"}}])");
  CHECK(array.big_endian);

  // What is written of them is read again.
  for (const char* filters : {"shuffle+deflate:3+fletcher32", "gzip:5+crc32c", "lz4", "zstd:7"}) {
    array.filters = filters_of(filters);
    CHECK(one_array(text_of(array)).filters == array.filters);
  }
  array.filters = {{32004, 1}};
  CHECK(has(error_of([&] { (void)text_of(array); }, Code::not_supported), "choose"));

  // Two of them, one after the other: (2, 0, 1), then (1, 0, 2) of that.
  std::string three = document("codecs", R"([{"name": "transpose", "configuration": {"order": [2, 0, 1]}},
      {"name": "transpose", "configuration": {"order": [1, 0, 2]}}, "bytes"])");
  for (const auto& [from, to] :
       {std::pair{"[4, 6]", "[4, 6, 8]"}, {"[2, 6]", "[2, 6, 8]"}, {"[\"y\", \"x\"]", "null"}})
    three.replace(three.find(from), std::strlen(from), to);
  CHECK(one_array(three).order == std::vector<int>{0, 2, 1});
  CHECK(one_array(text_of(one_array(three))).order == std::vector<int>{0, 2, 1});
}

TEST_CASE("zarr metadata: what cannot be read is refused by name") {
  CHECK(has(refusal_with("codecs", codecs("\"numcodecs.bz2\"")), "numcodecs.bz2"));
  CHECK(has(refusal_with("codecs", R"(["numcodecs.delta", "bytes"])"), "numcodecs.delta"));
  CHECK(has(refusal_with("codecs", R"(["vlen-utf8"])"), "vlen-utf8"));
  CHECK(has(
      refusal_with("codecs", codecs(R"({"name": "numcodecs.shuffle", "configuration": {"elementsize": 8}})")),
      "numcodecs.shuffle"));
  CHECK(has(refusal_with("codecs", codecs(
                                       R"({"name": "blosc", "configuration": {"cname": "snappy", "clevel": 5,
      "shuffle": "shuffle"}})")),
            "snappy"));
  const std::string shards =
      R"({"name": "sharding_indexed", "configuration": {"chunk_shape": [1, 3], "codecs": [%],
      "index_codecs": ["bytes", "crc32c"]}})";
  const auto with_inner = [&](const std::string& inner) {
    return std::string(shards).replace(shards.find('%'), 1, inner);
  };
  CHECK(refusal_with("codecs", "[" + with_inner("\"bytes\"") + "]").empty());
  CHECK(has(refusal_with("codecs", "[" + with_inner("\"bytes\"") + ", \"crc32c\"]"), "as a whole"));
  CHECK(has(refusal_with("codecs", "[" + with_inner(with_inner("\"bytes\"")) + "]"), "shards hold shards"));
  std::string index = with_inner("\"bytes\"");
  index.replace(index.find("\"crc32c\""), 8, "\"gzip\"");
  CHECK(has(refusal_with("codecs", "[" + index + "]"), "gzip"));
  CHECK(has(refusal_with("chunk_grid", R"({"name": "rectilinear", "configuration": {}})"), "rectilinear"));
  CHECK(has(refusal_with("chunk_key_encoding", R"({"name": "fanout"})"), "fanout"));
  CHECK(has(refusal_with("storage_transformers", R"([{"name": "x"}])"), "storage transformers"));
  CHECK(has(refusal_with("mystery", R"({"must_understand": true})"), "mystery"));
  CHECK(refusal_with("mystery", R"({"must_understand": false})").empty());
  std::string shape = "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]";
  std::string wide = document("shape", shape);
  CHECK(has(one_array(wide).refusal, "17 dimensions"));
  CHECK(has(refusal_with("shape", "[9223372036854775807, 9223372036854775807]"), "counted"));
}

TEST_CASE("zarr metadata: names of objects") {
  ArrayMetadata array = one_array(document());
  CHECK(object_name(array, {0, 12}) == "c/0/12");
  CHECK(object_name(array, {}) == "c");
  array = array_with("chunk_key_encoding", R"({"name": "default", "configuration": {"separator": "."}})");
  CHECK(object_name(array, {0, 12}) == "c.0.12");
  array = array_with("chunk_key_encoding", "\"v2\"");
  CHECK(object_name(array, {0, 12}) == "0.12");
  CHECK(object_name(array, {}) == "0");
  CHECK(object_name(one_array(text_of(array)), {3, 4}) == "3.4");
}

TEST_CASE("zarr metadata: attributes of others") {
  const ArrayMetadata array =
      array_with("attributes", R"({"flag": true, "big": 1099511627776, "huge": 18446744073709551615,
      "mixed": [1, 2.5], "nan": NaN, "range": [-Infinity, Infinity], "names": ["a", "b"], "none": null,
      "object": {"a": [NaN]},
      "nested": [[1]], "bad/name": 1, "empty": [], "int": 5, "unlike": ["a", 1],
      "text": "NaN \" Infinity"})");
  const double infinity = std::numeric_limits<double>::infinity();
  check_same(array.attributes,
             {numbers<std::int8_t>("flag", Type::byte_, {1}),
              numbers<std::int64_t>("big", Type::int64, {1099511627776}),
              numbers<std::uint64_t>("huge", Type::uint64, {18446744073709551615U}),
              numbers<double>("mixed", Type::double_, {1, 2.5}),
              numbers<double>("nan", Type::double_, {std::numeric_limits<double>::quiet_NaN()}),
              numbers<double>("range", Type::double_, {-infinity, infinity}), strings("names", {"a", "b"}),
              numbers<double>("empty", Type::double_, {}), numbers<std::int32_t>("int", Type::int_, {5}),
              Attribute::text("text", "NaN \" Infinity")});
  std::string unread;
  for (const UnreadAttribute& one : array.unread)
    unread += one.name + ": " + one.type + "; ";
  CHECK(unread ==
        "none: null; object: json object; nested: json list; bad/name: name not of NetCDF; unlike: json "
        "list; ");
  // They are there when the array is written again.
  const ArrayMetadata again = one_array(text_of(array));
  CHECK(again.unread.size() == array.unread.size());
  CHECK(has(text_of(again), "\"nested\": ["));
}

TEST_CASE("zarr metadata: version 2 of zarr-python and xarray") {
  const std::string blosc = R"({"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0})";
  ArrayMetadata array = array_v2(document_v2("\">f4\"", "\"NaN\"", blosc, "null", "F"),
                                 R"({"_ARRAY_DIMENSIONS": ["y", "x"], "units": "m"})");
  CHECK(array.version == 2);
  CHECK(array.refusal.empty());
  CHECK(array.type == Type::float_);
  CHECK(array.big_endian);
  CHECK(array.order == std::vector<int>{1, 0});
  CHECK(array.filters == Filters{*blosc_filter("lz4", 5, "shuffle")});
  CHECK(array.dims == std::vector<std::string>{"y", "x"});
  CHECK(object_name(array, {1, 2}) == "1.2");
  CHECK(find_attribute(array.attributes, "_FillValue") != nullptr);
  CHECK(array.attributes.size() == 2);
  CHECK(has(error_of([&] { (void)text_of(array); }, Code::not_supported), "version 3"));

  array =
      array_v2(document_v2("\"<i2\"", "null", R"({"id": "zlib", "level": 1})",
                           R"([{"id": "shuffle", "elementsize": 2}, {"id": "fletcher32"}])"),
               R"({"_nczarr_array": {"dimension_references": ["/lat", "/g/lon"], "storage": "chunked"}})");
  CHECK(array.refusal.empty());
  CHECK(array.filters == Filters{{Filter::shuffle}, {Filter::fletcher32}, {Filter::deflate, 1}});
  CHECK(array.dims == std::vector<std::string>{"lat", "lon"});
  CHECK(array.fill.empty());
  CHECK(array.attributes.empty());

  array = array_v2(document_v2("\"|O\"", "\"\"", "null", R"([{"id": "vlen-utf8"}])"));
  CHECK(array.stored_as == StoredAs::texts);
  CHECK(array.refusal.empty());
  array = array_v2(document_v2("\"|S5\"", "\"YWI=\"", R"({"id": "gzip", "level": 2})"));
  CHECK(array.stored_as == StoredAs::fixed_bytes);
  CHECK(array.fill_text == "ab");
  array = array_v2(document_v2("\">U5\"", "\"\"", R"({"id": "zstd", "level": 0})"));
  CHECK(array.element == 20);
  CHECK(array.big_endian);
  array = array_v2(document_v2("\"|b1\"", "false", R"({"id": "lz4", "acceleration": 1})"));
  CHECK(array.stored_as == StoredAs::logicals);
  CHECK(array.filters == Filters{{Filter::lz4}});

  const auto refusal = [](const char* dtype, const char* compressor = "null", const char* filters = "null") {
    return array_v2(document_v2(dtype, "null", compressor, filters)).refusal;
  };
  CHECK(has(refusal("\"<M8[ns]\""), "datetime64"));
  CHECK(has(refusal("\"<c8\""), "complex"));
  CHECK(has(refusal("\"<f2\""), "float"));
  CHECK(has(refusal("\"|O\""), "vlen-utf8"));
  CHECK(has(refusal(R"([["a", "<i4"]])"), "structure"));
  CHECK(has(refusal("\"|S0\""), "S0"));
  CHECK(has(refusal("\"|S99999999999999999999\""), "S9"));
  CHECK(has(refusal("\"<i4\"", R"({"id": "bz2", "level": 1})"), "bz2"));
  CHECK(has(refusal("\"<i4\"", "null", R"([{"id": "delta", "dtype": "<i4"}])"), "delta"));
  CHECK(has(error_of([&] { (void)array_v2(document_v2("5", "null", "null")); }), "dtype"));
  CHECK(has(error_of([&] { (void)array_v2(document_v2("\"<i4\"", "null", "null", "null", "X")); }), "order"));
  CHECK(has(error_of([&] { (void)array_v2(document_v2("\"<i4\"", "null", "\"zlib\"")); }), "filter"));
  CHECK(has(error_of([&] { (void)array_v2(document_v2("\"|S5\"", "\"*\"", "null")); }), "base64"));
}

TEST_CASE("zarr metadata: consolidated metadata of version 2") {
  const std::string array = document_v2("\"<i4\"", "0", "null");
  const Hierarchy all =
      parse_consolidated_v2(fmt::format(
                                R"({{"metadata": {{".zgroup": {{"zarr_format": 2}}, ".zattrs": {{"title": "x",
      "_NCProperties": "y"}},
        "g/a/.zattrs": {{"_ARRAY_DIMENSIONS": ["y", "x"]}}, "g/a/.zarray": {},
      "g/.zgroup": {{"zarr_format": 2}},
        "g/.zattrs": {{"what": 1}}}}, "zarr_consolidated_format": 1}})",
                                array),
                            ".zmetadata");
  check_same(all.root.attributes, {Attribute::text("title", "x")});
  CHECK(all.root.version == 2);
  REQUIRE(all.groups.size() == 1);
  CHECK(all.groups[0].first == "g");
  CHECK(all.groups[0].second.attributes.size() == 1);
  REQUIRE(all.arrays.size() == 1);
  CHECK(all.arrays[0].first == "g/a");
  CHECK(all.arrays[0].second.dims == std::vector<std::string>{"y", "x"});
  CHECK(has(error_of([&] {
              (void)parse_consolidated_v2(
                  fmt::format(R"({{"metadata": {{"../a/.zarray": {}}}, "zarr_consolidated_format": 1}})",
                              array),
                  "there");
            }),
            "path"));
  CHECK(has(error_of([&] {
              (void)parse_consolidated_v2(fmt::format(R"({{"metadata": {{"a/.zarray": {}, "a/.zgroup":
                  {{"zarr_format": 2}}}}, "zarr_consolidated_format": 1}})",
                                                      array),
                                          "there");
            }),
            "a group"));
}
