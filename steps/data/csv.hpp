#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace bench::steps {

/// Reads the rows of a csv file (RFC 4180) whose first row names the columns. A cell in quotes may
/// hold commas, ends of line, and quotes, which are doubled.
class CsvReader {
 public:
  /// @param path for messages
  /// @param text must outlive this object
  /// @throws DataError if there is no first row
  CsvReader(std::string path, std::string_view text);

  /// The number of the column of that name.
  /// @throws DataError with the names that there are
  std::size_t column(std::string_view name) const;

  /// Reads the next row. Lines without a character are skipped.
  /// @param cells one for each column
  /// @returns false at the end
  /// @throws DataError, with the line, if a quote is not closed, or the row has more or fewer cells
  bool next(std::vector<std::string>& cells);

  /// Where the row that was read last begins, from 1.
  std::size_t line() const { return row_line_; }

 private:
  bool read_row(std::vector<std::string>& cells);
  std::string read_cell();
  [[noreturn]] void fail(const std::string& message) const;

  std::string path_;
  std::string_view rest_;
  std::size_t line_ = 1;
  std::size_t row_line_ = 1;
  std::vector<std::string> columns_;
};

}  // namespace bench::steps
