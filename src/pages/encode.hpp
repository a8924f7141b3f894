#pragma once

#include <string>
#include <string_view>

namespace bench::report {

/// RFC 4648, section 4.
std::string base64(std::string_view bytes);

/// `sha256-...`, as a Content-Security-Policy names a script.
std::string policy_hash(std::string_view script);

/// `text` with `& < > " '` as entities of HTML.
std::string html_text(std::string_view text);

}  // namespace bench::report
