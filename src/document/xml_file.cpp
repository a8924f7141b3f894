#include "xml_file.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#define XML_DTD  // expat.h declares its limits on entities only then
#include "value.hpp"

#include <expat.h>
#include <fmt/core.h>
#include <utf8.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>

namespace bench::document {
namespace {

using namespace std::string_view_literals;

constexpr auto nowhere = std::string_view::npos;
constexpr std::string_view white_space = " \t\r\n";

// Far more than any benchmark needs, and little enough for any machine.
constexpr unsigned long long max_inserted = 8 << 20;

/// Fed before the text of each file. A standalone document has no declarations elsewhere, so that
/// an entity that the file does not declare is a mistake even where it names another document type.
constexpr std::string_view declaration = "<?xml version='1.0' standalone='yes'?>";

/// The encoding that the first line declares, in lower case; empty for none.
std::string declared_encoding(std::string_view text) {
  if (!text.starts_with("<?xml"))
    return "";
  const std::string_view first = text.substr(0, text.find("?>"));
  const auto key = first.find("encoding");
  const auto begin = key == nowhere ? key : first.find_first_of("\"'", key);
  if (begin == nowhere)
    return "";
  return to_lower(first.substr(begin + 1, first.find(first[begin], begin + 1) - begin - 1));
}

std::string utf16_to_utf8(std::string_view bytes, const std::string& file) {
  const bool big_endian = bytes.starts_with("\xFE\xFF"sv) || bytes.starts_with("\0<"sv);
  if (bytes.starts_with("\xFE\xFF"sv) || bytes.starts_with("\xFF\xFE"sv))
    bytes.remove_prefix(2);
  std::u16string units;
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
    const auto first = static_cast<unsigned char>(bytes[at]);
    const auto second = static_cast<unsigned char>(bytes[at + 1]);
    units += static_cast<char16_t>(big_endian ? first << 8 | second : second << 8 | first);
  }
  if (bytes.size() % 2 != 0)
    units += u'\xDC00';  // half a character, which is an error
  std::string utf8;
  try {
    utf8::utf16to8(units.begin(), units.end(), std::back_inserter(utf8));
  } catch (const utf8::exception&) {
    const auto line = 1 + std::ranges::count(utf8, '\n');
    throw Error(Id::syntax, "bytes that are not UTF-16", "save the file as UTF-8",
                Place{file, static_cast<int>(line), 0});
  }
  return utf8;
}

/// The text of a file as UTF-8. Expat reads other encodings, too, but counts in their bytes, and
/// takes half a surrogate pair for a character.
std::string to_utf8(const std::string& bytes, const std::string& file) {
  const bool utf16 = is_utf16(bytes);
  std::string text = utf16 ? utf16_to_utf8(bytes, file) : bytes;
  const std::string encoding = declared_encoding(text);
  constexpr std::array latin1{"iso-8859-1", "latin1", "latin-1"};
  constexpr std::array utf8{"", "utf-8", "utf8", "us-ascii", "ascii"};
  if (utf16 || std::ranges::find(utf8, encoding) != utf8.end())
    return text;
  if (encoding.starts_with("utf-16"))
    throw Error(Id::syntax,
                fmt::format("the file declares the encoding '{}' and has another", encoding),
                "save the file as UTF-8", Place{file, 1, 1});
  if (std::ranges::find(latin1, encoding) == latin1.end())
    throw Error(Id::syntax, fmt::format("the encoding '{}' is not supported", encoding),
                "save the file as UTF-8", Place{file, 1, 1});
  std::string made;
  for (const char c : text)  // each byte is the character of that number
    made += utf8_of(static_cast<unsigned char>(c));
  return made;
}

/// The name of the next reference to an entity from `at`, which moves behind it; empty: there is
/// none.
std::string next_reference(std::string_view text, std::size_t& at) {
  const auto begin = text.find('&', at);
  const auto end = begin == nowhere ? begin : text.find(';', begin);
  if (end == nowhere)
    return "";
  at = end + 1;
  return std::string(text.substr(begin + 1, end - begin - 1));
}

/// Makes the tree from what Expat reports, and its errors into ours.
class XmlBuilder {
 public:
  XmlBuilder(const Source& source, pugi::xml_document& document, XmlSpots& spots)
      : source_(source), text_(source.text()), spots_(spots), open_(document) {
    for (const char* known : {"lt", "gt", "amp", "quot", "apos"})
      entities_.try_emplace(known);
    XML_Parser parser = parser_.get();
    XML_SetUserData(parser, this);
    XML_SetElementHandler(
        parser,
        [](void* self, const char* name, const char** attributes) {
          of(self).start(name, attributes);
        },
        [](void* self, const char*) { of(self).end(); });
    XML_SetCharacterDataHandler(parser, [](void* self, const char* text, int size) {
      of(self).add_text({text, static_cast<std::size_t>(size)});
    });
    XML_SetDoctypeDeclHandler(
        parser,
        [](void* self, const char*, const char*, const char*, int) {
          of(self).doctype_ = of(self).text_.rfind("<!DOCTYPE", of(self).offset());
        },
        [](void* self) { of(self).doctype_ = nowhere; });
    XML_SetEntityDeclHandler(
        parser, [](void* self, const char* name, int of_document_type, const char* value, int size,
                   const char*, const char*, const char*, const char*) {
          if (of_document_type == 0)
            of(self).declare(
                name, value ? std::optional(std::string_view(value, static_cast<std::size_t>(size)))
                            : std::nullopt);
        });
    XML_SetExternalEntityRefHandler(
        parser, [](XML_Parser, const char*, const char*, const char*, const char*) -> int {
          return XML_STATUS_ERROR;
        });
    // Expat counts the file, too: what it makes of one may be larger, but not twice as large.
    XML_SetBillionLaughsAttackProtectionActivationThreshold(parser, max_inserted);
    XML_SetBillionLaughsAttackProtectionMaximumAmplification(parser, 2);
  }

