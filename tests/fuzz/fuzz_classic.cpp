// SPDX-License-Identifier: BSD-3-Clause
// A classic file of any bytes: its header, and the values that it leads to.
#include "format/catalog.hpp"
#include "format/classic/header.hpp"
#include "format/format_traits.hpp"
#include "fuzz.hpp"
#include "unit/memory_store.hpp"

using namespace shoal;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto file = std::make_shared<test::MemoryFile>();
  file->content.assign(reinterpret_cast<const std::byte*>(data),
                       reinterpret_cast<const std::byte*>(data) + size);
  fuzz::taken([&] {
    test::MemoryStore store(file);
    const ClassicHeader header = decode_header(store);
    fuzz::require(header.bytes <= static_cast<std::int64_t>(size), "a header ends within its file");
    fuzz::require(header.begins.size() == header.schema.variables.size(), "each variable begins somewhere");
  });
  fuzz::taken([&] {
    const auto format = recognise(*std::make_unique<test::MemoryStore>(file));
    if (!traits_of(format).is_classic) return;
    const auto catalog = open_classic_catalog(std::make_unique<test::MemoryStore>(file), false, {});
    const Schema& schema = catalog->schema();
    for (int v = 0; v < static_cast<int>(schema.variables.size()); ++v) {
      const Dims shape = schema.shape(v);
      std::int64_t cells = 1;
      for (const auto n : shape)
        cells = n > 1000 ? 0 : cells * n;
      if (cells <= 0 || cells > 1000) continue;
      Bytes values(static_cast<std::size_t>(cells) * size_of(schema.variable(v).type));
      fuzz::taken([&] { catalog->get(v, Box::whole(shape), values.data()); });
    }
  });
  return 0;
}
