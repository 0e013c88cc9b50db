// SPDX-License-Identifier: BSD-3-Clause
#include "format/zarr/codecs_json.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>

#include "base/error.hpp"
#include "codec/blosc.hpp"

namespace shoal::zarr {

namespace {

constexpr std::string_view k_numcodecs = "numcodecs.";

void refuse(ArrayMetadata& array, const std::string& why) {
  if (array.refusal.empty()) array.refusal = why;
}

// A codec of version 3: its name alone, or {"name", "configuration"}.
struct Codec {
  std::string name;
  Json configuration = Json::object();
};

Codec codec_from(const Json& json) {
  Codec codec;
  if (json.is_string()) {
    codec.name = json.get<std::string>();
    return codec;
  }
  codec.name = text_member(json, "name", "a codec");
  if (const Json* configuration = find_member(json, "configuration"); configuration != nullptr)
    codec.configuration = *configuration;
  if (codec.configuration.is_null()) codec.configuration = Json::object();
  if (!codec.configuration.is_object())
    damaged(fmt::format("\"configuration\" of codec {} is no object in braces", codec.name));
  return codec;
}

std::vector<Codec> codecs_from(const Json& json) {
  if (!json.is_array()) damaged("\"codecs\" is no list in brackets");
  std::vector<Codec> codecs;
  for (const Json& one : json)
    codecs.push_back(codec_from(one));
  if (codecs.empty()) damaged("\"codecs\" is empty");
  return codecs;
}

// A level that was not given, or that only the writer's library has, becomes one of ours: it is of use for
// new chunks alone.
int level_of(const Json& configuration, const char* name, int least, int most, int usual) {
  const Json* json = find_member(configuration, name);
  const auto level = json == nullptr ? std::nullopt : whole_number(*json);
  if (!level) return usual;
  return static_cast<int>(std::clamp<std::int64_t>(*level, least, most));
}

// numcodecs has a number for the shuffle, zarr-python a name.
std::string blosc_shuffle_from(const Json& configuration, std::size_t element) {
  const Json* json = find_member(configuration, "shuffle");
  if (json == nullptr) return "shuffle";
  if (json->is_string()) return json->get<std::string>();
  const auto number = whole_number(*json);
  if (number == -1) return element == 1 ? "bitshuffle" : "shuffle";
  return number == 0 ? "noshuffle" : number == 1 ? "shuffle" : number == 2 ? "bitshuffle" : shown(*json);
}

// What stands between a chunk's bytes and those of an object, by the name that numcodecs has for it. nullopt:
// no filter of Shoal's.
std::optional<Filter> filter_from(const std::string& name, const Json& configuration, std::size_t element) {
  if (name == "zlib") return Filter{Filter::deflate, level_of(configuration, "level", 1, 9, 1)};
  if (name == "gzip") return Filter{Filter::gzip, level_of(configuration, "level", 0, 9, 1)};
  if (name == "zstd") {
    const int level = level_of(configuration, "level", 0, 22, 3);
    return Filter{Filter::zstd, level == 0 ? 3 : level};  // 0 is the library's own choice
  }
  if (name == "lz4") return Filter{Filter::lz4};
  if (name == "crc32c") return Filter{Filter::crc32c};
  if (name == "fletcher32") return Filter{Filter::fletcher32};
  if (name == "shuffle") {
    constexpr int k_usual = 4;
    const Json* json = find_member(configuration, "elementsize");
    const auto size = json == nullptr ? std::optional<std::int64_t>(k_usual) : whole_number(*json);
    if (!size || *size < 1 || static_cast<std::uint64_t>(*size) != element) return std::nullopt;
    return Filter{Filter::shuffle};
  }
  if (name == "blosc") {
    const Json* json = find_member(configuration, "cname");
    const std::string compressor = json != nullptr && json->is_string() ? json->get<std::string>() : "lz4";
    return blosc_filter(compressor, level_of(configuration, "clevel", 0, 9, 5),
                        blosc_shuffle_from(configuration, element));
  }
  return std::nullopt;
}

void add_filter(const std::string& name, const Json& configuration, ArrayMetadata& array) {
  const std::size_t known = name.starts_with(k_numcodecs) ? k_numcodecs.size() : 0;
  if (const auto filter = filter_from(name.substr(known), configuration, array.element)) {
    array.filters.push_back(*filter);
    return;
  }
  refuse(array,
         fmt::format("its codec {}{} is none that Shoal has; it reads blosc, crc32c, fletcher32, gzip, lz4, "
                     "shuffle by whole elements, zlib and zstd",
                     name, configuration.empty() ? "" : " " + shown(configuration)));
}

// The stored array has dimension order[i] of the one before as its dimension i.
void add_transpose(const Json& configuration, ArrayMetadata& array) {
  const int n = array.object.size();
  const Json* json = find_member(configuration, "order");
  std::vector<int> order;
  if (json != nullptr && (*json == "C" || *json == "F")) {
    order.resize(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    if (*json == "F") std::reverse(order.begin(), order.end());
  } else {
    const auto dims = dims_member(configuration, "order", 0, "codec transpose");
    std::vector<bool> seen(static_cast<std::size_t>(n));
    if (dims && dims->size() == n)
      for (const std::int64_t d : *dims) {
        if (d >= n || seen[static_cast<std::size_t>(d)]) break;
        seen[static_cast<std::size_t>(d)] = true;
        order.push_back(static_cast<int>(d));
      }
    if (order.size() != static_cast<std::size_t>(n))
      damaged(fmt::format("\"order\" of codec transpose is {}; it has to have each of {} dimensions once",
                          shown(*json), n));
  }
  if (!array.order.empty())
    for (int& d : order)
      d = array.order[static_cast<std::size_t>(d)];
  array.order = order;
  if (std::is_sorted(order.begin(), order.end())) array.order.clear();
}

// "bytes" with its order. False: an order that there is not.
bool read_endian(const Json& configuration, bool& big) {
  const Json* endian = find_member(configuration, "endian");
  if (endian == nullptr || endian->is_null()) return true;
  big = *endian == "big";
  return big || *endian == "little";
}

void read_index_codecs(const Json& json, ArrayMetadata& array) {
  bool bytes = false;
  bool big = false;
  array.index_checksum = false;
  for (const Codec& codec : codecs_from(json)) {
    if (!bytes && codec.name == "bytes") {
      bytes = read_endian(codec.configuration, big);
      if (big || !bytes) return refuse(array, "the index of its shards is not little endian");
    } else if (bytes && !array.index_checksum && codec.name == "crc32c") {
      array.index_checksum = true;
    } else {
      return refuse(
          array, fmt::format("the index of its shards goes through codec {}; Shoal reads bytes, and crc32c "
                             "behind it",
                             codec.name));
    }
  }
}

void read_shards(const Json& configuration, ArrayMetadata& array);

void read_chain(const std::vector<Codec>& codecs, bool in_shard, ArrayMetadata& array) {
  bool has_bytes = false;
  for (const Codec& codec : codecs) {
    if (codec.name == "sharding_indexed") {
      if (in_shard) return refuse(array, "its shards hold shards; Shoal reads chunks in shards");
      if (codecs.size() > 1)
        return refuse(array,
                      "its shards go through further codecs as a whole; Shoal reads shards that do not");
      return read_shards(codec.configuration, array);
    }
    if (codec.name == "bytes" || codec.name == "vlen-utf8") {
      if (has_bytes) damaged("\"codecs\" has two codecs that make bytes of an array");
      has_bytes = true;
      if ((codec.name == "vlen-utf8") != (array.stored_as == StoredAs::texts) && array.type != Type::none)
        return refuse(array, fmt::format("its codec {} is none for its data type", codec.name));
      bool big = false;
      if (!read_endian(codec.configuration, big))
        damaged(fmt::format("\"endian\" of codec bytes is {}", shown(codec.configuration["endian"])));
      array.big_endian = big && (array.stored_as == StoredAs::fixed_unicode ||
                                 (array.stored_as == StoredAs::numbers && array.element > 1));
    } else if (!has_bytes && codec.name == "transpose") {
      add_transpose(codec.configuration, array);
    } else if (!has_bytes && codec.name == "numcodecs.bitround") {
      // Rounding is done when values are written; what is read is as it was stored.
    } else if (!has_bytes) {
      return refuse(
          array, fmt::format("its codec {} is none that Shoal has between an array and its bytes; it reads "
                             "bytes, transpose, vlen-utf8 and sharding_indexed",
                             codec.name));
    } else {
      add_filter(codec.name, codec.configuration, array);
    }
  }
  if (!has_bytes) damaged("\"codecs\" has none that makes bytes of an array");
}

void read_shards(const Json& configuration, ArrayMetadata& array) {
  array.sharded = true;
  const std::string whose = "codec sharding_indexed";
  const auto chunk = dims_member(configuration, "chunk_shape", 1, whose);
  if (!chunk || chunk->size() != array.object.size())
    damaged(fmt::format("\"chunk_shape\" of {} is {}; the array has {} dimensions", whose,
                        shown(configuration["chunk_shape"]), array.object.size()));
  for (int d = 0; d < chunk->size(); ++d)
    if (array.object[d] % (*chunk)[d] != 0)
      damaged(fmt::format("shards of {} cells in dimension {} are not whole chunks of {}", array.object[d],
                          d + 1, (*chunk)[d]));
  array.chunk = *chunk;
  const Json* at = find_member(configuration, "index_location");
  if (at != nullptr && *at != "start" && *at != "end")
    damaged(fmt::format("\"index_location\" is {}; allowed are \"start\" and \"end\"", shown(*at)));
  array.index_at_start = at != nullptr && *at == "start";
  read_index_codecs(member(configuration, "index_codecs", whose), array);
  read_chain(codecs_from(member(configuration, "codecs", whose)), true, array);
}

Json codec(const char* name, Json configuration) {
  Json json;
  json["name"] = name;
  json["configuration"] = std::move(configuration);
  return json;
}

Json bytes_codec(const ArrayMetadata& array) {
  if (array.stored_as == StoredAs::texts) return codec("vlen-utf8", Json::object());
  Json json;
  json["name"] = "bytes";
  // zarr-python leaves it out where elements have one byte.
  if (array.element != 1) json["configuration"]["endian"] = array.big_endian ? "big" : "little";
  return json;
}

Json codec_of(const Filter& filter, std::size_t element) {
  switch (filter.id) {
    case Filter::deflate:
      return codec("numcodecs.zlib", {{"level", std::min(filter.level, 9)}});
    case Filter::shuffle:
      return codec("numcodecs.shuffle", {{"elementsize", element}});
    case Filter::fletcher32:
      return codec("numcodecs.fletcher32", Json::object());
    case Filter::gzip:
      return codec("gzip", {{"level", filter.level}});
    case Filter::zstd:
      return codec("zstd", {{"level", filter.level}, {"checksum", true}});
    case Filter::lz4:
      return codec("numcodecs.lz4", {{"acceleration", 1}});
    case Filter::blosc:
      return codec("blosc", {{"typesize", std::max<std::size_t>(element, 1)},
                             {"cname", blosc_compressor_of(filter)},
                             {"clevel", filter.level},
                             {"shuffle", blosc_shuffle_of(filter)},
                             {"blocksize", 0}});
    case Filter::crc32c: {
      Json json;
      json["name"] = "crc32c";
      return json;
    }
    default:
      throw Error(
          Code::not_supported,
          "Zarr has no codec for filter {}; choose gzip, zstd or blosc as compression, crc32c as checksum",
          name_of(filter));
  }
}

}  // namespace

void read_codecs(const Json& codecs, ArrayMetadata& array) {
  array.chunk = array.object;
  array.sharded = false;
  read_chain(codecs_from(codecs), false, array);
}

void read_filters_v2(const Json& filters, const Json& compressor, ArrayMetadata& array) {
  const bool texts = array.stored_as == StoredAs::texts;
  bool has_texts = false;
  const auto read = [&](const Json& json) {
    const std::string& name = text_member(json, "id", "a filter");
    Json configuration = json;
    configuration.erase("id");
    if (name == "vlen-utf8") {
      if (!texts || !array.filters.empty()) refuse(array, "its filter vlen-utf8 is none for its data type");
      has_texts = true;
    } else if (name != "bitround") {  // read as it was stored
      add_filter(name, configuration, array);
    }
  };
  if (!filters.is_null() && !filters.is_array())
    damaged(fmt::format("\"filters\" is {}, which is no list", shown(filters)));
  for (const Json& one : filters)
    read(one);
  if (!compressor.is_null()) read(compressor);
  if (texts && !has_texts) refuse(array, "its data type is objects without filter vlen-utf8");
}

Json codecs_of(const ArrayMetadata& array) {
  Json codecs = Json::array();
  if (!array.order.empty()) codecs.push_back(codec("transpose", {{"order", array.order}}));
  codecs.push_back(bytes_codec(array));
  for (const Filter& filter : array.filters)
    codecs.push_back(codec_of(filter, array.element));
  if (!array.sharded) return codecs;

  Json configuration;
  configuration["chunk_shape"] = Json::array();
  for (const std::int64_t n : array.chunk)
    configuration["chunk_shape"].push_back(n);
  configuration["codecs"] = std::move(codecs);
  Json& index = configuration["index_codecs"] = Json::array();
  index.push_back(codec("bytes", {{"endian", "little"}}));
  if (array.index_checksum) index.push_back({{"name", "crc32c"}});
  configuration["index_location"] = array.index_at_start ? "start" : "end";
  Json shards = Json::array();
  shards.push_back(codec("sharding_indexed", std::move(configuration)));
  return shards;
}

}  // namespace shoal::zarr
