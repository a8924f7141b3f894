#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <bench/document/xml_scan.hpp>

namespace bench::document {
namespace {

/// Behind a `<!DOCTYPE ... [ ... ]>`, whose declarations and comments may hold brackets.
std::size_t behind_doctype(std::string_view text, std::size_t begin) {
  bool subset = false;
  for (std::size_t at = begin; at < text.size();) {
    const char c = text[at];
    if (c == '>' && !subset)
      return at + 1;
    if (c == '[' || c == ']')
      subset = c == '[';
    std::size_t next = at + 1;
    if (c == '"' || c == '\'')
      next = skip_quoted(text, at);
    else if (c == '<' && text.substr(at, 9) != "<!DOCTYPE")
      next = std::max(skip_verbatim(text, at), next);
    if (next == std::string_view::npos)
      return next;
    at = next;
  }
  return std::string_view::npos;
}

}  // namespace

std::size_t behind(std::string_view text, std::size_t begin, std::string_view end) {
  const auto found = text.find(end, begin);
  return found == std::string_view::npos ? found : found + end.size();
}

std::size_t skip_verbatim(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("<!--"))
    return behind(text, at + 4, "-->");
  if (rest.starts_with("<![CDATA["))
    return behind(text, at, "]]>");
  if (rest.starts_with("<?"))
    return behind(text, at, "?>");
  if (rest.starts_with("<!DOCTYPE"))
    return behind_doctype(text, at + 1);
  return at;
}

std::size_t end_of_tag(std::string_view text, std::size_t begin) {
  char quote = '\0';
  for (std::size_t at = begin; at < text.size(); ++at)
    if (quote != '\0')
      quote = text[at] == quote ? '\0' : quote;
    else if (text[at] == '"' || text[at] == '\'')
      quote = text[at];
    else if (text[at] == '>')
      return at;
  return text.size();
}

std::size_t skip_quoted(std::string_view text, std::size_t at) {
  return behind(text, at + 1, text.substr(at, 1));
}

std::string_view reference_at(std::string_view text, std::size_t at) {
  const std::string_view rest = text.substr(at + 1);
  const auto length = rest.find_first_of("; \t\r\n<&\"'");
  const bool closed = length != std::string_view::npos && rest[length] == ';';
  return closed ? rest.substr(0, length) : std::string_view();
}

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

bool is_predefined_entity(std::string_view name) {
  constexpr std::array<std::string_view, 5> known{"lt", "gt", "amp", "quot", "apos"};
  return std::ranges::find(known, name) != known.end();
}

}  // namespace bench::document
