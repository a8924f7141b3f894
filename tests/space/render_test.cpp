#include "space/run_fixture.hpp"
#include "support/error_of.hpp"
#include "support/golden.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/text.hpp>
#include <bench/machine/environment.hpp>
#include <bench/machine/job.hpp>
#include <bench/machine/platform.hpp>
#include <bench/space/graph.hpp>
#include <bench/space/render.hpp>

namespace bench::space {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class RenderTest : public RunFixture {
 protected:
  /// What the first workpackage executes.
  Rendered rendered() {
    const Graph graph = grown();
    return render(run_, graph.at(0), graph.variables_of(graph.at(0)), "UUID", evaluator_);
  }

  std::vector<std::string> commands(const std::string& yaml) {
    plan(yaml);
    std::vector<std::string> texts;
    for (const machine::Snippet& snippet : rendered().snippets)
      texts.push_back(snippet.text);
    return texts;
  }

  std::string error(const std::string& yaml) {
    plan(yaml);
    return support::error_of([&] { rendered(); });
  }

  /// The job script, with what differs from machine to machine named instead.
  std::string script() {
    std::string directories;
    for (const fs::path& directory : machine::program_directories())
      directories += shell_quote(directory.string()) + ":";
    return replace_all(replace_all(rendered().script, directories, "PROGRAMS:"),
                       directory_.path().string(), "HOME");
  }
};

TEST_F(RenderTest, SubstitutesCommandsAndTheirFiles) {
  plan(
      "parameterset: {name: p, parameter: {n: 4, what: '$$USER'}}\n"
      "step: {name: go, use: p, do: ['echo $n $$n $what ${jube_wp_padid} $other',\n"
      "       {stdout: out.$n, stderr: $jube_step_name.err, _: 'true'}]}\n");
  const auto snippets = rendered().snippets;
  const fs::path work = run_.directory.path / "000000_go/work";
  ASSERT_EQ(snippets.size(), 2U);
  EXPECT_EQ(snippets[0].text, "echo 4 $n $USER 000000 $other");
  EXPECT_EQ(snippets[0].stdout_file, work / "stdout");
  EXPECT_EQ(snippets[0].stderr_file, work / "stderr");
  EXPECT_EQ(snippets[1].stdout_file, work / "out.4");
  EXPECT_EQ(snippets[1].stderr_file, work / "go.err");
}

TEST_F(RenderTest, LeavesOutWhatIsEmptyOrNotActive) {
  EXPECT_THAT(commands("parameterset: {name: p, parameter: {n: 4}}\n"
                       "step: {name: go, use: p, do: ['', {active: $n > 4, _: a},\n"
                       "       {active: $n == 4, _: b}, {active: FALSE, _: c}]}\n"),
              ElementsAre("b"));
  EXPECT_THAT(commands("step: {name: go}\n"), IsEmpty());
}

TEST_F(RenderTest, StripsSemicolonsAsJubeDoes) {
  EXPECT_THAT(commands("step: {name: go, do: ['a;;', ';b; c', 'd']}\n"),
              ElementsAre("a", "b; c", "d"));
}

TEST_F(RenderTest, SaysWhereActiveIsWrong) {
  EXPECT_EQ(error("step:\n  name: go\n  do: {active: $n == 4, _: 'true'}\n").substr(0, 60),
            "in.yaml:3:28: error: invalid expression in `active`: SyntaxE");
}

TEST_F(RenderTest, TakesTheShorterLimit) {
  const auto timeout = [&](const std::string& attributes) {
    plan("parameterset: {name: p, parameter: {t: 3}}\nstep: {name: go, use: p, " + attributes +
         "do: a}\n");
    return rendered().timeout_s;
  };
  EXPECT_EQ(timeout(""), 0);
  EXPECT_EQ(timeout("timeout: '${t}min', "), 180);
  EXPECT_EQ(timeout("batch: {time_limit: 00:01:30}, "), 90);
  EXPECT_EQ(timeout("timeout: 1min, batch: {time_limit: 90s}, "), 60);
  EXPECT_EQ(timeout("timeout: 2min, batch: {time_limit: 90s}, "), 90);
}

TEST_F(RenderTest, SaysWhereALengthOfTimeIsWrong) {
  EXPECT_EQ(error("parameterset: {name: p, parameter: {t: soon}}\n"
                  "step: {name: go, use: p, do: a, timeout: $t}\n"),
            "in.yaml:2:7: error: invalid duration 'soon'\n"
            "hint: write seconds (90), a unit (5min, 2h) or HH:MM:SS");
}

const std::string batch_yaml = R"(name: my demo
parameterset:
  - name: p
    parameter:
      n: {type: int, _: 2}
      THREADS: {export: true, _: 4}
      note: {export: true, _: "it's"}
step:
  name: train
  use: p
  batch: {nodes: $n, threads_per_task: $THREADS, gpus_per_node: 4, time_limit: 90min}
  energy: {interval: 50ms}
  do: [echo $n $$THREADS, "echo 'two words'"]
)";