  /// @throws Error with the place
  void read() {
    const auto begin = std::min(text_.find_first_not_of(white_space), text_.size());
    if (text_.substr(begin).starts_with("<?xml") &&
        text_.find_first_of(" \t\r\n?", begin + 2) == begin + 5) {
      const auto end = text_.find("?>", begin);
      if (end == nowhere)
        throw Error(Id::syntax, "'<?xml' is never closed", "", source_.place(begin));
      skipped_ = end + 2;
    }
    const std::string_view rest = text_.substr(skipped_);
    XML_Parser parser = parser_.get();
    if (XML_Parse(parser, declaration.data(), static_cast<int>(declaration.size()), 0) !=
            XML_STATUS_OK ||
        XML_Parse(parser, rest.data(), static_cast<int>(rest.size()), 1) != XML_STATUS_OK)
      throw stopped_ ? *stopped_ : error(XML_GetErrorCode(parser), offset());
  }

 private:
  struct Entity {
    std::string value;
    std::size_t offset = 0;  ///< Of the declared value in the file.
    bool external = false;
  };

  static XmlBuilder& of(void* builder) { return *static_cast<XmlBuilder*>(builder); }

  /// Of what Expat reports: of a reference, if that is in the text of an entity.
  std::size_t offset() const {
    const auto index = static_cast<std::size_t>(XML_GetCurrentByteIndex(parser_.get()));
    return std::min(skipped_ + std::max(index, declaration.size()) - declaration.size(),
                    text_.size() - 1);
  }

  void start(const char* name, const char** attributes) noexcept {
    finish_text();
    const auto begin = offset();
    const bool in_file = text_[begin] == '<';
    open_ = open_.append_child(name);
    spots_[open_.internal_object()] = {begin, begin};
    const int given = XML_GetSpecifiedAttributeCount(parser_.get());
    auto at = begin + 1 + std::strlen(name);
    for (int k = 0; k < given; k += 2) {
      pugi::xml_attribute made = open_.append_attribute(attributes[k]);
      made.set_value(attributes[k + 1]);
      XmlSpot& spot = spots_[made.internal_object()];
      spot = {begin, begin};
      if (in_file) {
        spot.begin = text_.find_first_not_of(white_space, at);
        spot.value = text_.find_first_of("\"'", spot.begin) + 1;
        at = text_.find(text_[spot.value - 1], spot.value) + 1;
      }
    }
  }

  void end() noexcept {
    finish_text();
    open_ = open_.parent();
  }

  void add_text(std::string_view piece) noexcept {
    const auto first = piece.find_first_not_of(white_space);
    if (pending_begin_ == nowhere && first != nowhere)
      pending_begin_ = offset() + (text_[offset()] == '&' ? 0 : first);
    pending_ += piece;
  }

  void finish_text() {
    if (pending_.empty())
      return;
    pugi::xml_node text = open_.append_child(pugi::node_pcdata);
    text.set_value(pending_.c_str());
    spots_[text.internal_object()] = {pending_begin_, pending_begin_};
    pending_.clear();
    pending_begin_ = nowhere;
  }

  void declare(const char* name, std::optional<std::string_view> value) noexcept {
    entities_.try_emplace(
        name,
        Entity{.value = std::string(value.value_or("")), .offset = offset(), .external = !value});
    // So many levels of entities Expat may have to go through, each deeper on the stack.
    if (value && value->find('&') != nowhere && ++nested_ > max_depth) {
      stopped_.emplace(Id::too_large,
                       fmt::format("more than {} entities that hold others", max_depth),
                       "the limit keeps their nesting within the memory", source_.place(offset()));
      XML_StopParser(parser_.get(), XML_FALSE);
    }
  }

