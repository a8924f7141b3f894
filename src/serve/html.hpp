#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <bench/result/html.hpp>

namespace bench::serve {

using result::html_text;

/// Names and values behind the `?` of an address.
using Parameters = std::vector<std::pair<std::string, std::string>>;

/// `run?name=runs%2F000003&id=1`: relative, since the addresses of a server begin with what only
/// its user knows.
std::string address(std::string_view page, const Parameters& parameters);

/// @param text plain text, as everywhere here
std::string link(const std::string& address, std::string_view text);

/// A state with its colour. Where `live` is not empty, the script keeps it up to date.
std::string badge(std::string_view state, const std::string& live = "");

/// Text that the script keeps up to date.
/// @param live where it is in the JSON: `steps.0.done`
std::string live_text(std::string_view text, const std::string& live);

/// A term and its text in a list of facts; nothing where the text is empty.
std::string fact(std::string_view name, std::string_view text);

/// What the script asks for, and what it compares to know whether there is more to show than
/// changed texts.
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
