#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <bench/base/text.hpp>
#include <bench/cli/output/console.hpp>

namespace bench::cli {
namespace {

enum class Readiness { ready, not_yet, interrupted };

Readiness wait_for(int fd, int at_most_ms) {
  pollfd asked{fd, POLLOUT, 0};
  const int answer = ::poll(&asked, 1, at_most_ms);
  if (answer < 0 && errno == EINTR)
    return Readiness::interrupted;
  return answer == 0 ? Readiness::not_yet : Readiness::ready;
}

}  // namespace

void Console::open_standard_descriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (::fcntl(fd, F_GETFD) < 0)
      ::open("/dev/null", O_RDWR);  // takes the lowest free number, which is this one
}

void Console::write(int fd, std::string_view text) {
  if (waiting_.empty() || waiting_.back().fd != fd)
    waiting_.push_back({.fd = fd, .text = {}});
  waiting_.back().text += text;
  if (keeping_)
    advance();
  else
    flush();
}

void Console::advance() {
  constexpr int moment_ms = 1000;
  while (!waiting_.empty()) {
    if (wait_for(waiting_.front().fd, stalled_ ? 0 : moment_ms) != Readiness::ready) {
      stalled_ = true;
      return;
    }
    stalled_ = false;
    write_some();
  }
}

void Console::flush() {
  keeping_ = false;
  while (!waiting_.empty()) {
    if (wait_for(waiting_.front().fd, -1) == Readiness::interrupted) {
      waiting_.clear();
      return;
    }
    write_some();
  }
}

void Console::write_some() {
  constexpr std::size_t fits = PIPE_BUF;  // into a pipe that is ready, without waiting
  Piece& piece = waiting_.front();
  const std::size_t left = piece.text.size() - piece.written;
  const ssize_t count = ::write(piece.fd, piece.text.data() + piece.written, std::min(left, fits));
  if (count >= 0)
    piece.written += static_cast<std::size_t>(count);
  else if (errno != EINTR && errno != EAGAIN) {
    if (piece.fd == STDOUT_FILENO && errno != EPIPE)
      output_error_ = errno;
    piece.written = piece.text.size();  // nobody will read it
  }
  if (piece.written == piece.text.size())
    waiting_.pop_front();
}

Console& console() {
  static Console console;
  return console;
}

std::optional<std::size_t> terminal_columns() {
  return terminal_columns(STDOUT_FILENO);
}

std::optional<std::size_t> terminal_columns(int fd) {
  winsize size{};
  if (::isatty(fd) != 1 || ::ioctl(fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
    return std::nullopt;
  return size.ws_col;
}

bool can_draw_over(int fd) {
  const char* terminal = std::getenv("TERM");
  return terminal && *terminal != '\0' && std::string_view(terminal) != "dumb" && ::isatty(fd) == 1;
}

void draw_over(const std::string& line) {
  if (!can_draw_over(STDERR_FILENO))
    return;
  constexpr std::size_t usual = 80;
  const std::size_t columns = terminal_columns(STDERR_FILENO).value_or(usual);
  // One that wraps could not be erased.
  console().write(STDERR_FILENO, "\r\x1b[K" + line.substr(0, bytes_of_front(line, columns - 1)));
}

bool reader_goes_within(int at_most_ms) {
  pollfd reader{STDOUT_FILENO, 0, 0};
  return ::poll(&reader, 1, at_most_ms) > 0;
}

namespace {

constexpr std::string_view end_of_colour = "\x1b[0m";

std::string_view begin_of(Colour colour) {
  constexpr std::array<std::string_view, 5> begins{"", "\x1b[31m", "\x1b[32m", "\x1b[33m",
                                                   "\x1b[34m"};
  return begins[static_cast<std::size_t>(colour)];
}

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

constexpr std::array<std::pair<std::string_view, Colour>, 4> severities{
    {{"error:", Colour::red},
     {"warning:", Colour::yellow},
     {"note:", Colour::blue},
     {"hint:", Colour::blue}}};

/// Where the word of a severity begins in a line: at its start, or behind `file:line:column: `.
std::size_t place_of(std::string_view word, const std::string& line) {
  const std::size_t at = line.find(word);
  if (at == 0 || at == std::string::npos)
    return at;
  const bool behind_place =
      at >= 3 && line.compare(at - 2, 2, ": ") == 0 && line[at - 3] >= '0' && line[at - 3] <= '9';
  return behind_place ? at : std::string::npos;
}

}  // namespace

bool has_colours(int fd) {
  if (!variable("NO_COLOR").empty())
    return false;
  const std::string_view force = variable("CLICOLOR_FORCE");
  if (!force.empty() && force != "0")
    return true;
  return variable("CLICOLOR") != "0" && can_draw_over(fd);
}

std::string coloured(const std::string& text, Colour colour, int fd) {
  std::string visible = with_visible_controls(text);
  if (colour == Colour::none || !has_colours(fd))
    return visible;
  return std::string(begin_of(colour)) + visible + std::string(end_of_colour);
}

std::string with_coloured_severities(const std::string& text, int fd) {
  if (!has_colours(fd))
    return text;
  std::vector<std::string> lines = split(text, "\n");
  for (std::string& line : lines)
    for (const auto& [word, colour] : severities)
      if (const std::size_t at = place_of(word, line); at != std::string::npos) {
        line.insert(at + word.size(), end_of_colour);
        line.insert(at, begin_of(colour));
        break;
      }
  return join(lines, "\n");
}

}  // namespace bench::cli
