#pragma once

#include <string>

namespace bench::cli {

/// The reference of the input language as a page of Markdown: docs/reference/language.md.
std::string language_reference();

}  // namespace bench::cli
