// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace shoal {

/// A setting of variables that may differ between them: "temp=A; salt_*=B; C" is A for temp, B for names that
/// match the pattern (* ? [...]), and C for all others. The first that matches counts.
class Choices {
 public:
  struct Choice {
    std::string pattern;  ///< "*" where none was given
    std::string value;
    bool named = false;  ///< the pattern is the name of one variable
  };

  Choices() = default;
  /// checked: gives a value as it is to be kept, or throws. Error(setting): no value, one for all
  /// variables that is not the last, or one that never counts, as another fits before it.
  Choices(const std::string& text, const std::function<std::string(const std::string&)>& checked);

  /// nullptr: nothing is said of the variable.
  const Choice* of(const std::string& variable) const;
  const std::vector<Choice>& all() const { return choices_; }
  /// As it is given.
  std::string text() const;

 private:
  std::vector<Choice> choices_;
};

}  // namespace shoal
