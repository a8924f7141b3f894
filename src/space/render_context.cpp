#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/evaluate/substitute.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/variables.hpp>

namespace bench::space {

namespace fs = std::filesystem;

std::string RenderContext::substitute(const std::string& text) const {
  return evaluate::substitute(text, lookup_in(variables, workpackage.parameters));
}

std::string RenderContext::file_name(const std::string& text) const {
  return expand_user_and_environment(substitute(text));
}

bool RenderContext::holds(const std::string& expression, const Place& place) const {
  if (expression == "true")
    return true;
  const std::vector<std::string> texts{substitute(expression)};
  const auto outcome = evaluator.evaluate_truth(texts).front();
  if (!outcome.ok)
    throw Error(Id::invalid_expression,
                fmt::format("invalid expression in `active`: {}", outcome.error),
                fmt::format("evaluated expression: {}", texts[0]), place);
  return outcome.value == "True";
}

std::vector<std::string> RenderContext::used_sets() const {
  std::vector<std::string> names;
  for (const std::string& name : step.use)
    for (std::string& one : split_names(substitute(name)))
      names.push_back(std::move(one));
  return names;
}

fs::path RenderContext::directory() const {
  return run.directory.path / workpackage.directory;
}

fs::path RenderContext::default_work() const {
  return directory() / "work";
}

fs::path RenderContext::work() const {
  // A shared command belongs to no workpackage and has none of its variables.
  const auto found = variables.find("jube_wp_abspath");
  return found == variables.end() ? shared() : fs::path(found->second);
}

fs::path RenderContext::shared() const {
  if (step.shared.empty())
    return {};
  return run.directory.path / fmt::format("{}_{}", step.name, substitute(step.shared));
}

fs::path RenderContext::directory_of(const model::Command& command) const {
  fs::path base = command.shared ? shared() : work();
  if (command.work_dir.empty())
    return base;
  const std::string name = file_name(command.work_dir);
  if (name.find('$') != std::string::npos)
    throw Error(Id::unknown_name, fmt::format("unknown work_dir of the command: {}", name), "",
                command.place);
  return (base / name).lexically_normal();
}

}  // namespace bench::space
