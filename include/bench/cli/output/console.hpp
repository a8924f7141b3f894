#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

namespace bench::cli {

/// Standard output and standard error of this process, in the order in which they are written to.
///
/// A write waits for its reader, as that of any program does. While a run is worked on it must
/// not: a reader that has stopped (a pager, a terminal after Ctrl-S) would stop the timeouts and
/// the start of what is ready, too. Then text is kept until it fits into the pipe.
class Console {
 public:
  /// Makes sure that the descriptors 0 to 2 are open. Closed ones would be taken by the next files
  /// that are opened, the workspace's among them.
  static void open_standard_descriptors();

  /// @param fd STDOUT_FILENO or STDERR_FILENO
  void write(int fd, std::string_view text);
  /// From now on, text that its reader does not take at once is kept.
  void keep_what_does_not_fit() { keeping_ = true; }
  /// Writes what fits of the text that was kept; a reader that is only slow gets a moment.
  void advance();
  /// Whether text waits for its reader.
  bool is_behind() const { return !waiting_.empty(); }
  /// Waits until all is written, and from now on with every write. A signal that bench catches ends
  /// that, and what is left is dropped.
  void flush();
  /// The error with which a write to standard output has failed, 0: none. A reader that has gone
  /// away, since it has seen enough, is none.
  int output_error() const { return output_error_; }

 private:
  struct Piece {
    int fd;
    std::string text;
    std::size_t written = 0;
  };

  /// Writes what a descriptor that is ready takes of the first piece.
  void write_some();

  std::deque<Piece> waiting_;
  bool keeping_ = false;
  bool stalled_ = false;  ///< The reader took nothing for a while.
  int output_error_ = 0;
};

/// That of this process.
Console& console();

/// Columns of the terminal that standard output or `fd` is, if it is one.
std::optional<std::size_t> terminal_columns();
std::optional<std::size_t> terminal_columns(int fd);

/// Whether text can be drawn over: a terminal that obeys control sequences, unlike TERM=dumb.
bool can_draw_over(int fd);

/// Draws a line over the last one on standard error, if that is possible.
/// @param line empty: erases it
void draw_over(const std::string& line);

/// Waits.
/// @returns whether the reader of standard output went away meanwhile, as `head` does
bool reader_goes_within(int at_most_ms);

enum class Colour { none, red, green, yellow, blue };

/// Whether text for this descriptor has colours: on a terminal that knows them (TERM is neither
/// empty nor `dumb`). NO_COLOR, set to anything, forbids them, then CLICOLOR_FORCE, set to anything
/// but 0, asks for them everywhere, then CLICOLOR=0 forbids them.
/// Sources: https://no-color.org, https://bixense.com/clicolors
bool has_colours(int fd);

/// The text, whose control characters are shown and do nothing, in a colour if the descriptor has
/// them.
std::string coloured(const std::string& text, Colour colour, int fd);

/// Text for people, with the words `error:`, `warning:`, `note:` and `hint:` at the beginnings of
/// lines, or behind a place, in their colours if the descriptor has them.
std::string with_coloured_severities(const std::string& text, int fd);

}  // namespace bench::cli
