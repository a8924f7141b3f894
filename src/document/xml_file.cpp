#include "xml_file.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>

namespace bench::document {
namespace {

constexpr unsigned parse_flags = pugi::parse_cdata | pugi::parse_escapes | pugi::parse_eol |
                                 pugi::parse_wconv_attribute | pugi::parse_ws_pcdata;

/// The encoding that the first line declares, in lower case; empty for none.
std::string declared_encoding(std::string_view text) {
  if (!text.starts_with("<?xml"))
    return "";
  const std::string_view declaration = text.substr(0, text.find("?>"));
  const auto key = declaration.find("encoding");
  const auto begin = key == std::string_view::npos ? key : declaration.find_first_of("\"'", key);
  if (begin == std::string_view::npos)
    return "";
  const auto end = declaration.find(declaration[begin], begin + 1);
  return to_lower(declaration.substr(begin + 1, end - begin - 1));
}

/// Each byte of Latin-1 is the character of that number.
std::string to_utf8(const std::string& text, const std::string& file) {
  const std::string encoding = declared_encoding(text);
  if (encoding.empty() || encoding == "utf-8" || encoding == "utf8" || encoding == "us-ascii" ||
      encoding == "ascii")
    return text;
  if (encoding != "iso-8859-1" && encoding != "latin1" && encoding != "latin-1")
    throw Error(fmt::format("the encoding '{}' is not supported", encoding),
                "save the file as UTF-8", Place{file, 1, 1});
  std::string utf8;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80)
      utf8 += static_cast<char>(0xC0 | (byte >> 6));
    utf8 += byte < 0x80 ? c : static_cast<char>(0x80 | (byte & 0x3F));
  }
  return utf8;
}

/// Behind `end`, where something begins at `begin` in which markup means nothing; npos if it is
/// never closed.
std::size_t behind(std::string_view text, std::size_t begin, std::string_view end) {
  const auto found = text.find(end, begin);
  return found == std::string_view::npos ? found : found + end.size();
}

/// Behind a `<!DOCTYPE ... [ ... ]>`; its brackets may hold `>`.
std::size_t behind_doctype(std::string_view text, std::size_t begin) {
  const auto bracket = text.find_first_of("[>", begin);
  if (bracket == std::string_view::npos || text[bracket] == '>')
    return behind(text, begin, ">");
  const auto close = behind(text, bracket, "]");
  return close == std::string_view::npos ? close : behind(text, close, ">");
}

/// The offset behind the construct without entities that begins at `at`; `at` where none does.
std::size_t skip_verbatim(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("<!--"))
    return behind(text, at + 4, "-->");
  if (rest.starts_with("<![CDATA["))
    return behind(text, at, "]]>");
  if (rest.starts_with("<?"))
    return behind(text, at, "?>");
  if (rest.starts_with("<!DOCTYPE"))
    return behind_doctype(text, at);
  return at;
}

/// Of the `>` of a tag, which may stand in a quoted value as well; the text's last byte where the
/// tag has none.
std::size_t end_of_tag(std::string_view text, std::size_t begin) {
  char quote = '\0';
  for (std::size_t at = begin; at < text.size(); ++at)
    if (quote != '\0')
      quote = text[at] == quote ? '\0' : quote;
    else if (text[at] == '"' || text[at] == '\'')
      quote = text[at];
    else if (text[at] == '>')
      return at;
  return text.size() - 1;
}

/// True for `#10` and `#xA`: a character that XML may hold.
bool is_character_reference(std::string_view name) {
  if (!name.starts_with('#'))
    return false;
  name.remove_prefix(1);
  const bool hexadecimal = name.starts_with('x');
  if (hexadecimal)
    name.remove_prefix(1);
  const std::string_view digits = hexadecimal ? "0123456789abcdefABCDEF" : "0123456789";
  if (name.empty() || name.size() > 8 || name.find_first_not_of(digits) != std::string_view::npos)
    return false;
  const auto code = std::stoul(std::string(name), nullptr, hexadecimal ? 16 : 10);
  const bool white = code == '\t' || code == '\n' || code == '\r';
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  return white || (code >= 0x20 && code <= 0x10FFFF && !surrogate);
}

}  // namespace

XmlFile::XmlFile(const std::string& text, const std::string& file)
    : source_(to_utf8(text, file), file), buffer_(source_.text()) {
  if (strip(buffer_).empty())
    throw Error("the file is empty", "", Place{file, 0, 0});
  check_entities();
  const auto result = document_.load_buffer_inplace(buffer_.data(), buffer_.size(), parse_flags,
                                                    pugi::encoding_utf8);
  if (!result)
    fail(result);
  check_shape();
}

