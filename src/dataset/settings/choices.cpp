// SPDX-License-Identifier: BSD-3-Clause
#include "dataset/settings/choices.hpp"

#include <fmt/core.h>
#include <fnmatch.h>

#include <algorithm>

#include "base/error.hpp"
#include "base/names.hpp"
#include "base/text.hpp"

namespace shoal {

Choices::Choices(const std::string& text, const std::function<std::string(const std::string&)>& checked) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(';', at), text.size());
    const std::string item = trimmed(text.substr(at, end - at));
    at = end + 1;
    if (item.empty()) continue;
    if (!choices_.empty() && choices_.back().pattern == "*")
      throw Error(Code::setting,
                  "'{}' comes after '{}', which is for all variables that are left; put that last", item,
                  choices_.back().value);
    const std::size_t equals = item.find('=');
    Choice choice{"*", item, false};
    if (equals != std::string::npos) {
      choice.pattern = composed(trimmed(item.substr(0, equals)));
      choice.value = trimmed(item.substr(equals + 1));
      if (choice.pattern.empty() || choice.value.empty())
        throw Error(Code::setting, "'{}' is not of the form variable=value", item);
      choice.named = choice.pattern.find_first_of("*?[") == std::string::npos;
    }
    const Choice* before = of(choice.pattern);
    if (before != nullptr && (choice.named || before->pattern == choice.pattern))
      throw Error(Code::setting,
                  "'{}' comes after '{}={}', which fits first, so it would never count; put it before that",
                  item, before->pattern, before->value);
    choice.value = checked(choice.value);
    choices_.push_back(std::move(choice));
  }
}

const Choices::Choice* Choices::of(const std::string& given) const {
  const std::string variable = composed(given);
  for (const auto& choice : choices_)
    if (choice.pattern == variable || fnmatch(choice.pattern.c_str(), variable.c_str(), 0) == 0)
      return &choice;
  return nullptr;
}

std::string Choices::text() const {
  std::vector<std::string> items;
  for (const auto& choice : choices_)
    items.push_back(choice.pattern == "*" ? choice.value
                                          : fmt::format("{}={}", choice.pattern, choice.value));
  return joined(items, "; ");
}

}  // namespace shoal
