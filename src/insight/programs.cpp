#include "check_functions.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/insight/ask.hpp>
#include <bench/insight/checks.hpp>
#include <bench/machine/load_all.hpp>
#include <bench/machine/platform.hpp>

namespace bench::doctor {
namespace {

std::string variable_or(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value && *value ? value : otherwise;
}

/// A program that only some input files need.
Finding optional_program(const std::string& name, const Answer& answer, const std::string& text,
                         const std::string& need, const std::string& remedy) {
  if (!answer.found)
    return {"", Health::warning, fmt::format("no {}: {}", name, need), remedy};
  if (!answer.ok)
    return {"", Health::error, fmt::format("{}: {}", name, answer.failure), remedy};
  return {"", Health::ok, text, ""};
}

}  // namespace

Findings check_python(const System&) {
  const std::string name = variable_or("BENCH_PYTHON", "python3");
  const Answer answer =
      ask({name, "-I", "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"});
  return {optional_program(name, answer, "Python " + answer.output,
                           "`mode: python`, `where` and `active` need it",
                           "install Python 3, or name one in BENCH_PYTHON")};
}

Findings check_perl(const System&) {
  const Answer answer = ask({"perl", "-e", "print $^V"});
  // Rarely needed, so not a warning.
  if (!answer.found)
    return {{"", Health::ok, "no perl; only `mode: perl` needs it", ""}};
  return {optional_program("perl", answer, "Perl " + answer.output, "", "install Perl")};
}

Findings check_shell(const System&) {
  const std::string name = variable_or("JUBE_EXEC_SHELL", "/bin/sh");
  const Answer answer = ask({name, "-c", "echo works"});
  const std::string remedy = "commands of all steps need it: set JUBE_EXEC_SHELL to a shell";
  if (!answer.found)
    return {{"", Health::error, fmt::format("no shell '{}'", name), remedy}};
  if (!answer.ok)
    return {{"", Health::error, fmt::format("{}: {}", name, answer.failure), remedy}};
  if (answer.output != "works")
    return {{"", Health::warning,
             fmt::format("{} prints text of its own: {}", name, one_line(answer.output)),
             "its text would end up in analysed output: remove it from the file named by ENV or "
             "BASH_ENV"}};
  return {{"", Health::ok, fmt::format("{} works", name), ""}};
}

Findings check_bash(const System&) {
  const Answer answer = ask({"bash", "-c", "echo $BASH_VERSION"});
  return {optional_program("bash", answer, "bash " + answer.output, "job scripts need it",
                           "install bash")};
}

Findings check_platforms(const System& system) {
  const auto all = platform::load_platforms(system.directory);
  Findings findings;
  for (const platform::LoadedPlatform& one : all)
    if (one.error)
      findings.push_back(
          {"", Health::error, fmt::format("{}: {}", one.found.file.string(), one.error->message()),
           one.error->hint().empty() ? "correct the file, or remove it" : one.error->hint()});
  if (findings.empty())
    findings.push_back({"", Health::ok,
                        fmt::format("{} platform files; bench's own are in {}", all.size(),
                                    platform::data_directory().string()),
                        ""});
  return findings;
}

}  // namespace bench::doctor
