#pragma once

#include <cstddef>
#include <string>

namespace bench::cli {

/// Breaks a line at blanks so that none is longer than `width`; further lines are indented. Ends in
/// a newline.
std::string wrapped(const std::string& line, std::size_t indent, std::size_t width = 98);

}  // namespace bench::cli
