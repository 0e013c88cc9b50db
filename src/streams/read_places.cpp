// SPDX-License-Identifier: BSD-3-Clause
// Places from a table in CSV.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "base/text.hpp"
#include "streams/sites.hpp"

namespace shoal::streams {

namespace {

/// The columns of a line; one in double quotes may have the separator in it, and two quotes for one.
std::vector<std::string> columns_of(const std::string& line, char separator) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool two = quoted && line[i] == '"' && i + 1 < line.size() && line[i + 1] == '"';
    if (two)
      out.back() += line[i++];
    else if (line[i] == '"')
      quoted = !quoted;
    else if (line[i] == separator && !quoted)
      out.emplace_back();
    else
      out.back() += line[i];
  }
  for (std::string& column : out)
    column = trimmed(column);
  return out;
}

std::vector<std::pair<int, std::string>> lines_of(const std::string& text) {
  std::vector<std::pair<int, std::string>> out;
  int number = 0;
  constexpr const char* k_mark = "\xEF\xBB\xBF";  // that some programs begin files with
  for (std::size_t at = text.starts_with(k_mark) ? 3 : 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = trimmed(text.substr(at, end - at));
    ++number;
    if (!line.empty() && line.front() != '#') out.emplace_back(number, line);
    at = end + 1;
  }
  return out;
}

}  // namespace

SiteChoice read_places(const std::string& text, const std::string& path) {
  const auto lines = lines_of(text);
  const auto fail = [&](int line, const std::string& message) {
    return Error(Code::setting, "line {}: {}", line, message).in_file(path);
  };
  if (lines.size() < 2)
    throw fail(lines.empty() ? 0 : lines.front().first,
               "a table of places has a line with the names of its columns (name, lon, lat), and one for "
               "each place");
  const char separator = lines.front().second.find(';') != std::string::npos ? ';' : ',';
  const std::vector<std::string> head = columns_of(lines.front().second, separator);
  SiteChoice out;
  out.path = path;
  std::vector<std::size_t> numbers;
  std::optional<std::size_t> name;
  for (std::size_t i = 0; i < head.size(); ++i) {
    if (head[i] == "name") name = i;
    if (head[i] == "name" || head[i].empty()) continue;
    numbers.push_back(i);
    out.coordinates.push_back(head[i]);
  }
  for (std::size_t l = 1; l < lines.size(); ++l) {
    const auto& [line, content] = lines[l];
    const std::vector<std::string> columns = columns_of(content, separator);
    if (columns.size() != head.size())
      throw fail(line, fmt::format("it has {} columns, and the first line {}", columns.size(), head.size()));
    SiteChoice::Place place;
    if (name) place.name = columns[*name];
    for (const std::size_t i : numbers) {
      double value = 0;
      const std::string& given = columns[i];
      const auto read = std::from_chars(given.data(), given.data() + given.size(), value);
      if (given.empty() || read.ec != std::errc() || read.ptr != given.data() + given.size() ||
          !std::isfinite(value))
        throw fail(line, fmt::format("{} is '{}', which is no number; columns beside name are coordinates",
                                     head[i], given));
      place.at.push_back(value);
    }
    out.places.push_back(std::move(place));
  }
  if (out.coordinates.empty()) throw fail(lines.front().first, "no column names a coordinate");
  return out;
}

}  // namespace shoal::streams
