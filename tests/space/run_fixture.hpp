#pragma once

#include "model/fixture.hpp"
#include "support/environment_variable.hpp"
#include "support/error_of.hpp"
#include "support/temp_directory.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/space/graph.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/run.hpp>

namespace bench::space {

/// The new children of workpackages, as if these had succeeded.
inline std::vector<workspace::Workpackage> children_of(Graph& graph,
                                                       const std::vector<long long>& ids) {
  return graph.make_children(graph.parent_tuples_of(ids));
}

/// A run, as planned from a text, in a directory of its own.
class RunFixture : public testing::Test {
 protected:
  void plan(const std::string& yaml, const std::string& platform = "local") {
    graph_.reset();
    run_.benchmark = model::benchmark_of(yaml);
    run_.platform = machine::load_platform(platform);
    run_.directory = {3, directory_.path() / "000003"};
    run_.metadata = {};
    run_.metadata.home = directory_.path().string();
    run_.metadata.started = "2026-01-31 13:05:09";
    run_.metadata.platform = platform;
    run_.metadata.platform_variables = platform_variables(run_.platform);
  }

  /// Makes the first workpackages and, as if all succeeded, their children.
  Graph grown(std::vector<workspace::Workpackage> known = {}) {
    Graph graph(run_, std::move(known), evaluator_);
    for (auto made = graph.make_first(); !made.empty();) {
      std::vector<long long> ids;
      for (const workspace::Workpackage& workpackage : made)
        ids.push_back(workpackage.id);
      made = children_of(graph, ids);
    }
    return graph;
  }

  /// The grown graph; grows at the first call.
  Graph& graph() {
    if (!graph_)
      graph_.emplace(grown());
    return *graph_;
  }

  RenderContext context(std::size_t index = 0) { return context(graph().all().at(index)); }
  RenderContext context(const workspace::Workpackage& workpackage) {
    return *context_of(run_, graph(), workpackage, evaluator_);
  }

  support::EnvironmentVariable data_{"BENCH_DATA", std::nullopt};
  support::EnvironmentVariable partition_{"BENCH_PARTITION", std::nullopt};
  support::EnvironmentVariable account_{"BENCH_ACCOUNT", std::nullopt};
  support::EnvironmentVariable qos_{"BENCH_QOS", std::nullopt};
  support::TempDirectory directory_;
  evaluate::Evaluator evaluator_;
  space::Run run_;
  std::optional<Graph> graph_;
};

/// `2 go(0) 64/host i1 c2`: id, step, parents, parameter values, iteration, combination.
inline std::string text_of(const workspace::Workpackage& workpackage) {
  std::string text = std::to_string(workpackage.id) + " " + workpackage.step + "(";
  for (const long long parent : workpackage.parents)
    text += (text.back() == '(' ? "" : ",") + std::to_string(parent);
  text += ") ";
  for (const auto& [name, value] : workpackage.parameters)
    text += (text.back() == ' ' ? "" : "/") + value;
  return text + " i" + std::to_string(workpackage.iteration) + " c" +
         std::to_string(workpackage.combination);
}

inline std::vector<std::string> texts_of(const std::vector<workspace::Workpackage>& all) {
  std::vector<std::string> texts;
  for (const workspace::Workpackage& workpackage : all)
    texts.push_back(text_of(workpackage));
  return texts;
}

}  // namespace bench::space
