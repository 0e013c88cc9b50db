// SPDX-License-Identifier: BSD-3-Clause
#include "streams/expression.hpp"

#include "base/error.hpp"

#ifdef SHOAL_HAVE_MUPARSER
#include <muParser.h>

#include <algorithm>
#include <string_view>

namespace shoal::streams {

namespace {

// muParser writes a power as ^, and has no **.
std::string with_powers(std::string text) {
  for (std::size_t at = text.find("**"); at != std::string::npos; at = text.find("**", at))
    text.replace(at, 2, "^");
  return text;
}

// muParser also takes assignments, which would change fields, and lists, of which the last value counts.
void check_is_one_value(const std::string& text) {
  int open = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char before = i > 0 ? text[i - 1] : ' ', after = i + 1 < text.size() ? text[i + 1] : ' ';
    if (text[i] == '=' && std::string_view("=<>!").find(before) == std::string_view::npos && after != '=')
      throw Error(Code::setting,
                  "'{}' gives a value to a name by '='; an expression has a value itself, and == compares",
                  text);
    open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (text[i] == ',' && open <= 0)
      throw Error(Code::setting, "'{}' is a list of values; an expression has one value", text);
  }
}

class OfMuParser final : public Expression {
 public:
  explicit OfMuParser(const std::string& text) {
    check_is_one_value(text);
    try {
      parser_.SetExpr(with_powers(text));
      for (const auto& [name, unused] : parser_.GetUsedVar())
        names_.push_back(name);
      cells_.resize(names_.size());
      for (std::size_t i = 0; i < names_.size(); ++i)
        parser_.DefineVar(names_[i], &cells_[i]);
      if (!names_.empty()) parser_.Eval();
      if (parser_.GetNumResults() > 1)
        throw Error(Code::setting, "'{}' is a list of values; an expression has one value", text);
    } catch (const mu::Parser::exception_type& e) {
      throw Error(Code::setting, "'{}' cannot be read: {}", text, e.GetMsg());
    }
    if (names_.empty()) throw Error(Code::setting, "'{}' names no field", text);
  }
  const std::vector<std::string>& names() const override { return names_; }
  void evaluate(const std::vector<const double*>& values, std::int64_t n, double* out) const override {
    try {
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::size_t k = 0; k < cells_.size(); ++k)
          cells_[k] = values[k][i];
        out[i] = parser_.Eval();
      }
    } catch (const mu::Parser::exception_type& e) {
      throw Error(Code::range, "an expression has no value: {}", e.GetMsg());
    }
  }

 private:
  mu::Parser parser_;
  std::vector<std::string> names_;
  mutable std::vector<double> cells_;  // what the parser's variables point to
};

}  // namespace

std::shared_ptr<const Expression> Expression::parse(const std::string& text) {
  return std::make_shared<OfMuParser>(text);
}

}  // namespace shoal::streams

#else

namespace shoal::streams {

std::shared_ptr<const Expression> Expression::parse(const std::string& text) {
  throw Error(Code::not_supported,
              "expression '{}': this build of Shoal has none, as muParser was not there when it was built; "
              "install it (Debian: libmuparser-dev), and build again",
              text);
}

}  // namespace shoal::streams

#endif
