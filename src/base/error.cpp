#include <fstream>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>

namespace bench {
namespace {

const char* name_of(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::note:
      break;
  }
  return "note";
}

/// The source line and a caret below `place.column`, each indented; empty if it cannot be read.
std::string excerpt(const Place& place) {
  std::ifstream file(place.file);
  std::string line;
  for (int i = 0; i < place.line; ++i)
    if (!std::getline(file, line))
      return "";
  if (!line.empty() && line.back() == '\r')
    line.pop_back();
  std::string caret;
  if (place.column > 0) {
    const std::string before = line.substr(0, static_cast<std::size_t>(place.column) - 1);
    // Tabs stay tabs, so that the caret lines up whatever the terminal's tab width.
    for (const char c : before)
      if (c == '\t')
        caret += '\t';
      else if ((static_cast<unsigned char>(c) & 0xC0) != 0x80)
        caret += ' ';
    caret += '^';
  }
  return fmt::format("\n  {}{}{}", to_valid_utf8(line), caret.empty() ? "" : "\n  ", caret);
}

}  // namespace

std::string render(Severity severity, const std::string& message, const std::string& hint,
                   const Place& place) {
  std::string text;
  if (place.known())
    text = place.column > 0 ? fmt::format("{}:{}:{}: ", place.file, place.line, place.column)
                            : fmt::format("{}:{}: ", place.file, place.line);
  else if (!place.file.empty())
    text = fmt::format("{}: ", place.file);
  text += fmt::format("{}: {}", name_of(severity), message);
  if (place.known())
    text += excerpt(place);
  if (!hint.empty())
    text += fmt::format("\nhint: {}", hint);
  return text;
}

std::string render(const Error& error) {
  return render(Severity::error, error.message(), error.hint(), error.place());
}

}  // namespace bench
