#include "wrapped.hpp"

#include <cstddef>
#include <string>

#include <bench/base/text.hpp>

namespace bench::cli {

std::string wrapped(const std::string& line, std::size_t indent, std::size_t width) {
  std::string text;
  std::size_t column = 0;
  for (const std::string& word : split_names(line, " ")) {
    if (column > 0 && column + 1 + word.size() > width) {
      text += "\n" + std::string(indent, ' ') + word;
      column = indent + word.size();
    } else {
      text += (column > 0 ? " " : "") + word;
      column += (column > 0 ? 1 : 0) + word.size();
    }
  }
  return text + "\n";
}

}  // namespace bench::cli
