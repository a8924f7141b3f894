#include "ask.hpp"

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/machine/environment.hpp>

namespace bench::insight {
namespace {

/// Programs of bench take precedence over those on PATH, as for the commands of a step.
std::string place_of(const std::string& program) {
  if (program.find('/') == std::string::npos)
    for (const auto& directory : machine::program_directories())
      if (const auto own = directory / program; ::access(own.c_str(), X_OK) == 0)
        return own;
  const std::string found = find_program(program);
  return ::access(found.c_str(), X_OK) == 0 ? found : "";
}

/// The error message of a program without its name, which the caller adds.
std::string failure_in(const std::string& said, const std::string& program) {
  const std::string name = std::filesystem::path(program).filename();
  std::vector<std::string> lines;
  for (const std::string& line : split(said, "\n")) {
    std::string_view rest = strip(line);
    for (const std::string& prefix : {program + ": ", name + ": ", std::string("error: ")})
      if (rest.starts_with(prefix))
        rest.remove_prefix(prefix.size());
    if (!rest.empty())
      lines.push_back(one_line(rest));
  }
  return join(lines, "; ");
}

}  // namespace

Answer ask(std::vector<std::string> arguments, double timeout_s) {
  Answer answer;
  const std::string program = place_of(arguments.front());
  if (program.empty())
    return answer;
  answer.found = true;
  arguments.front() = program;
  Environment environment = current_environment();
  set_variable(environment, "LC_ALL", "C");  // its output is parsed
  // A program that does not start or does not end is a result of the check, not an error.
  try {
    const CommandOutput output = run_command(
        {.arguments = std::move(arguments), .environment = std::move(environment)}, timeout_s);
    answer.ok = output.status.success();
    answer.output = strip(to_valid_utf8(output.standard_output));
    if (!answer.ok)
      answer.failure = failure_in(to_valid_utf8(output.standard_error), program);
    if (!answer.ok && answer.failure.empty())
      answer.failure = output.status.description();
  } catch (const Error& error) {
    answer.failure = error.message();
  }
  return answer;
}

std::string first_line_of(const std::filesystem::path& file) {
  const UniqueFd fd = open_regular_file(file);
  if (!fd.valid())
    return "";
  return std::string(strip(split(end_of_file(fd, 50).text, "\n").front()));
}

}  // namespace bench::insight
