#include "pages.hpp"

#include "html.hpp"
#include "run_index.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/text.hpp>
#include <bench/pages/page.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::pages {

std::string parameter_of(const PageRequest& request, const std::string& name) {
  const auto found = request.parameters.find(name);
  return found == request.parameters.end() ? "" : found->second;
}

std::size_t count_of(const PageRequest& request, const std::string& name) {
  const auto number = parse_integer(parameter_of(request, name));
  return number && *number > 0 ? static_cast<std::size_t>(*number) : 0;
}

nlohmann::json json_of(const workspace::StepCounts& counts) {
  nlohmann::json json{{"ended", counts.ended()}, {"all", counts.all()}, {"text", text_of(counts)}};
  for (const workspace::State state : workspace::all_states)
    json[std::string(name_of(state))] = counts.of(state);
  return json;
}

std::string text_of(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

PageResponse json_answer(const std::string& json) {
  return {.type = "application/json", .content = json};
}

PageResponse refusal(int status, const std::string& title, const std::string& text) {
  return {
      .status = status,
      .content = page(title, {link_to_runs()},
                      fmt::format("<h1>{}</h1>\n<p>{}</p>\n", html_text(title), html_text(text)))};
}

std::string link_to_runs() {
  return link("./", "runs");
}

std::string link_to_run(const RunSummary& run) {
  return link(address("run", {{"name", run.name}}), run.name);
}

std::string link_to_file(const RunSummary& run, const std::string& path) {
  return link(address("file", {{"name", run.name}, {"path", path}}), path);
}

std::string unanalysed_note(const RunSummary& run) {
  return fmt::format(
      "<p class=\"note\">The last analysis is older than the last workpackage: run <code>bench "
      "analyse {}</code>.</p>\n",
      html_text(shell_quote(run.directory.path.string())));
}

std::string progress_bar(const workspace::StepCounts& counts, const std::string& live) {
  return fmt::format(
      "<progress max=\"{}\" value=\"{}\" data-live=\"{}.ended\" "
      "data-live-max=\"{}.all\"></progress>"
      " {}",
      std::max(counts.all(), 1LL), counts.ended(), html_text(live), html_text(live),
      live_text(text_of(counts), live + ".text"));
}

}  // namespace bench::pages
