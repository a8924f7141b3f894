#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// What a program tells of itself or of one of its commands, with `--help` and in its manual page.
struct Help {
  /// An option, an argument or a command, and what it is for.
  struct Row {
    std::string left;
    std::string text;
  };
  struct Section {
    std::string heading;  ///< May be empty.
    std::vector<Row> rows = {};
    std::string lines = {};  ///< As they are, below the rows.
  };

  std::string name;  ///< Of the command; empty: the program itself.
  std::string description;
  std::string usage;
  std::vector<Section> sections;
};

/// For a terminal of 80 columns.
std::string text_of(const Help& help);

/// The words of a text in lines that end before column `width`. All but the first are indented.
/// @param used columns before the first word
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width,
                    std::size_t used = 0);

}  // namespace bench