/// Golden files: what the platforms' templates make of one step.
class GoldenTest : public RenderTest, public testing::WithParamInterface<std::string> {};

TEST_P(GoldenTest, IsTheWholeScript) {
  plan(batch_yaml, GetParam());
  run_.platform.environment = {{"UCX_TLS", "rc,sm"}};
  support::expect_golden(GetParam() + ".job.expected", script());
}

INSTANTIATE_TEST_SUITE_P(Platforms, GoldenTest, testing::Values("local", "slurm"),
                         [](const auto& one) { return one.param; });

/// The directives of a script that depend on the platform and on `batch`.
class DirectiveTest : public RenderTest {
 protected:
  std::string directives(const std::string& batch, machine::GpuRequest gpus) {
    plan("step: {name: go, do: a, batch: " + batch + "}\n", "slurm");
    run_.platform.gpu_request = gpus;
    run_.platform.asking.partition = "gpu";
    std::string lines;
    for (const std::string& line : split(script(), "\n"))
      if (line.starts_with("#SBATCH --g") || line.starts_with("#SBATCH --p") ||
          line.starts_with("#SBATCH --t"))
        lines += line.substr(8) + "\n";
    return lines;
  }
};

TEST_F(DirectiveTest, AsksForGpusAsThePlatformWantsIt) {
  using machine::GpuRequest;
  EXPECT_EQ(directives("{gpus_per_node: 4}", GpuRequest::gres), "--gres=gpu:4\n--partition=gpu\n");
  EXPECT_EQ(directives("{gpus_per_node: 4}", GpuRequest::gpus_per_node),
            "--gpus-per-node=4\n--partition=gpu\n");
  EXPECT_EQ(directives("{gpus_per_node: 4}", GpuRequest::none), "--partition=gpu\n");
  EXPECT_EQ(directives("{gpus_per_node: 0}", GpuRequest::gres), "--partition=gpu\n");
}

TEST_F(DirectiveTest, RoundsTheTimeLimitUp) {
  EXPECT_EQ(directives("{time_limit: 3599.5s}", machine::GpuRequest::none),
            "--time=01:00:00\n--partition=gpu\n");
  EXPECT_EQ(directives("{time_limit: 2-00:00:00}", machine::GpuRequest::none),
            "--time=48:00:00\n--partition=gpu\n");
}

TEST_F(RenderTest, TakesATemplateBesideTheBenchmark) {
  directory_.write("own.job", "{{step}} on {{nodes}} of {{tasks_per_node}}\n{{commands}}\n");
  plan("step: {name: go, do: a, batch: {template: own.job}}\n");
  EXPECT_EQ(rendered().script, "go on 1 of 1\n/bin/sh -c a\n");
}

TEST_F(RenderTest, KeepsTheFilesAndDirectoriesOfCommandsInAJobScript) {
  directory_.write("own.job", "{{commands}}\n");
  plan(
      "step: {name: go, batch: {template: own.job},\n"
      "  do: [{stdout: out, stderr: err, _: a}, {work_dir: sub, _: b}, c]}\n");
  const std::string work = (run_.directory.path / "000000_go/work").string();
  EXPECT_THAT(rendered().script,
              testing::EndsWith(" \\\n  '' " + work + "/out " + work + "/err a \\\n  " + work +
                                "/sub '' '' b \\\n  '' '' '' c\n"));
}

TEST_F(RenderTest, SaysWhichHoleOfATemplateNothingFills) {
  const std::string file = directory_.write("own.job", "#!/bin/sh\n{{nods}}\n").string();
  EXPECT_EQ(error("step: {name: go, do: a, batch: {template: own.job}}\n"),
            file +
                ":2:1: error: unknown template variable 'nods'\n  {{nods}}\n  ^\n"
                "hint: did you mean 'nodes'?");
}

TEST_F(RenderTest, MeasuresByWhatTheCommandLineSays) {
  directory_.write("own.job", "{{commands}}\n");
  plan("step: {name: go, do: a, batch: {template: own.job}, energy: {methods: rapl}}\n");
  const std::string work = (run_.directory.path / "000000_go/work").string();
  const std::string rest = " --interval 100ms --per-node --record " +
                           (run_.directory.path / "environment").string() + " --regions --out " +
                           work + " -- /bin/sh -c a\n";
  EXPECT_EQ(rendered().script, "bench-energy --method rapl" + rest);
  run_.metadata.power_source = "nvml,rapl";
  EXPECT_EQ(rendered().script, "bench-energy --method nvml,rapl" + rest);
}

}  // namespace
}  // namespace bench::space
