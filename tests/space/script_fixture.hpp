#pragma once

#include "space/run_fixture.hpp"

#include <cstddef>
#include <optional>
#include <string>

#include <bench/space/job_request.hpp>
#include <bench/space/job_script.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/render.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {

/// The job scripts of a step `go`, by a template that holds what a test looks at.
class ScriptFixture : public RunFixture {
 protected:
  ScriptFixture() { directory_.write("commands.job", "{{commands}}\n"); }

  RenderContext context(std::size_t index = 0) {
    if (!graph_)
      graph_.emplace(grown());
    return *context_of(run_, *graph_, graph_->all().at(index), evaluator_);
  }

  void begin(const std::string& yaml, const std::string& platform = "slurm") {
    plan(yaml, platform);
    graph_.reset();
  }

  std::string script(const RenderContext& of, const workspace::EnvironmentChanges& inherited = {}) {
    const ExecutionSegment whole{.script = true, .end = static_cast<int>(of.step.commands.size())};
    return render(of, whole, "UUID", inherited).script;
  }

  std::optional<std::string> head(std::size_t index) {
    const RenderContext of = context(index);
    return render_head(of, job_request_of(of));
  }

  std::optional<Graph> graph_;
};

}  // namespace bench::space
