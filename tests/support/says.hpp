// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <doctest/doctest.h>

#include <string>

/// Are the words part of the message? Otherwise the test fails, and shows both.
inline bool says(const std::string& message, const std::string& words) {
  const bool found = message.find(words) != std::string::npos;
  CHECK_MESSAGE(found, "'", message, "' does not say '", words, "'");
  return found;
}
