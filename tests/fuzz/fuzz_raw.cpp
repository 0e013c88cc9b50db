// SPDX-License-Identifier: BSD-3-Clause
// The header file of a raw file: what is taken is written, and read, the same again.
#include "format/raw/raw_header.hpp"
#include "fuzz.hpp"

using namespace shoal;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::taken([&] {
    const RawHeader header = decode_raw_header(fuzz::text_of(data, size));
    const std::string reported = encode_raw_header(header);
    fuzz::require(encode_raw_header(decode_raw_header(reported)) == reported,
                  "a header is read as it was written");
  });
  return 0;
}