  /// The mistake in the first reference from `at` that has one.
  std::optional<Error> blame_reference(XML_Error code, std::size_t at) const {
    std::set<std::string> open;
    std::set<std::string> seen;
    for (auto next = text_.find('&', at); next != nowhere; next = text_.find('&', at)) {
      at = next;
      const std::string name = next_reference(text_, at);
      auto found = name.empty() ? std::nullopt : blame(code, name, source_.place(next), open, seen);
      if (name.empty() || found)
        return found;
    }
    return std::nullopt;
  }

  std::optional<Error> blame(XML_Error code, const std::string& name, const Place& place,
                             std::set<std::string>& open, std::set<std::string>& seen) const {
    const auto found = entities_.find(name);
    if (name.starts_with('#') ? code == XML_ERROR_BAD_CHAR_REF : found == entities_.end())
      return Error(Id::syntax, fmt::format("unknown entity '&{};'", name),
                   "write &amp; for the character itself", place);
    if (found == entities_.end())
      return std::nullopt;
    const Entity& entity = found->second;
    if (entity.external)
      return Error(
          Id::syntax,
          fmt::format("entity '&{};' is in another file, and such files are not read", name),
          "write its text into this file, or take elements in by <include from=\"FILE\"/>", place);
    if (code == XML_ERROR_INVALID_TOKEN && entity.value.find('<') != nowhere)
      return Error(Id::syntax,
                   fmt::format("entity '&{};' holds a '<', which no attribute may", name),
                   "write &#38;lt; in its text for the character itself", place);
    const Place here = source_.place(entity.offset);
    if (open.contains(name))
      return Error(Id::syntax, fmt::format("entity '&{};' contains itself", name), "", here);
    if (!seen.insert(name).second)
      return std::nullopt;
    open.insert(name);
    std::size_t at = 0;
    for (auto inner = next_reference(entity.value, at); !inner.empty();
         inner = next_reference(entity.value, at))
      if (auto mistake = blame(code, inner, here, open, seen))
        return mistake;
    open.erase(name);
    return std::nullopt;
  }

  /// A name in the text, up to what ends one.
  std::string_view name_at(std::size_t at) const {
    return text_.substr(at, text_.find_first_of(" \t\r\n/>=", at) - at);
  }

  /// Of a character that cannot stand where it does.
  Error error_of_token(std::size_t at) const {
    const auto before = at - std::min<std::size_t>(at, 1);
    const auto reference = text_.find_last_of("&;<>'\" \t\r\n", before);
    if (at > 0 && reference != nowhere && text_[reference] == '&')
      return Error(Id::syntax, "'&' does not begin an entity",
                   "write &amp; for the character itself", source_.place(reference));
    if (text_.substr(before).starts_with("</"))
      return error_of_end_tag(before);
    if (text_[before] == '<' || strip(text_.substr(at)) == "<")
      return Error(Id::syntax, "this '<' begins no element", "write &lt; for the character itself",
                   source_.place(text_[before] == '<' ? before : at));
    if (const auto comment = text_.rfind("<!--", at);
        comment != nowhere && text_.find("--", comment + 4) < at)
      return Error(Id::syntax, "a comment holds '--'", "only its end may", source_.place(at - 2));
    if (text_.substr(0, at + 1).ends_with("]]>"))
      return Error(Id::syntax, "']]>' ends nothing", "write ]]&gt; for the text itself",
                   source_.place(at - 2));
    const auto tag = text_.rfind('<', before);
    const Error other(Id::syntax, "this is not valid XML", "", source_.place(at));
    if (tag == nowhere)
      return other;
    char quote = '\0';
    for (auto k = tag; k < at; ++k)
      if (quote != '\0')
        quote = text_[k] == quote ? '\0' : quote;
      else if (text_[k] == '"' || text_[k] == '\'')
        quote = text_[k];
      else if (text_[k] == '>')
        return text_[at] == '<' ? blame_reference(XML_ERROR_INVALID_TOKEN, at).value_or(other)
                                : other;
    if (text_[at] == '<' && quote != '\0')
      return Error(Id::syntax, "the value of an attribute holds a '<'",
                   "write &lt; for the character itself, or end the value before it",
                   source_.place(at));
    return Error(Id::syntax, "this is not an attribute",
                 "attributes are written name=\"value\", with a blank between them",
                 source_.place(at));
  }

  Error error_of_end_tag(std::size_t at) const {
    const auto name = name_at(at + 2);
    if (open_.type() != pugi::node_element)
      return Error(Id::syntax, fmt::format("</{}> closes nothing", name), "", source_.place(at));
    return Error(Id::syntax,
                 fmt::format("</{}> appears where <{}> of line {} is open", name, open_.name(),
                             source_.place(spots_.at(open_.internal_object()).begin).line),
                 "the innermost element is closed first", source_.place(at));
  }

