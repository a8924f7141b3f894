#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>

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
  // The name may come from a run of somebody else.
  std::error_code absent;
  if (!std::filesystem::is_regular_file(place.file, absent))
    return "";
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

/// Those errors of the system that lie in what was asked for: it fails whenever it is asked. All
/// others are the machine's: a full disk, a file system that does not answer, a limit.
constexpr int errors_of_the_request[] = {
    ENOENT, EEXIST, ENOTDIR, EISDIR, ELOOP, ENAMETOOLONG, EINVAL, EILSEQ,  E2BIG,  EFBIG,
    EBADF,  EFAULT, ENOEXEC, EPERM,  EXDEV, ENXIO,        ENOSYS, ENOTSUP, ETXTBSY};

}  // namespace

Error Error::of_system(const std::string& message, int error_number, std::string hint,
                       Place place) {
  Error error(fmt::format("{}: {}", message, std::generic_category().message(error_number)),
              std::move(hint), std::move(place));
  error.may_pass_ =
      std::ranges::find(errors_of_the_request, error_number) == std::end(errors_of_the_request);
  return error;
}

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
