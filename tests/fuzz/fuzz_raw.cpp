// SPDX-License-Identifier: BSD-3-Clause
// The header file of a raw file: what is taken is written, and read, the same again.
#include "format/raw/raw_header.hpp"
#include "fuzz.hpp"

using namespace shoal;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::taken([&] {
    const auto written = [](const RawHeader& header) {
      return encode_raw_header(header.schema, header.layout, header.swapped);
    };
    const std::string reported = written(decode_raw_header(fuzz::text_of(data, size)));
    fuzz::require(written(decode_raw_header(reported)) == reported, "a header is read as it was written");
  });
  return 0;
}
