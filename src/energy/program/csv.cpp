#include <filesystem>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>
#include <bench/energy/program/csv.hpp>

namespace bench::energy {
namespace {

/// Takes one line off the front of the text.
class LineParser {
 public:
  LineParser(std::string_view text, std::filesystem::path file)
      : text_(text), file_(std::move(file)) {}

  bool at_end() const { return text_.empty(); }

  CsvLine next() {
    CsvLine result{line_, {}};
    do
      result.cells.push_back(cell());
    while (take(','));
    take('\r');
    if (!at_end() && !take('\n'))
      throw Error(Id::syntax, "text follows the closing quote of a cell", "",
                  {file_.string(), line_, 0});
    ++line_;
    return result;
  }

 private:
  bool take(char c) {
    if (!text_.starts_with(c))
      return false;
    text_.remove_prefix(1);
    return true;
  }

  std::string cell() {
    if (take('"'))
      return quoted();
    std::string result(text_.substr(0, text_.find_first_of(",\r\n")));
    text_.remove_prefix(result.size());
    return result;
  }

  std::string quoted() {
    const int begin = line_;
    std::string result;
    for (;;) {
      const auto quote = text_.find('"');
      if (quote == std::string_view::npos)
        throw Error(Id::syntax, "this quote is never closed", "", {file_.string(), begin, 0});
      for (const char c : text_.substr(0, quote))
        line_ += c == '\n' ? 1 : 0;
      result += text_.substr(0, quote);
      text_.remove_prefix(quote + 1);
      if (!take('"'))
        return result;
      result += '"';
    }
  }

  std::string_view text_;
  std::filesystem::path file_;
  int line_ = 1;
};

}  // namespace

std::string csv_line(std::span<const std::string> cells) {
  std::vector<std::string> quoted;
  for (const std::string& cell : cells)
    quoted.push_back(cell.find_first_of(",\"\r\n") == std::string::npos
                         ? cell
                         : "\"" + replace_all(cell, "\"", "\"\"") + "\"");
  return join(quoted, ",") + "\n";
}

std::vector<CsvLine> parse_csv(const std::string& text, const std::filesystem::path& file) {
  std::vector<CsvLine> lines;
  LineParser parser(text, file);
  while (!parser.at_end()) {
    CsvLine line = parser.next();
    if (line.cells.size() == 1 && line.cells[0].empty())
      continue;
    if (!lines.empty() && line.cells.size() != lines[0].cells.size())
      throw Error(Id::syntax,
                  fmt::format("{} cells where the first line has {}", line.cells.size(),
                              lines[0].cells.size()),
                  "", {file.string(), line.line, 0});
    lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace bench::energy
