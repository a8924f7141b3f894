#include "report_sheet.hpp"

#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/pages/report_page.hpp>
#include <bench/results/table.hpp>
#include <bench/space/metadata.hpp>
#include <bench/space/run.hpp>
#include <bench/workspace/run_directory.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::pages {
namespace {

using workspace::Workpackage;

struct Fact {
  const char* name;
  const char* title;
};

constexpr std::array facts{
    Fact{"benchmark", "benchmark"},
    Fact{"comment", "comment"},
    Fact{"started", "started"},
    Fact{"platform", "platform"},
    Fact{"tags", "tags"},
    Fact{"host", "host"},
    Fact{"system", "system"},
    Fact{"cpu", "CPU"},
    Fact{"cpus_usable", "usable CPUs"},
    Fact{"memory_bytes", "memory"},
    Fact{"gpus", "GPUs"},
    Fact{"gpu_driver", "GPU driver"},
    Fact{"modules", "modules"},
    Fact{"power_source", "power source"},
    Fact{"parallel", "in parallel"},
    Fact{"order_seed", "seed of the order"},
    Fact{"budget_nh", "budget in node hours"},
    Fact{"accepted", "accepted as a baseline"},
    Fact{"input_file", "input file"},
    Fact{"input_sha256", "SHA-256 of it"},
    Fact{"git_revision", "git revision"},
    Fact{"bench_version", "bench"},
    Fact{"jube_version", "JUBE"},
    Fact{"uuid", "UUID"},
};

/// Formats a fact for the reader of the report.
std::string shown(std::string_view name, const std::string& text) {
  if (name == "input_file")
    return std::filesystem::path(text).filename().string();
  if (name == "memory_bytes")
    if (const auto bytes = parse_number(text)) {
      constexpr double bytes_per_gib = 1024.0 * 1024 * 1024;
      return fmt::format("{:.1f} GiB", *bytes / bytes_per_gib);
    }
  return text;
}

std::string parameters_of(const Workpackage& workpackage) {
  std::string text;
  for (const auto& [name, value] : workpackage.parameters)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, one_line(value));
  return text;
}

}  // namespace

std::string name_of(const space::Run& run) {
  return (run.directory.path.parent_path().filename() / run.directory.path.filename()).string();
}

std::vector<std::pair<std::string, std::string>> facts_of(const space::Run& run,
                                                          const std::string& last_change) {
  std::vector<std::pair<std::string, std::string>> all;
  const auto known = space::shown_facts(run.metadata);
  for (const Fact& fact : facts) {
    const auto found = known.find(fact.name);
    if (found != known.end() && !found->second.empty())
      all.emplace_back(fact.title, shown(fact.name, found->second));
    if (std::string_view(fact.name) == "started" && !last_change.empty())
      all.emplace_back("last change", last_change);
  }
  return all;
}

RunSheet sheet_of(const space::Run& run, const workspace::Workspace& workspace) {
  return {.name = name_of(run),
          .facts = facts_of(run, insight::last_change(workspace)),
          .states = workspace::table_of(workspace.counts())};
}

void add_failures(const std::string& run, const workspace::Workspace& workspace,
                  results::Table& failures) {
  if (failures.headings.empty())
    failures = results::table_with("failures",
                                   {"run", "workpackage", "step", "state", "parameters", "reason"});
  for (const Workpackage& one : workspace.workpackages()) {
    if (one.state != workspace::State::failed && one.state != workspace::State::skipped)
      continue;
    auto& row = failures.rows.emplace_back();
    row.emplace_back().value = run;
    row.emplace_back().value = one.id;
    for (const std::string& text :
         {one.step, std::string(workspace::name_of(one.state)), parameters_of(one), one.reason})
      row.emplace_back().value = text;
  }
}

}  // namespace bench::pages
