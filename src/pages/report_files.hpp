#pragma once

#include <filesystem>
#include <string>

namespace bench::pages {

/// A file that pages are made of, from the first that has it of the user's and the site's
/// directories (`report/` beside `platforms/`) and the one beside the program.
/// @throws Error if there is none; for Vega, the hint says how to get it
std::filesystem::path path_of(const std::string& name);

/// The script of a page, behind those that draw figures and tables.
std::string script_with(const char* page_script);

}  // namespace bench::pages
