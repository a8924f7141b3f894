#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/text.hpp>

namespace bench {
namespace {

constexpr NamedId named_ids[] = {
    {Id::syntax, "syntax", "The text is not valid YAML, XML, JSON or CSV"},
    {Id::wrong_structure, "wrong-structure",
     "A text stands where a list or a mapping belongs, or the reverse"},
    {Id::unknown_key, "unknown-key", "No element or attribute of the language has this name"},
    {Id::missing_key, "missing-key", "Something that is needed is not stated"},
    {Id::invalid_value, "invalid-value", "A value or a name that is not of the form it must have"},
    {Id::invalid_expression, "invalid-expression",
     "An expression, formula, format or regular expression cannot be evaluated"},
    {Id::unit_mismatch, "unit-mismatch", "Units do not fit each other"},
    {Id::unknown_name, "unknown-name",
     "Nothing has this name: a parameter, set, step, column, tag, platform or metric"},
    {Id::duplicate_name, "duplicate-name", "Two things have the same name"},
    {Id::shadowed_name, "shadowed-name", "A name hides another, or is taken for it"},
    {Id::circular_reference, "circular-reference", "Definitions that need each other"},
    {Id::conflict, "conflict", "Settings that exclude each other"},
    {Id::no_effect, "no-effect", "What is written has no effect"},
    {Id::surprising_value, "surprising-value", "What is written may not mean what was meant"},
    {Id::tag_rule, "tag-rule", "The tags do not fulfil what the file asks of them"},
    {Id::nothing_to_run, "nothing-to-run", "No workpackage is left"},
    {Id::include_failed, "include-failed", "Another file, or a part of it, cannot be included"},
    {Id::missing_file, "missing-file", "A file that is named is not there"},
    {Id::too_large, "too-large", "More or larger than bench takes"},
    {Id::version_mismatch, "version-mismatch",
     "Written for another version of the language, or by another version of bench"},
    {Id::usage, "usage", "The arguments of a command do not fit it or each other"},
    {Id::unknown_run, "unknown-run", "There is no such run or workpackage"},
    {Id::wrong_state, "wrong-state", "The run or workpackage is in a state that does not allow it"},
    {Id::input_changed, "input-changed", "The input no longer fits the run that was made of it"},
    {Id::exists, "exists", "A file that is there would be overwritten"},
    {Id::no_data, "no-data", "There are no numbers to do this with"},
    {Id::machine_limit, "machine-limit",
     "The platform, partition, allocation or device does not admit what is requested"},
    {Id::budget_exceeded, "budget-exceeded", "The run may take more than its budget"},
    {Id::unsupported, "unsupported",
     "This platform, device or build of bench does not have what is asked for"},
    {Id::unset_variable, "unset-variable", "An environment variable that is needed is not set"},
    {Id::missing_program, "missing-program", "A program or library that is needed is not found"},
    {Id::program_failed, "program-failed", "A program that bench starts fails, or does not answer"},
    {Id::batch_system_failed, "batch-system-failed",
     "The batch system refuses, or does not answer"},
    {Id::server_failed, "server-failed", "A server refuses, or does not answer"},
    {Id::system_error, "system-error", "The operating system refuses: a full disk, a permission"},
    {Id::unusable_file, "unusable-file", "A link, a device or a file of another kind"},
    {Id::damaged_data, "damaged-data", "The data of a run are damaged"},
    {Id::in_use, "in-use", "Another bench or meter works on it"},
    {Id::no_meter, "no-meter", "The source of energy readings is not on this machine"},
    {Id::device_failed, "device-failed", "A device does not do what it was set to"},
};

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

std::string text_of(const Place& place) {
  if (!place.known())
    return place.file;
  return place.column > 0 ? fmt::format("{}:{}:{}", place.file, place.line, place.column)
                          : fmt::format("{}:{}", place.file, place.line);
}

std::span<const NamedId> ids() {
  return named_ids;
}

std::string_view name_of(Id id) {
  return named_ids[static_cast<std::size_t>(id)].name;
}

std::string_view name_of(Severity severity) {
  constexpr std::array<std::string_view, 3> names{"error", "warning", "note"};
  return names[static_cast<std::size_t>(severity)];
}

Error Error::of_system(const std::string& message, int error_number, std::string hint,
                       Place place) {
  Error error(error_number == ENOENT ? Id::missing_file : Id::system_error,
              fmt::format("{}: {}", message, std::generic_category().message(error_number)),
              std::move(hint), std::move(place));
  error.may_pass_ =
      std::ranges::find(errors_of_the_request, error_number) == std::end(errors_of_the_request);
  return error;
}

std::string render(Severity severity, const std::string& message, const std::string& hint,
                   const Place& place) {
  std::string text = text_of(place);
  text += fmt::format("{}{}: {}", text.empty() ? "" : ": ", name_of(severity), message);
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
