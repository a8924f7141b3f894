#pragma once

#include <string>
#include <string_view>

namespace bench::document {

/// Whether the bytes begin as XML in UTF-16 does: with a byte order mark or with `<`.
bool is_utf16(std::string_view bytes);

/// The text of an XML file as UTF-8: from UTF-16, and from Latin-1 where the file declares that.
/// @throws Error if the file declares another encoding than these, or does not have the encoding
/// that it declares
std::string xml_to_utf8(const std::string& bytes, const std::string& file);

}  // namespace bench::document
