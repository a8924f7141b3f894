#include "xml_file.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/xml_encoding.hpp>
#include <bench/document/xml_scan.hpp>

namespace bench::document {
namespace {

constexpr unsigned parse_flags = pugi::parse_cdata | pugi::parse_escapes | pugi::parse_eol |
                                 pugi::parse_wconv_attribute | pugi::parse_ws_pcdata;

[[noreturn]] void fail_at_lone_bracket(const Place& place) {
  throw Error("this '<' begins no element", "write &lt; for the character itself", place);
}

}  // namespace

XmlFile::XmlFile(const std::string& text, const std::string& file)
    : source_(xml_to_utf8(text, file), file), expanded_(source_), buffer_(expanded_.text()) {
  if (strip(buffer_).empty())
    throw Error("the file is empty", "", Place{file, 0, 0});
  const auto result = document_.load_buffer_inplace(buffer_.data(), buffer_.size(), parse_flags,
                                                    pugi::encoding_utf8);
  if (!result)
    fail(result);
  check_shape();
}

/// What the parser lets pass.
void XmlFile::check_shape() const {
  const pugi::xml_node first = root();
  if (first.empty())
    throw Error("no element in this file", "", expanded_.place(0));
  for (pugi::xml_node next = first.next_sibling(); next; next = next.next_sibling())
    if (next.type() == pugi::node_element)
      throw Error(fmt::format("a second root element, <{}>", next.name()),
                  "put everything into one element", place(next));
}

/// Names the elements that do not fit; the parser only knows that there are such.
void XmlFile::fail_at_open_element() const {
  const std::string_view text = expanded_.text();
  std::vector<std::size_t> open;
  const auto name_at = [&](std::size_t begin) {
    return text.substr(begin, text.find_first_of(" \t\r\n/>", begin) - begin);
  };
  for (auto at = text.find('<'); at != std::string_view::npos; at = text.find('<', at)) {
    const auto verbatim = skip_verbatim(text, at);
    if (verbatim != at) {
      at = verbatim;
    } else if (text.substr(at, 2) == "</") {
      const auto name = name_at(at + 2);
      if (open.empty())
        throw Error(fmt::format("</{}> closes nothing", name), "", expanded_.place(at));
      if (name != name_at(open.back() + 1))
        throw Error(fmt::format("</{}> appears where <{}> of line {} is open", name,
                                name_at(open.back() + 1), expanded_.place(open.back()).line),
                    "the innermost element is closed first", expanded_.place(at));
      open.pop_back();
      ++at;
    } else {
      if (name_at(at + 1).empty())
        fail_at_lone_bracket(expanded_.place(at));
      open.push_back(at);
      at = end_of_tag(text, at);
      if (at < text.size() && text[at - 1] == '/')
        open.pop_back();
    }
  }
  if (!open.empty())
    throw Error(fmt::format("<{}> is never closed", name_at(open.back() + 1)), "",
                expanded_.place(open.back()));
}

void XmlFile::fail(const pugi::xml_parse_result& result) const {
  auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0));
  std::string message = "this element is not valid XML";
  std::string hint = "write &lt; for a '<' in a text";
  if (result.status == pugi::status_end_element_mismatch) {
    fail_at_open_element();
  } else if (result.status == pugi::status_bad_attribute) {
    message = "this is not an attribute";
    hint = "attributes are written name=\"value\", with a blank between them";
  } else if (result.status == pugi::status_no_document_element) {
    message = "no element in this file";
    hint = "";
  } else if (result.status == pugi::status_unrecognized_tag) {
    const std::size_t behind_bracket = std::max<std::size_t>(offset, 1);
    fail_at_lone_bracket(expanded_.place(std::min(behind_bracket - 1, expanded_.text().size())));
  }
  throw Error(message, hint, expanded_.place(std::min(offset, expanded_.text().size())));
}

std::size_t XmlFile::offset_of(const char* in_buffer) const {
  return static_cast<std::size_t>(in_buffer - buffer_.data());
}

Place XmlFile::place(const pugi::xml_node& node) const {
  if (node.type() == pugi::node_element)
    return expanded_.place(offset_of(node.name()) - 1);
  const auto begin = offset_of(node.value());
  const auto first = expanded_.text().find_first_not_of(" \t\r\n", begin);
  return expanded_.place(std::min(first, expanded_.text().size()));
}

Place XmlFile::name_place(const pugi::xml_attribute& attribute) const {
  return expanded_.place(offset_of(attribute.name()));
}

Place XmlFile::value_place(const pugi::xml_attribute& attribute) const {
  return expanded_.place(offset_of(attribute.value()));
}

}  // namespace bench::document
