#pragma once

#include <cstddef>
#include <string_view>

namespace bench::document {

/// The offset behind the next `end`; npos where there is none.
std::size_t behind(std::string_view text, std::size_t begin, std::string_view end);

/// The offset behind a comment, CDATA section, processing instruction or document type that begins
/// at `at`; `at` where none does, npos where it is never closed.
std::size_t skip_verbatim(std::string_view text, std::size_t at);

/// The offset of the `>` of a tag or declaration; quoted values may hold that character, too. The
/// size of the text where there is none.
std::size_t end_of_tag(std::string_view text, std::size_t begin);

/// Behind the quoted text that begins at `at`; npos where it is never closed.
std::size_t skip_quoted(std::string_view text, std::size_t at);

/// The name between `&` and `;` of a reference that begins at `at`; empty where it is none.
std::string_view reference_at(std::string_view text, std::size_t at);

/// True for `#10` and `#xA`: a character that XML may hold.
bool is_character_reference(std::string_view name);

/// True for `lt`, `gt`, `amp`, `quot` and `apos`.
bool is_predefined_entity(std::string_view name);

}  // namespace bench::document
