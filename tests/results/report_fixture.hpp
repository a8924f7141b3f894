#pragma once

#include "space/run_fixture.hpp"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

#include <bench/results/analyses.hpp>
#include <bench/results/report.hpp>

namespace bench::results {

/// A run whose workpackages ended without ever having run.
class ReportFixture : public space::RunFixture {
 protected:
  /// Plans the run and lets every workpackage succeed but these.
  void end(const std::string& yaml, const std::map<long long, workspace::State>& others = {},
           const std::string& reason = "") {
    plan(yaml);
    std::filesystem::create_directories(run_.directory.path);
    workspace_.emplace(workspace::Workspace::create(run_.directory.path, {}));
    const space::Graph graph = grown();
    workspace_->replay({workspace::Expanded{{}, graph.all()}});
    for (const workspace::Workpackage& one : graph.all()) {
      const auto other = others.find(one.id);
      const workspace::State state = other == others.end() ? workspace::State::done : other->second;
      if (state == workspace::State::ready)
        continue;
      workspace_->replay({workspace::Claimed{one.id, std::to_string(one.id), "here"}});
      if (state == workspace::State::waiting)
        workspace_->replay({workspace::Advanced{.workpackage = one.id, .to = state}});
      else if (state != workspace::State::running)
        workspace_->replay({workspace::Ended{
            .workpackage = one.id,
            .attempt = {.outcome =
                            state == workspace::State::done ? Outcome::done : Outcome::failed,
                        .reason = state == workspace::State::done ? "" : reason},
            .environment = {}}});
    }
  }

  /// Below the directory of the run.
  void write(const std::string& file, const std::string& text) {
    directory_.write("000003/" + file, text);
  }

  void find(long long id, const std::string& name, const Value& value,
            const std::string& analyser = "a") {
    analyses_[analyser].push_back({.workpackage = id, .name = name, .value = value});
  }

  Report made(const std::set<std::string>& only = {}) {
    for (const model::Analyser& analyser : run_.benchmark.analysers)
      analyses_[analyser.name];
    return report(run_, *workspace_, analyses_, only, diagnostics_);
  }

  std::string table(const std::string& style = "csv") {
    return render(made().tables.at(0).table, style);
  }

  std::optional<workspace::Workspace> workspace_;
  Analyses analyses_;
  Diagnostics diagnostics_;
};

/// One step over `n`, analysed, with one table.
inline std::string one_step(const std::string& table, const std::string& analyser = "",
                            const std::string& step = "") {
  return "parameterset: {name: p, parameter: {n: {type: int, unit: nodes, _: '1,2,10'}}}\n"
         "patternset: {name: q, pattern: {name: t, type: float, unit: s, _: x}}\n"
         "step: {name: go, use: p" +
         step + "}\nanalyser: {name: a, use: q, " + analyser +
         "analyse: {step: go, file: stdout}}\n"
         "result: {use: a, table: {name: r, " +
         table + "}}\n";
}

}  // namespace bench::results
