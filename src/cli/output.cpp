#include "output.hpp"

#include <cstdio>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/result/table.hpp>

namespace bench::cli {
namespace {

const std::string rule(70, '#');

}  // namespace

void print(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

void tell(const std::string& line) {
  // What went to standard output before shall also stand before it on a terminal.
  std::fflush(stdout);
  fmt::print(stderr, "{}\n", line);
}

void tell_warnings(const Diagnostics& diagnostics) {
  for (const Warning& warning : diagnostics.warnings())
    tell(render(Severity::warning, warning.message, warning.hint, warning.place));
}

std::string heading(const engine::Run& run) {
  std::string text =
      fmt::format("{}\n# benchmark: {}\n# id: {}\n", rule, run.benchmark.name, run.directory.id);
  if (const std::string& comment = run.fact("comment"); !comment.empty())
    text += fmt::format("#\n# {}\n", comment);
  return text + rule + "\n";
}

std::string text_table(const std::vector<std::string>& headings,
                       const std::vector<std::vector<std::string>>& rows) {
  result::Table table;
  for (const std::string& title : headings)
    table.headings.push_back({.title = title});
  for (const auto& row : rows) {
    auto& cells = table.rows.emplace_back();
    for (const std::string& text : row)
      cells.push_back({.value = text});
  }
  std::string text = result::render(table, result::Style::pretty);
  // A result table begins with its name; these have none.
  return text.substr(text.find('\n') + 1);
}

std::string status_table(const std::vector<workspace::StepCounts>& counts) {
  std::vector<std::vector<std::string>> rows;
  for (const workspace::StepCounts& step : counts)
    rows.push_back({step.step, std::to_string(step.all()), std::to_string(step.ready),
                    std::to_string(step.running + step.submitted + step.pending), std::to_string(step.failed),
                    std::to_string(step.done)});
  return text_table({"stepname", "all", "open", "wait", "error", "done"}, rows);
}

std::string parameters_text(const workspace::Parameters& parameters) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : parameters)
    texts.push_back(name + "=" + value);
  return join(texts, " ");
}

std::string short_path(const std::filesystem::path& path) {
  const std::string relative = path.lexically_relative(std::filesystem::current_path()).string();
  return relative.empty() || relative.starts_with("..") ? path.string() : relative;
}

std::string closing(const engine::Run& run, bool finished) {
  const std::string outpath = short_path(run.directory.path.parent_path());
  const std::string target = fmt::format("{} --id {}", shell_quote(outpath), run.directory.id);
  std::string text = fmt::format(
      ">>>> Run and its follow-up commands\n"
      ">>>>       id: {}\n>>>>   handle: {}\n>>>>      dir: {}\n",
      run.directory.id, outpath, short_path(run.directory.path));
  if (!finished)
    text += fmt::format(">>>> continue: bench continue {}\n", target);
  for (const char* command : {" analyse", "  result", "    info"})
    text += fmt::format(">>>> {}: bench {} {}\n", command, strip(command), target);
  return text + rule + "\n";
}

}  // namespace bench::cli
