#include "python.hpp"

#include <cstdlib>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/evaluate/evaluator.hpp>

namespace bench::evaluate {
namespace {

constexpr std::size_t stderr_lines = 5;

Outcome success(std::string value) {
  return {.ok = true, .value = std::move(value), .error = ""};
}

Outcome failure(std::string error) {
  return {.ok = false, .value = "", .error = std::move(error)};
}

std::string shell() {
  const char* chosen = std::getenv("JUBE_EXEC_SHELL");
  const std::string name = chosen && *chosen ? chosen : "/bin/sh";
  std::string program = find_program(name);
  if (program.empty() || ::access(program.c_str(), X_OK) != 0)
    throw Error(Id::missing_program, fmt::format("the shell '{}' is not found", name),
                chosen && *chosen ? "JUBE_EXEC_SHELL names it" : "");
  return program;
}

/// The last lines of what a command wrote to standard error.
std::string last_lines(const std::string& text) {
  std::vector<std::string> lines = split(strip(text), "\n");
  if (lines.size() > stderr_lines)
    lines.erase(lines.begin(), lines.end() - stderr_lines);
  return to_valid_utf8(join(lines, "\n"));
}

Outcome evaluate_shell(const std::string& command, double timeout_s) {
  ProcessSpec spec;
  spec.arguments = {shell(), "-c", command};
  CommandOutput output;
  try {
    output = run_command(std::move(spec), timeout_s);
  } catch (const Error& error) {  // too late, or too long for the system: this command's own fault
    return failure(error.message());
  }
  if (output.status.success())
    return success(to_valid_utf8(output.standard_output));
  const std::string said = last_lines(output.standard_error);
  return failure(output.status.description() + (said.empty() ? "" : ": ") + said);
}

Outcome evaluate_env(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value ? success(value)
               : failure(fmt::format("the environment variable '{}' is not set", name));
}

}  // namespace

Evaluator::Evaluator(double timeout_s, std::set<std::string> active_tags)
    : timeout_s_(timeout_s),
      active_tags_(std::move(active_tags)),
      python_(std::make_unique<Python>()) {}
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;
Evaluator::~Evaluator() = default;

std::vector<Outcome> Evaluator::evaluate(std::span<const Request> requests) {
  std::vector<Outcome> outcomes(requests.size());
  std::vector<std::string> expressions;
  std::vector<std::size_t> positions;
  for (std::size_t k = 0; k < requests.size(); ++k) {
    const std::string& text = requests[k].text;
    switch (requests[k].mode) {
      case Mode::text:
        outcomes[k] = success(text);
        break;
      case Mode::python:
        expressions.push_back(text);
        positions.push_back(k);
        break;
      case Mode::shell:
        outcomes[k] = evaluate_shell(text, timeout_s_);
        break;
      case Mode::perl:  // in double quotes, so that the shell expands `$`, as in JUBE
        outcomes[k] = evaluate_shell("perl -e \"print " + text + "\"", timeout_s_);
        break;
      case Mode::env:
        outcomes[k] = evaluate_env(text);
        break;
      case Mode::tag:
        outcomes[k] = success(active_tags_.contains(text) ? text : "");
        break;
    }
  }
  std::vector<Outcome> answers = python_->ask(Ask::text, expressions, timeout_s_);
  for (std::size_t k = 0; k < answers.size(); ++k)
    outcomes[positions[k]] = std::move(answers[k]);
  return outcomes;
}

std::vector<Outcome> Evaluator::check_syntax(std::span<const std::string> expressions) {
  return python_->ask(Ask::syntax, expressions, timeout_s_);
}

std::vector<Outcome> Evaluator::evaluate_truth(std::span<const std::string> expressions) {
  std::vector<Outcome> outcomes(expressions.size());
  std::vector<std::string> asked;
  std::vector<std::size_t> positions;
  for (std::size_t k = 0; k < expressions.size(); ++k) {
    const std::string text(strip(expressions[k]));
    const std::string word = to_lower(text);
    if (text.empty()) {
      outcomes[k] = failure("the expression is empty");
    } else if (word == "true" || word == "false") {
      outcomes[k] = success(word == "true" ? "True" : "False");
    } else {
      asked.push_back(text);
      positions.push_back(k);
    }
  }
  std::vector<Outcome> answers = python_->ask(Ask::truth, asked, timeout_s_);
  for (std::size_t k = 0; k < answers.size(); ++k)
    outcomes[positions[k]] = std::move(answers[k]);
  return outcomes;
}

}  // namespace bench::evaluate
