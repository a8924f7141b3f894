#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// The help of a program or of one of its commands: `--help` and the manual page show it.
struct Help {
  /// An option, an argument or a command, with its meaning.
  struct Row {
    std::string left;
    std::string text;
  };
  struct Section {
    std::string heading;  ///< May be empty.
    std::vector<Row> rows = {};
    std::string lines = {};  ///< Shown unchanged below the rows.
  };

  std::string name;  ///< The name of the command; empty: the program itself.
  std::string description;
  std::string usage;
  std::vector<Section> sections;
};

/// The help as text for a terminal of 80 columns.
std::string text_of(const Help& help);

/// The words of a text in lines that end before column `width`. All but the first are indented.
/// @param used columns before the first word
std::string wrapped(std::string_view text, std::size_t indent, std::size_t width,
                    std::size_t used = 0);

}  // namespace bench
