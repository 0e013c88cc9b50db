// SPDX-License-Identifier: BSD-3-Clause
// Files of the formats raw and ascii, as docs/file_formats.md describes them, read with nothing of Shoal's.
#include <fcntl.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <fstream>
#include <limits>
#include <stdexcept>

#include "json.hpp"
#include "plain_file.hpp"
#include "transfer.hpp"

namespace shoal::bench {

namespace {

class RawFile final : public PlainFile {
 public:
  explicit RawFile(const std::string& path) : path_(path) {
    std::ifstream header(path + ".json", std::ios::binary);
    try {
      head_ = Json::parse(header);
      text_ = head_.at("format") == "ascii";
      const bool little = std::endian::native == std::endian::little;
      swapped_ = !text_ && head_.at("byte_order") != (little ? "little" : "big");
    } catch (const Json::exception& e) {
      throw std::runtime_error(path + ".json: " + e.what());
    }
    fd_ = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) fail("opening of", path);
  }
  ~RawFile() override { close(fd_); }
  RawFile(const RawFile&) = delete;
  RawFile& operator=(const RawFile&) = delete;

  bool is_text() const override { return text_; }

  std::int64_t length(const std::string& dimension) override {
    for (const auto& d : head_.at("dimensions"))
      if (d.at("name") == dimension) return d.at("length").get<std::int64_t>();
    return -1;
  }

  bool find(const std::string& variable, PlainVariable& out) override {
    const auto* v = look_up(variable);
    if (v == nullptr) return false;
    const std::string type = v->at("type");
    out.type = type == "int" ? 4 : type == "float" ? 5 : type == "double" ? 6 : 0;
    out.dims = v->at("dimensions").get<std::vector<std::string>>();
    return true;
  }

  std::vector<std::int64_t> numbers(const std::string& variable, const std::string& attribute) override {
    std::vector<std::int64_t> values;
    for (const auto& a : variable_of(variable).at("attributes"))
      if (a.at("name") == attribute)
        for (const auto& item : a.at("value"))
          values.push_back(item.get<std::int64_t>());
    return values;
  }

  std::string text(const std::string& variable, const std::string& attribute) override {
    for (const auto& a : variable_of(variable).at("attributes"))
      if (a.at("name") == attribute && a.at("value").is_string()) return a.at("value").get<std::string>();
    return {};
  }

  std::int64_t place(const std::string& variable, const std::vector<std::int64_t>& cell) override {
    const auto& v = variable_of(variable);
    const bool record = has_record(v);
    std::int64_t index = 0;
    for (std::size_t d = record ? 1 : 0; d < cell.size(); ++d)
      index = index * length(v.at("dimensions").at(d)) + cell[d];
    const auto number = [](const Json& of, const char* key) { return of.at(key).get<std::int64_t>(); };
    return number(v, "begin") + (record ? cell[0] * number(head_, "record_stride") : 0) +
           index * number(v, "element_bytes");
  }

  // Along the last dimension in one go, or along several where the last ones are taken whole.
  void read(const std::string& variable, const std::vector<std::int64_t>& start,
            const std::vector<std::int64_t>& count, std::byte* values) override {
    const auto& v = variable_of(variable);
    const std::string type = v.at("type");
    const std::size_t size = type == "double" ? 8 : 4;
    const auto& dims = v.at("dimensions");
    if (std::find(count.begin(), count.end(), 0) != count.end()) return;
    std::size_t outer = count.size();
    std::int64_t run = 1;
    const std::size_t fixed = has_record(v) ? 1 : 0;
    while (outer > fixed) {
      --outer;
      run *= count[outer];
      if (count[outer] != length(dims[outer])) break;
    }
    auto cell = start;
    for (;;) {
      read_run(place(variable, cell), run, v.at("element_bytes").get<std::int64_t>(), type, values);
      values += static_cast<std::size_t>(run) * size;
      std::size_t d = outer;
      while (d > 0 && ++cell[d - 1] == start[d - 1] + count[d - 1]) {
        cell[d - 1] = start[d - 1];
        --d;
      }
      if (d == 0) return;
    }
  }

 private:
  const Json* look_up(const std::string& variable) const {
    for (const auto& v : head_.at("variables"))
      if (v.at("name") == variable) return &v;
    return nullptr;
  }

  const Json& variable_of(const std::string& variable) const {
    const auto* v = look_up(variable);
    if (v == nullptr) throw std::runtime_error(path_ + ": there is no variable " + variable);
    return *v;
  }

  bool has_record(const Json& variable) const {
    const auto& dims = variable.at("dimensions");
    if (dims.empty()) return false;
    for (const auto& d : head_.at("dimensions"))
      if (d.at("name") == dims[0]) return d.at("unlimited").get<bool>();
    return false;
  }

  void read_run(std::int64_t offset, std::int64_t n, std::int64_t width, const std::string& type,
                std::byte* values) {
    if (text_) {
      lines_.resize(static_cast<std::size_t>(n * width));
      read_all(fd_, reinterpret_cast<std::byte*>(lines_.data()), n * width, offset, path_);
      if (type == "double")
        parse_lines(n, width, std::nan(""), values);
      else if (type == "float")
        parse_lines(n, width, std::nanf(""), values);
      else
        parse_lines(n, width, std::numeric_limits<std::int32_t>::min(), values);
      return;
    }
    read_all(fd_, values, n * width, offset, path_);
    for (std::int64_t i = 0; swapped_ && i < n; ++i)
      std::reverse(values + i * width, values + (i + 1) * width);
  }

  // What is no number (a line that was never written) becomes one that no workload has.
  template <class T>
  void parse_lines(std::int64_t n, std::int64_t width, T other, std::byte* values) const {
    for (std::int64_t i = 0; i < n; ++i) {
      const char* const line = lines_.data() + i * width;
      const char* const end = line + width - 1;
      T value{};
      const auto [after, error] =
          std::from_chars(std::find_if(line, end, [](char c) { return c != ' '; }), end, value);
      const bool right = error == std::errc{} && after == end && *end == '\n';
      reinterpret_cast<T*>(values)[i] = right ? value : other;
    }
  }

  std::string path_;
  Json head_;
  bool text_ = false, swapped_ = false;
  int fd_ = -1;
  std::string lines_;
};

}  // namespace

std::unique_ptr<PlainFile> open_raw(const std::string& path) {
  return std::make_unique<RawFile>(path);
}

}  // namespace shoal::bench
