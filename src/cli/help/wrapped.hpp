#pragma once

#include <cstddef>
#include <string>

namespace bench::cli {

/// Breaks a line at blanks so that it fits a page; further lines are indented. Ends in a newline.
std::string wrapped(const std::string& line, std::size_t indent);

}  // namespace bench::cli
