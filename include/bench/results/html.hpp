#pragma once

#include <string>
#include <string_view>

#include <bench/results/table.hpp>

namespace bench::results {

/// Text of anybody's as HTML, also between quotes: a browser executes nothing of it. Control
/// characters are shown.
std::string html_text(std::string_view text);

/// The element `table`: what the style html puts on a page. Numbers have the class `n`.
/// @throws Error if a value does not fit its format
std::string html_table(const Table& table);

}  // namespace bench::results