/// The parser leaves unknown entities as they are, so they are looked for before.
void XmlFile::check_entities() const {
  const std::string_view text = source_.text();
  for (auto at = text.find_first_of("<&"); at != std::string_view::npos;
       at = text.find_first_of("<&", at)) {
    if (text[at] == '&')
      check_entity(at);
    const auto behind_it = skip_verbatim(text, at);
    if (behind_it == std::string_view::npos)
      throw Error(fmt::format("'{}' is never closed", text.substr(at, text[at + 1] == '?' ? 2 : 4)),
                  "", source_.place(at));
    at = behind_it == at ? at + 1 : behind_it;
  }
}

void XmlFile::check_entity(std::size_t offset) const {
  const std::string_view rest = std::string_view(source_.text()).substr(offset + 1);
  const auto length = rest.find_first_of("; \t\r\n<&\"'");
  const std::string name(rest.substr(0, length));
  const bool closed = length != std::string_view::npos && rest[length] == ';';
  constexpr std::array known{"lt", "gt", "amp", "quot", "apos"};
  if (closed && (std::ranges::find(known, name) != known.end() || is_character_reference(name)))
    return;
  throw Error(closed ? fmt::format("unknown entity '&{};'", name) : "'&' does not begin an entity",
              "write &amp; for the character itself", source_.place(offset));
}

/// What the parser lets pass.
void XmlFile::check_shape() const {
  const pugi::xml_node first = root();
  if (first.empty())
    throw Error("no element in this file", "", source_.place(std::size_t{0}));
  for (pugi::xml_node next = first.next_sibling(); next; next = next.next_sibling())
    if (next.type() == pugi::node_element)
      throw Error(fmt::format("a second root element, <{}>", next.name()),
                  "put everything into one element", place(next));
}

/// Names the elements that do not fit; the parser only knows that there are such.
void XmlFile::fail_at_open_element() const {
  const std::string_view text = source_.text();
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
        throw Error(fmt::format("</{}> closes nothing", name), "", source_.place(at));
      if (name != name_at(open.back() + 1))
        throw Error(fmt::format("</{}> stands where <{}> of line {} is open", name,
                                name_at(open.back() + 1), source_.place(open.back()).line),
                    "the innermost element is closed first", source_.place(at));
      open.pop_back();
      ++at;
    } else {
      open.push_back(at);
      at = end_of_tag(text, at);
      if (text[at - 1] == '/')
        open.pop_back();
    }
  }
  if (!open.empty())
    throw Error(fmt::format("<{}> is never closed", name_at(open.back() + 1)), "",
                source_.place(open.back()));
}

void XmlFile::fail(const pugi::xml_parse_result& result) const {
  auto offset = static_cast<std::size_t>(std::max<std::ptrdiff_t>(result.offset, 0));
  std::string message = "this element is not written as XML wants it";
  std::string hint = "write &lt; for a '<' in a text";
  if (result.status == pugi::status_end_element_mismatch) {
    fail_at_open_element();
  } else if (result.status == pugi::status_bad_attribute) {
    message = "this is no attribute";
    hint = "attributes are written name=\"value\", with a blank between them";
  } else if (result.status == pugi::status_no_document_element) {
    message = "no element in this file";
    hint = "";
  } else if (result.status == pugi::status_unrecognized_tag) {
    message = "this '<' begins no element";
    hint = "write &lt; for the character itself";
    offset = std::max<std::size_t>(offset, 1) - 1;
  }
  throw Error(message, hint, source_.place(std::min(offset, source_.text().size())));
}

std::size_t XmlFile::offset_of(const char* in_buffer) const {
  return static_cast<std::size_t>(in_buffer - buffer_.data());
}

Place XmlFile::place(const pugi::xml_node& node) const {
  if (node.type() == pugi::node_element)
    return source_.place(offset_of(node.name()) - 1);
  const auto begin = offset_of(node.value());
  const auto first = source_.text().find_first_not_of(" \t\r\n", begin);
  return source_.place(std::min(first, source_.text().size()));
}

Place XmlFile::name_place(const pugi::xml_attribute& attribute) const {
  return source_.place(offset_of(attribute.name()));
}

Place XmlFile::value_place(const pugi::xml_attribute& attribute) const {
  return source_.place(offset_of(attribute.value()));
}

}  // namespace bench::document
