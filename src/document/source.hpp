#pragma once

#include "value.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <bench/base/error.hpp>

namespace bench::document {

/// The text of a file, for what the parser's events do not tell.
class Source {
 public:
  /// @throws Error if the text is not UTF-8 or holds a control character
  Source(const std::string& text, const std::string& file);

  /// Without a byte order mark.
  const std::string& text() const { return text_; }
  Mark mark(int line, int column) const { return Mark{line, column, file_}; }
  Place place(std::size_t offset) const;

  /// @throws Error if only white space with a tab in it comes before `offset` in its line
  void check_indentation(std::size_t offset) const;
  /// For a quoted scalar that begins at `offset`, its anchor and tag included.
  /// @throws Error if the quote is never closed
  void check_quote(std::size_t offset) const;
  /// For a list or mapping in brackets that begins at `offset` and does not parse.
  /// @throws Error for the first quote in it that is never closed, or too early
  void check_quotes_from(std::size_t offset) const;
  /// The offset of the comment that ends a plain scalar; npos if there is none in its line.
  /// @param scalar the text that begins at `offset`
  std::size_t comment_behind(std::size_t offset, std::string_view scalar) const;
  /// The word that begins at `offset`, such as `*anchor`.
  std::string word(std::size_t offset) const;
  /// The rest of the line.
  std::string line_from(std::size_t offset) const;
  /// The offset at which a line begins that counts from 1.
  std::size_t line_begin(int line) const;

 private:
  std::string text_;
  std::shared_ptr<const std::string> file_;
  std::vector<std::size_t> lines_;  ///< Where each line begins.
};

}  // namespace bench::document
