#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/document/source.hpp>
#include <bench/document/value.hpp>
#include <bench/document/xml_entities.hpp>
#include <bench/document/xml_scan.hpp>

namespace bench::document {
namespace {

constexpr auto nowhere = std::string_view::npos;
constexpr std::string_view white_space = " \t\r\n";

// Far more than any benchmark needs, and little enough for any machine.
constexpr std::size_t max_inserted = std::size_t{8} << 20;

/// What a declaration makes of its value: only character references are replaced at once.
/// Source: Extensible Markup Language 1.0 (fifth edition), 4.4.5 and 4.5.
std::string with_characters(std::string_view value) {
  std::string text;
  for (std::size_t at = 0; at < value.size(); ++at) {
    const std::string_view name = value[at] == '&' ? reference_at(value, at) : std::string_view();
    if (!is_character_reference(name)) {
      text += value[at];
      continue;
    }
    const bool hexadecimal = name[1] == 'x';
    const std::string digits(name.substr(hexadecimal ? 2 : 1));
    text += utf8_of(static_cast<char32_t>(std::stoul(digits, nullptr, hexadecimal ? 16 : 10)));
    at += name.size() + 1;
  }
  return text;
}

/// The document type before the first element; `nowhere` where there is none.
std::size_t doctype_begin(std::string_view text) {
  for (auto at = text.find('<'); at != nowhere; at = text.find('<', at)) {
    if (text.substr(at).starts_with("<!DOCTYPE"))
      return at;
    const auto next = skip_verbatim(text, at);
    if (next == at || next == nowhere)
      return nowhere;
    at = next;
  }
  return nowhere;
}

/// Of the `[` in a document type, outside of its quoted names; `nowhere` where it has none.
std::size_t subset_begin(std::string_view doctype) {
  for (std::size_t at = 0; at < doctype.size();) {
    if (doctype[at] == '[')
      return at;
    at = doctype[at] == '"' || doctype[at] == '\'' ? skip_quoted(doctype, at) : at + 1;
  }
  return nowhere;
}

}  // namespace

ExpandedXml::ExpandedXml(const Source& source) : source_(source) {
  declare_all(source.text());
  copy({.text = source.text()}, output_);
}

void ExpandedXml::Output::append(std::string_view copied, std::size_t origin) {
  if (pieces.empty() || pieces.back().inserted)
    pieces.push_back({text.size(), origin, false});
  text += copied;
}

void ExpandedXml::declare_all(std::string_view text) {
  const auto begin = doctype_begin(text);
  const auto end = begin == nowhere ? nowhere : skip_verbatim(text, begin);
  if (end == nowhere)
    return;
  const std::string_view doctype = text.substr(begin, end - begin);
  if (const auto subset = subset_begin(doctype); subset != nowhere)
    declare_those_of(doctype.substr(subset + 1), begin + subset + 1);
}

void ExpandedXml::declare_those_of(std::string_view subset, std::size_t begin) {
  for (auto at = subset.find('<'); at != nowhere; at = subset.find('<', at)) {
    const auto verbatim = skip_verbatim(subset, at);
    const auto end = verbatim == at ? end_of_tag(subset, at) : verbatim;
    if (subset.substr(at).starts_with("<!ENTITY"))
      declare(subset.substr(at, end - at), begin + at);
    at = std::min(end, subset.size());
  }
}

void ExpandedXml::declare(std::string_view declaration, std::size_t begin) {
  const Error malformed("this does not declare an entity", "write <!ENTITY name \"text\">",
                        source_.place(begin));
  const auto name_begin =
      declaration.find_first_not_of(white_space, std::string_view("<!ENTITY").size());
  const auto name_end = declaration.find_first_of(white_space, name_begin);
  const auto value_begin = declaration.find_first_not_of(white_space, name_end);
  if (value_begin == nowhere)
    throw malformed;
  const std::string name(declaration.substr(name_begin, name_end - name_begin));
  if (name == "%")  // for the document type itself, of which bench reads entities alone
    return;
  Entity entity{.value = {}, .offset = begin + value_begin};
  const std::string_view value = declaration.substr(value_begin);
  if (value.starts_with('"') || value.starts_with('\'')) {
    const auto value_end = skip_quoted(value, 0);
    if (value_end == nowhere)
      throw malformed;
    entity.value = with_characters(value.substr(1, value_end - 2));
  } else if (value.starts_with("SYSTEM") || value.starts_with("PUBLIC")) {
    entity.external = true;
  } else {
    throw malformed;
  }
  entities_.try_emplace(name, std::move(entity));  // of several declarations the first counts
}

void ExpandedXml::copy(const Input& input, Output& output) {
  const std::string_view text = input.text;
  std::size_t at = 0;
  const auto copy_until = [&](std::size_t end) {
    output.append(text.substr(at, end - at), at);
    at = end;
  };
  for (auto next = text.find_first_of("<&"); next != nowhere; next = text.find_first_of("<&", at)) {
    copy_until(next);
    if (text[next] == '&') {
      at = copy_reference(input, next, false, output);
      continue;
    }
    const auto verbatim = skip_verbatim(text, next);
    if (verbatim == nowhere)
      throw Error(
          fmt::format("'{}' is never closed", text.substr(next, text[next + 1] == '?' ? 2 : 4)), "",
          place_in(input, next));
    if (verbatim != next) {
      copy_until(verbatim);
    } else if (const auto end = end_of_tag(text, next); end == text.size()) {
      copy_until(next + 1);  // a mistake, which the parser explains better
    } else {
      copy_tag(input, next, end, output);
      at = end;
    }
  }
  copy_until(text.size());
}

void ExpandedXml::copy_tag(const Input& input, std::size_t begin, std::size_t end, Output& output) {
  const std::string_view tag = input.text.substr(0, end);
  std::size_t at = begin;
  while (at < end) {
    const auto next = std::min(tag.find('&', at), end);
    output.append(tag.substr(at, next - at), at);
    at = next == end ? end
                     : copy_reference({.text = tag, .entity = input.entity}, next, true, output);
  }
}

std::size_t ExpandedXml::copy_reference(const Input& input, std::size_t at, bool in_value,
                                        Output& output) {
  const std::string name(reference_at(input.text, at));
  const std::size_t behind_it = at + name.size() + 2;
  const Place place = place_in(input, at);
  const auto found = entities_.find(name);
  if (found == entities_.end()) {
    if (!is_predefined_entity(name) && !is_character_reference(name))
      throw Error(name.empty() ? "'&' does not begin an entity"
                               : fmt::format("unknown entity '&{};'", name),
                  "write &amp; for the character itself", place);
    output.append(input.text.substr(at, behind_it - at), at);
    return behind_it;
  }
  std::string text = replacement_of(found->second, name, place);
  if (in_value && text.find('<') != nowhere)
    throw Error(fmt::format("entity '&{};' holds a '<', which no attribute may", name),
                "write &#38;lt; in its text for the character itself", place);
  if (in_value)
    text = replace_all(replace_all(std::move(text), "\"", "&quot;"), "'", "&apos;");
  inserted_ += text.size();
  if (inserted_ > max_inserted)
    throw Error("the entities of this file stand for more than 8 MiB of text",
                "the limit keeps a small file from filling the memory", place);
  output.pieces.push_back({output.text.size(), at, true});
  output.text += text;
  return behind_it;
}

const std::string& ExpandedXml::replacement_of(Entity& entity, const std::string& name,
                                               const Place& place) {
  if (entity.external)
    throw Error(fmt::format("entity '&{};' is in another file, and such files are not read", name),
                "write its text into this file, or take elements in by <include from=\"FILE\"/>",
                place);
  if (entity.expanded)
    return entity.replacement;
  if (entity.open)
    throw Error(fmt::format("entity '&{};' contains itself", name), "",
                source_.place(entity.offset));
  if (depth_ == max_depth)
    throw Error(fmt::format("entities nested more than {} levels deep", max_depth), "", place);
  ++depth_;
  entity.open = true;
  Output output;
  copy({.text = entity.value, .entity = &entity}, output);
  entity.replacement = std::move(output.text);
  entity.open = false;
  entity.expanded = true;
  --depth_;
  return entity.replacement;
}

Place ExpandedXml::place_in(const Input& input, std::size_t offset) const {
  return source_.place(input.entity ? input.entity->offset : offset);
}

Place ExpandedXml::place(std::size_t offset) const {
  const auto next = std::ranges::upper_bound(output_.pieces, offset, {}, &Piece::begin);
  const Piece& piece = *std::prev(next);
  return source_.place(piece.inserted ? piece.origin : piece.origin + (offset - piece.begin));
}

}  // namespace bench::document
