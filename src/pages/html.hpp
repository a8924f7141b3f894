#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/results/html.hpp>
#include <bench/results/table.hpp>

namespace bench::serve {

using result::html_text;

/// The folder of that name in the `share/bench` that this program was installed or built with.
std::filesystem::path beside_program(const std::string& folder);

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

/// A value formatted for people, shortened if it is long; `n/a` with the reason if it is missing.
std::string cell_html(const result::Cell& cell);

/// The address that the script polls, and the version by which it decides whether to reload the
/// whole content or only to replace texts.
struct Live {
  std::string address;  ///< Empty: the page does not change.
  std::string version;
};

/// A whole page.
/// @param path links to the pages above it, as HTML
/// @param body HTML
std::string page(std::string_view title, const std::vector<std::string>& path,
                 const std::string& body, const Live& live = {});

}  // namespace bench::serve
