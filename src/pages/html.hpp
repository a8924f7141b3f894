#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/results/table.hpp>

namespace bench::pages {

using results::html_text;

/// Names and values behind the `?` of an address.
using Parameters = std::vector<std::pair<std::string, std::string>>;

/// `run?name=runs%2F000003&id=1`: relative, since the first part of the server's paths is secret.
std::string address(std::string_view page, const Parameters& parameters);

/// @param text plain text, as in all functions here
std::string link(const std::string& address, std::string_view text);

/// A state in its colour. The script keeps it up to date unless `live` is empty.
std::string badge(std::string_view state, const std::string& live = "");

/// Text that the script keeps up to date.
/// @param live where it is in the JSON: `steps.0.done`
std::string live_text(std::string_view text, const std::string& live);

/// A term and its text in a list of facts; empty if the text is empty.
std::string fact(std::string_view name, std::string_view text);

/// Cells of a table.
/// @param tag `th` or `td`
std::string cells_html(const char* tag, const std::vector<std::string>& texts);

/// A table, scrolled if it is wide.
/// @param head cells, as HTML; empty: it has no head
/// @param rows as HTML
std::string table_html(const std::string& head, const std::string& rows);

std::string note(std::string_view text);

/// Where the script draws figures.
/// @param address of their JSON
std::string figures_place(const std::string& title, const std::string& address);

/// A value formatted for people, shortened if it is long; `n/a` with the reason if it is missing.
std::string cell_html(const results::Cell& cell);

/// The address that the script polls, and the version by which it decides whether to reload the
/// whole content or only to replace texts.
struct Live {
  std::string address;  ///< Empty: the page does not change.
  std::string version;
};

/// The part of a long table that a page shows.
struct Part {
  std::size_t from = 0;
  std::size_t rows = 0;  ///< At most.
  std::size_t all = 0;   ///< Of all parts.
};

/// `201 to 400 of 950` with links to the parts before and behind; empty if there is only one.
/// @param page its address, with these parameters and `from`
std::string pager(std::string_view page, const Parameters& parameters, const Part& part);

/// With `from`, unless that is 0.
Parameters starting_at(std::size_t row, Parameters parameters);

/// A whole page.
/// @param path links to the pages above it, as HTML
/// @param body HTML
std::string page(std::string_view title, const std::vector<std::string>& path,
                 const std::string& body, const Live& live = {});

}  // namespace bench::pages
