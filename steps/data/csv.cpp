#include "data/csv.hpp"

#include "data/files.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>

namespace bench::steps {

CsvReader::CsvReader(std::string path, std::string_view text)
    : path_(std::move(path)), rest_(text) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (rest_.starts_with(byte_order_mark))
    rest_.remove_prefix(byte_order_mark.size());
  if (!read_row(columns_))
    throw DataError(path_, "there is no row with the names of the columns");
}

std::size_t CsvReader::column(std::string_view name) const {
  const auto found = std::ranges::find(columns_, name);
  if (found == columns_.end())
    throw DataError(path_, fmt::format("there is no column '{}'", name),
                    fmt::format("its columns are {}", fmt::join(columns_, ", ")));
  return static_cast<std::size_t>(found - columns_.begin());
}

bool CsvReader::next(std::vector<std::string>& cells) {
  if (!read_row(cells))
    return false;
  if (cells.size() != columns_.size())
    fail(fmt::format("{} cells, and there are {} columns", cells.size(), columns_.size()));
  return true;
}

bool CsvReader::read_row(std::vector<std::string>& cells) {
  while (!rest_.empty() && (rest_.front() == '\n' || rest_.front() == '\r')) {
    line_ += rest_.front() == '\n' ? 1 : 0;
    rest_.remove_prefix(1);
  }
  if (rest_.empty())
    return false;
  row_line_ = line_;
  cells.clear();
  while (true) {
    cells.push_back(read_cell());
    if (!rest_.starts_with(','))
      break;
    rest_.remove_prefix(1);
  }
  return true;
}

std::string CsvReader::read_cell() {
  if (!rest_.starts_with('"')) {
    std::string cell(rest_.substr(0, rest_.find_first_of(",\r\n")));
    rest_.remove_prefix(cell.size());
    return cell;
  }
  rest_.remove_prefix(1);
  std::string cell;
  while (true) {
    const std::size_t quote = rest_.find('"');
    if (quote == std::string_view::npos)
      fail("a quote is not closed");
    cell += rest_.substr(0, quote);
    rest_.remove_prefix(quote + 1);
    if (!rest_.starts_with('"'))
      break;
    cell += '"';
    rest_.remove_prefix(1);
  }
  line_ += static_cast<std::size_t>(std::ranges::count(cell, '\n'));
  if (!rest_.empty() && rest_.find_first_of(",\r\n") != 0)
    fail("text behind the closing quote");
  return cell;
}

void CsvReader::fail(const std::string& message) const {
  throw DataError(fmt::format("{}:{}", path_, row_line_), message);
}

}  // namespace bench::steps
