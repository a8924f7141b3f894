#pragma once

#include "support/document_commands.hpp"
#include "support/replace_matches.hpp"
#include "support/source_directory.hpp"

#include <functional>
#include <map>
#include <string>
#include <utility>

#include <bench/base/files.hpp>
#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>

namespace bench::support {

/// The files that a page tells its reader to save: fenced blocks whose first line is a comment
/// with the name.
inline std::map<std::string, std::string> files_to_save(const std::string& page) {
  static const Regex block(
      "```(?:yaml|xml|python)\n((?:# |<!-- )([a-z_]+\\.(?:yaml|xml|py)).*\n[^`]*)```\n");
  std::map<std::string, std::string> files;
  for (auto match = block.search(page); match; match = block.search(page, match->end()))
    files[(*match)[2]] = (*match)[1];
  return files;
}

/// The files of README, with fewer lines to compress.
inline std::map<std::string, std::string> files_of_readme() {
  auto files = files_to_save(read_file(source_directory() / "README.md"));
  for (auto& [name, text] : files)
    text = replace_all(text, "000000", "000");
  return files;
}

/// What a terminal shows after a command.
using Terminal = std::function<std::string(const std::string& command)>;

namespace detail {

inline std::string without_blank_end(const std::string& text) {
  return text.substr(0, text.find_last_not_of(" \n") + 1);
}

inline std::string indented(const std::string& text) {
  std::string lines;
  for (const std::string& line : split(without_blank_end(text), "\n"))
    lines += line.empty() ? "\n" : "    " + line + "\n";
  return text.empty() ? "" : lines;
}

}  // namespace detail

/// A page with what the terminal shows below each `$ COMMAND`, in place of the output that stands
/// there.
inline std::string with_output_of(const Terminal& terminal, const std::string& page) {
  const std::string prompt = "    $ ";
  std::string shown;
  std::string command;
  bool in_output = false;
  bool blank = false;
  for (const std::string& line : split(page, "\n")) {
    const bool goes_on = !command.empty();
    if (line.starts_with(prompt) || goes_on) {
      command += goes_on ? "\n" + line.substr(4) : line.substr(prompt.size());
      shown += line + "\n";
      in_output = true;
      if (detail::is_unfinished(command))
        continue;
      shown += detail::indented(terminal(std::exchange(command, "")));
    } else if (in_output && (line.empty() || line.starts_with("    "))) {
      blank = line.empty();
      continue;
    } else {
      shown += (in_output && blank ? "\n" : "") + line + "\n";
      in_output = false;
    }
    blank = false;
  }
  return detail::without_blank_end(shown) + "\n";
}

/// A text without what differs from run to run: times of day, energies, which depend on how long a
/// command has taken, and that the machine was not quiet, which depends on who uses it besides.
inline std::string without_measurements(std::string text) {
  text = replace_matches(text, R"(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d( [+-]\d{4})?)", "TIME");
  text = replace_matches(text, R"( *not quiet: [^\n]*\n)", "");
  return replace_matches(text, R"(\b0\.\d{5}\b)", "0.ddddd");
}

}  // namespace bench::support