  Error error(XML_Error code, std::size_t at) const {
    const std::string_view rest = text_.substr(at);
    const auto begin_of_entity = text_.rfind("<!ENTITY", at);
    switch (code) {
      case XML_ERROR_UNDEFINED_ENTITY:
      case XML_ERROR_RECURSIVE_ENTITY_REF:
      case XML_ERROR_ATTRIBUTE_EXTERNAL_ENTITY_REF:
      case XML_ERROR_EXTERNAL_ENTITY_HANDLING:
      case XML_ERROR_BAD_CHAR_REF:
        if (auto mistake = blame_reference(code, at))
          return *mistake;
        break;
      case XML_ERROR_AMPLIFICATION_LIMIT_BREACH:
        return Error(Id::too_large, "the entities of this file stand for more than 8 MiB of text",
                     "the limit keeps a small file from filling the memory", source_.place(at));
      case XML_ERROR_ASYNC_ENTITY:
      case XML_ERROR_TAG_MISMATCH:
        if (rest.starts_with('&'))
          return Error(Id::syntax, "this entity opens or closes an element, and does not do both",
                       "", source_.place(at));
        return error_of_end_tag(text_.rfind('<', at));
      case XML_ERROR_DUPLICATE_ATTRIBUTE:
        return Error(Id::syntax,
                     fmt::format("attribute '{}' appears twice in one element", name_at(at)), "",
                     source_.place(at));
      case XML_ERROR_UNCLOSED_CDATA_SECTION:
        return Error(Id::syntax, "'<![CDATA[' is never closed", "",
                     source_.place(text_.rfind("<![CDATA[", at)));
      case XML_ERROR_NO_ELEMENTS:
        if (doctype_ != nowhere)
          return Error(Id::syntax, "'<!DOCTYPE' is never closed", "", source_.place(doctype_));
        if (open_.type() == pugi::node_element)
          return Error(Id::syntax, fmt::format("<{}> is never closed", open_.name()), "",
                       source_.place(spots_.at(open_.internal_object()).begin));
        return Error(Id::syntax, "no element in this file", "", source_.place(at));
      case XML_ERROR_JUNK_AFTER_DOC_ELEMENT:
        if (rest.starts_with("</"))
          return error_of_end_tag(at);
        return Error(Id::syntax,
                     rest.starts_with('<')
                         ? fmt::format("a second root element, <{}>", name_at(at + 1))
                         : std::string("text behind the root element"),
                     "put everything into one element", source_.place(at));
      case XML_ERROR_UNCLOSED_TOKEN:
        if (strip(rest) != "<")
          return Error(
              Id::syntax,
              fmt::format("'{}' is never closed", rest.substr(0, rest.find_first_of(white_space))),
              "", source_.place(at));
        [[fallthrough]];
      case XML_ERROR_INVALID_TOKEN:
      case XML_ERROR_SYNTAX:
        if (doctype_ != nowhere && begin_of_entity != nowhere &&
            text_.substr(begin_of_entity, at - begin_of_entity).find('>') == nowhere)
          return Error(Id::syntax, "this does not declare an entity",
                       "write <!ENTITY name \"text\">", source_.place(begin_of_entity));
        if (code != XML_ERROR_SYNTAX)
          return error_of_token(at);
        break;
      default:
        break;
    }
    return Error(Id::syntax, fmt::format("this is not valid XML: {}", XML_ErrorString(code)), "",
                 source_.place(at));
  }

  const Source& source_;
  std::string_view text_;
  XmlSpots& spots_;
  pugi::xml_node open_;  ///< The innermost open element; outside of all the document.
  std::string pending_;  ///< Text that belongs into it.
  std::size_t pending_begin_ = nowhere;
  std::size_t doctype_ = nowhere;  ///< While it is open.
  std::map<std::string, Entity, std::less<>> entities_;
  int nested_ = 0;  ///< Entities that hold references to others.
  std::optional<Error> stopped_;
  std::size_t skipped_ = 0;  ///< The file's own declaration, which Expat does not see.
  std::unique_ptr<XML_ParserStruct, decltype(&XML_ParserFree)> parser_{XML_ParserCreate("UTF-8"),
                                                                       &XML_ParserFree};
};

}  // namespace

bool is_utf16(std::string_view bytes) {
  return bytes.starts_with("\xFF\xFE"sv) || bytes.starts_with("\xFE\xFF"sv) ||
         bytes.starts_with("<\0"sv) || bytes.starts_with("\0<"sv);
}

XmlFile::XmlFile(const std::string& text, const std::string& file)
    : source_(to_utf8(text, file), file) {
  if (strip(source_.text()).empty())
    throw Error(Id::syntax, "the file is empty", "", Place{file, 0, 0});
  XmlBuilder(source_, document_, spots_).read();
}

}  // namespace bench::document
