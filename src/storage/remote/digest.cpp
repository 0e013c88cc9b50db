// SPDX-License-Identifier: BSD-3-Clause
#include "storage/remote/digest.hpp"

#ifdef SHOAL_HAVE_CURL
#include <openssl/evp.h>

#include <array>

#include "base/crc32c.hpp"
#include "base/error.hpp"

namespace shoal {

namespace {

using Digest = std::array<unsigned char, EVP_MAX_MD_SIZE>;

/// The bytes of the digest; 0: it cannot be computed.
unsigned digest_of(std::span<const std::byte> bytes, const EVP_MD* kind, Digest& digest) {
  unsigned size = 0;
  return EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, kind, nullptr) == 1 ? size : 0;
}

std::string base64(std::span<const unsigned char> digest) {
  std::array<unsigned char, 2 * EVP_MAX_MD_SIZE> text{};
  const int length = EVP_EncodeBlock(text.data(), digest.data(), static_cast<int>(digest.size()));
  return {text.begin(), text.begin() + length};
}

}  // namespace

std::string sha256_digits(std::span<const std::byte> bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  Digest digest{};
  const unsigned size = digest_of(bytes, EVP_sha256(), digest);
  if (size == 0)
    throw Error(Code::not_supported, "OpenSSL computes no SHA-256, by which requests are signed");
  std::string text;
  for (unsigned i = 0; i < size; ++i) {
    text += digits[digest[i] >> 4];
    text += digits[digest[i] & 15];
  }
  return text;
}

std::optional<std::string> md5_base64(std::span<const std::byte> bytes) {
  Digest digest{};
  const unsigned size = digest_of(bytes, EVP_md5(), digest);
  if (size == 0) return std::nullopt;
  return base64(std::span(digest).first(size));
}

std::string crc32c_base64(std::span<const std::byte> bytes) {
  const std::uint32_t sum = crc32c(bytes);
  std::array<unsigned char, sizeof sum> digest{};
  for (std::size_t i = 0; i < digest.size(); ++i)
    digest[i] = static_cast<unsigned char>(sum >> (8 * (digest.size() - 1 - i)));
  return base64(digest);
}

}  // namespace shoal
#endif
