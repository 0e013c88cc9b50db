// SPDX-License-Identifier: BSD-3-Clause
#include "storage/remote/answers.hpp"

#ifdef SHOAL_HAVE_CURL
#include <expat.h>

#include <algorithm>
#include <climits>
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>

#include "base/error.hpp"
#include "base/text.hpp"
#include "storage/remote/url.hpp"

namespace shoal {

namespace {

constexpr std::size_t k_deepest = 16;
constexpr std::size_t k_longest_name = 256;

struct XmlReading {
  XML_Parser parser = nullptr;
  std::vector<XmlText> texts;
  std::vector<std::size_t> lengths;  // of the path before each open element
  std::string path;
  std::string text;
  bool is_leaf = false;
  const char* refused = nullptr;
  bool out_of_memory = false;

  void refuse(const char* why) {
    refused = why;
    XML_StopParser(parser, XML_FALSE);
  }
};

/// Runs work in a function that a C library calls, through which no exception may go.
template <class Work>
void in_parser(void* data, Work&& work) {
  auto& reading = *static_cast<XmlReading*>(data);
  try {
    work(reading);
  } catch (const std::bad_alloc&) {
    reading.out_of_memory = true;
    reading.refuse("it does not fit into memory");
  }
}

void on_begin(void* data, const XML_Char* name, const XML_Char** /*attributes*/) {
  in_parser(data, [&](XmlReading& reading) {
    std::string_view local(name);
    local.remove_prefix(std::min(local.rfind(':') + 1, local.size()));  // npos + 1 is 0
    if (reading.lengths.size() == k_deepest || local.size() > k_longest_name)
      return reading.refuse("it is nested too deeply, or has too long names");
    reading.lengths.push_back(reading.path.size());
    if (!reading.path.empty()) reading.path += '/';
    reading.path += local;
    reading.text.clear();
    reading.is_leaf = true;
  });
}

void on_end(void* data, const XML_Char* /*name*/) {
  in_parser(data, [&](XmlReading& reading) {
    if (reading.is_leaf) reading.texts.push_back({reading.path, reading.text});
    reading.is_leaf = false;
    if (reading.lengths.size() == 1) reading.texts.push_back({reading.path, ""});
    reading.path.resize(reading.lengths.back());
    reading.lengths.pop_back();
  });
}

void on_text(void* data, const XML_Char* text, int length) {
  in_parser(data, [&](XmlReading& reading) {
    if (reading.is_leaf) reading.text.append(text, static_cast<std::size_t>(length));
  });
}

void on_document_type(void* data, const XML_Char*, const XML_Char*, const XML_Char*, int) {
  static_cast<XmlReading*>(data)->refuse("it has a document type");
}

Error bad_answer(const std::string& why) {
  return Error(
      Code::format,
      "the server's answer is none of an object store: {}; check that the URL or the endpoint is that of "
      "one",
      why);
}

/// A key as the server has it: XML has no control characters, so servers are asked to encode.
std::string decoded_key(const std::string& text, bool encoded) {
  if (!encoded) return text;
  const auto key = percent_decoded(text, true);
  if (!key) throw bad_answer("the name of an object is not encoded as it says");
  return *key;
}

}  // namespace

std::vector<XmlText> xml_texts(std::string_view document) {
  // Servers that work for long send blanks first.
  document.remove_prefix(std::min(document.find_first_not_of(" \t\r\n"), document.size()));
  if (document.size() > INT_MAX) throw bad_answer("it is too long");
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)> parser(
      XML_ParserCreate(nullptr), XML_ParserFree);
  if (!parser) throw std::bad_alloc();
  XmlReading reading;
  reading.parser = parser.get();
  XML_SetUserData(parser.get(), &reading);
  XML_SetElementHandler(parser.get(), on_begin, on_end);
  XML_SetCharacterDataHandler(parser.get(), on_text);
  XML_SetStartDoctypeDeclHandler(parser.get(), on_document_type);
  const auto status = XML_Parse(parser.get(), document.data(), static_cast<int>(document.size()), XML_TRUE);
  if (reading.out_of_memory) throw std::bad_alloc();
  if (reading.refused != nullptr) throw bad_answer(reading.refused);
  if (status != XML_STATUS_OK) throw bad_answer(XML_ErrorString(XML_GetErrorCode(parser.get())));
  return std::move(reading.texts);
}

ObjectPage parse_object_page(std::string_view document) {
  const std::vector<XmlText> texts = xml_texts(document);
  const std::string root = "ListBucketResult";
  if (texts.back().path != root) throw bad_answer("it is no list of objects");
  const bool encoded = std::any_of(texts.begin(), texts.end(), [&](const XmlText& t) {
    return t.path == root + "/EncodingType" && trimmed(t.text) == "url";
  });
  ObjectPage page;
  bool more = false;
  for (const auto& [path, text] : texts) {
    if (path == root + "/Contents/Key")
      page.keys.push_back(decoded_key(text, encoded));
    else if (path == root + "/CommonPrefixes/Prefix")
      page.folders.push_back(decoded_key(text, encoded));
    else if (path == root + "/NextContinuationToken")
      page.next = text;
    else if (path == root + "/IsTruncated")
      more = trimmed(text) == "true";
  }
  if (!more) page.next.clear();
  if (more && page.next.empty()) throw bad_answer("a list goes on, and does not say where");
  return page;
}

ServerError parse_server_error(std::string_view document) {
  ServerError error;
  try {
    const std::vector<XmlText> texts = xml_texts(document);
    if (texts.back().path != "Error") return error;
    for (const auto& [path, text] : texts) {
      if (path == "Error/Code") error.code = trimmed(text);
      if (path == "Error/Message") error.message = trimmed(text);
      if (path == "Error/Region") error.region = trimmed(text);
    }
  } catch (const Error&) {  // the page of some proxy
  }
  return error;
}

std::vector<ServerError> parse_removal(std::string_view document) {
  const std::vector<XmlText> texts = xml_texts(document);
  const std::string root = texts.back().path;
  if (root != "DeleteResult") throw bad_answer("it is none to a removal of objects");
  std::vector<ServerError> errors;
  for (const auto& [path, text] : texts) {
    // One of each element in an error, in any order.
    if (path == root + "/Error/Code") errors.push_back({trimmed(text), "", ""});
    if (path == root + "/Error/Message" && !errors.empty()) errors.back().message = trimmed(text);
  }
  return errors;
}

std::string text_of_element(std::string_view document, const std::string& path) {
  for (const XmlText& t : xml_texts(document))
    if (t.path == path && !t.text.empty()) return t.text;
  throw bad_answer("it has no " + path);
}

std::string xml_escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\r')  // would be read as a line feed
      out += "&#13;";
    else
      out += c;
  }
  return out;
}

}  // namespace shoal
#endif
