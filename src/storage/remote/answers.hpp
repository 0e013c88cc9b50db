// SPDX-License-Identifier: BSD-3-Clause
// What object stores answer, in XML.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace shoal {

/// Text of an element, and where it stands: "ListBucketResult/Contents/Key", without names of namespaces.
struct XmlText {
  std::string path;
  std::string text;
};
/// The texts of the elements that have no elements, in their order, and the root's path with no text at the
/// end. Error(format): it is no XML, has a document type (by which XML can grow without end), or is nested
/// deeper than any answer.
std::vector<XmlText> xml_texts(std::string_view document);

/// A page of a list of objects.
struct ObjectPage {
  std::vector<std::string> keys;
  std::vector<std::string> folders;  ///< with '/' at their ends
  std::string next;                  ///< token of the next page; empty: this is the last one
};
/// Error(format).
ObjectPage parse_object_page(std::string_view document);

/// What a server says of an error; all empty where it says nothing that can be read.
struct ServerError {
  std::string code;
  std::string message;
  std::string region;  ///< where the bucket is
};
ServerError parse_server_error(std::string_view document);

/// The errors in the answer to a removal of several objects. Error(format).
std::vector<ServerError> parse_removal(std::string_view document);

/// The text of an element. Error(format): there is none.
std::string text_of_element(std::string_view document, const std::string& path);

/// & < > " and a carriage return as they stand in XML. No XML has a key with other control characters.
std::string xml_escaped(std::string_view text);

}  // namespace shoal
