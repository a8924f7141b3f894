#include "space/run_fixture.hpp"
#include "support/error_of.hpp"

#include <cstddef>
#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/text.hpp>
#include <bench/machine/environment.hpp>
#include <bench/machine/platform.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/job_script.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/render.hpp>
#include <bench/space/render_context.hpp>
#include <bench/space/segment.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::space {
namespace {

using testing::HasSubstr;

/// The job scripts of a step `go`, from a template with the parts that a test looks at.
class JobScriptTest : public RunFixture {
 protected:
  JobScriptTest() { directory_.write("commands.job", "{{commands}}\n"); }

  void begin(const std::string& yaml, const std::string& platform = "slurm") {
    plan(yaml, platform);
  }

  std::string script(const RenderContext& of, const workspace::EnvironmentChanges& inherited = {}) {
    const ExecutionSegment whole{.script = true, .end = static_cast<int>(of.step.commands.size())};
    return render(of, whole, "UUID", inherited).script;
  }

  std::optional<std::string> head(std::size_t index) {
    const RenderContext of = context(index);
    return render_head(of, job_request_of(of));
  }
};

struct Name {
  std::string name;
  std::string file;
  std::string expected;
};

class DirectiveFileTest : public testing::TestWithParam<Name> {};

TEST_P(DirectiveFileTest, StandsForItselfToSlurm) {
  machine::Platform platform;
  platform.scheduler = "slurm";
  EXPECT_EQ(directive_file(platform, GetParam().file), GetParam().expected);
  platform.scheduler = "pbs";
  EXPECT_EQ(directive_file(platform, GetParam().file), GetParam().file);
}

INSTANTIATE_TEST_SUITE_P(
    Names, DirectiveFileTest,
    testing::Values(Name{"Plain", "/run-1/a_b.c", "/run-1/a_b.c"},
                    Name{"Percent", "/50%j", "/50%%j"}, Name{"Blank", "/a b", "\"/a b\""},
                    Name{"BlankAndPercent", "/a b%c", "\"/a b%%c\""},
                    Name{"Comment", "/a#b", "\"/a#b\""}, Name{"Quote", "/it's", "\"/it's\""},
                    Name{"Dollar", "/$a", "\"/$a\""}, Name{"Semicolon", "/a;b", "\"/a;b\""},
                    Name{"DoubleQuote", "/a\"b", "/dev/null"},
                    Name{"Backslash", "/a\\b", "/dev/null"}, Name{"Newline", "/a\nb", "/dev/null"}),
    [](const auto& one) { return one.param.name; });

TEST_F(JobScriptTest, WritesItsFilesWhereverTheRunIs) {
  begin("step: {name: go, do: a, batch: true}\n");
  run_.directory.path = directory_.path() / "my 50%" / "000003";
  const std::string base = directory_.path().string() + "/my 50%";
  const std::string text = script(context());
  EXPECT_THAT(text, HasSubstr("#SBATCH --output=\"" + base + "%/000003/000000_go/work/stdout\"\n"));
  EXPECT_THAT(text, HasSubstr("#SBATCH --error=\"" + base + "%/000003/000000_go/work/stderr\"\n"));
  EXPECT_THAT(text, HasSubstr("\ncd '" + base + "/000003/000000_go/work' || exit\n"));
  EXPECT_THAT(text, HasSubstr("\nbench_sentinel='" + base + "/000003/000000_go/sentinel'\n"));
}

TEST_F(JobScriptTest, PutsTheProgramsOfThePlatformFirst) {
  begin("step: {name: go, do: a, batch: true}\n");
  run_.platform.path = {"/opt/arm/bin", "/my tools"};
  EXPECT_THAT(script(context()), HasSubstr("\nexport PATH=/opt/arm/bin:'/my tools':"));
}

const std::string four_tasks =
    "batch: {nodes: 2, tasks_per_node: 4, gpus_per_node: 4, template: commands.job}";
const std::string srun = "srun --nodes=2 --ntasks=8 --ntasks-per-node=4 --kill-on-bad-exit=1";

TEST_F(JobScriptTest, PutsTheLaunchLineForTheStarter) {
  begin("step: {name: go, do: '$jube_starter ./train', " + four_tasks + "}\n");
  EXPECT_EQ(script(context()), "/bin/sh -c '" + srun + " ./train'\n");
}

TEST_F(JobScriptTest, MeasuresBehindTheStarter) {
  begin("step: {name: go, do: [a, '$jube_starter ./train'], energy: true, " + four_tasks + "}\n");
  const RenderContext of = context();
  EXPECT_THAT(script(of),
              HasSubstr("'' '' '' a \\\n  '' '' '' '" + srun +
                        " bench-energy --method auto --interval 100ms --per-node --record " +
                        (of.run.directory.path / "environment").string() + " --regions --out " +
                        of.work().string() + " -- ./train'\n"));
}

TEST_F(JobScriptTest, MeasuresEachOfSeveralProgramsBehindAStarter) {
  directory_.write("commands.job", "{{commands}}\n{{afterwards}}\n");
  begin(
      "step: {name: go, do: ['$jube_starter a; ${jube_starter} b', {active: '1==2', _: "
      "$jube_starter c}, $jube_starter d], energy: true, batch: {template: commands.job}}\n",
      "local");
  const RenderContext of = context();
  const std::string meter = "bench-energy --method auto --interval 100ms --per-node --record " +
                            (of.run.directory.path / "environment").string() + " --regions --out " +
                            of.work().string();
  EXPECT_THAT(script(of),
              HasSubstr("'' '' '' '" + meter + "/energy_1 -- a; " + meter +
                        "/energy_2 -- b' \\\n  '' '' '' '" + meter +
                        "/energy_3 -- d'\n"
                        "measured=$(ls -d energy_1 energy_2 energy_3 2> /dev/null)\n"
                        "if [ -n \"$measured\" ]; then\n"
                        "  bench-energy combine --in-sequence --output energy.txt $measured\n"
                        "fi\n"));
}

TEST_F(JobScriptTest, OneActiveProgramBehindAStarterNeedsNoDirectoryOfItsOwn) {
  begin(
      "step: {name: go, do: [{active: '1==2', _: $jube_starter a}, $jube_starter b], energy: true, "
      "batch: {template: commands.job}}\n",
      "local");
  const RenderContext of = context();
  EXPECT_THAT(script(of), HasSubstr("--out " + of.work().string() + " -- b"));
}

TEST_F(JobScriptTest, MeasuresAllCommandsWithoutAnActiveStarter) {
  for (const std::string commands :
       {"./train", "[{active: '1==2', _: $jube_starter a}, ./train]"}) {
    begin("step: {name: go, do: " + commands + ", energy: true, " + four_tasks + "}\n");
    EXPECT_THAT(
        script(context()),
        testing::StartsWith("bench-energy --method auto --interval 100ms --per-node --record "));
  }
}

TEST_F(JobScriptTest, StartsNothingSpecialWhereThePlatformHasNoLauncher) {
  begin("step: {name: go, do: '$jube_starter ./train', " + four_tasks + "}\n", "local");
  EXPECT_EQ(script(context()), "/bin/sh -c ' ./train'\n");
}

TEST_F(JobScriptTest, TakesItsShareOfAPack) {
  begin(
      "step: {name: go, do: $jube_starter ./train, "
      "batch: {pack: 2, gpus_per_node: 1, template: commands.job}}\n");
  EXPECT_EQ(script(context()),
            "/bin/sh -c 'srun --nodes=1 --ntasks=1 --ntasks-per-node=1 --exact "
            "--mem=0 --gpus-per-node=1 ./train'\n");
}

TEST_F(JobScriptTest, GivesMoreTimeAfterEachTimeout) {
  const auto limit_s = [&](const std::string& settings, int timeouts) {
    begin("step: {name: go, do: a, " + settings + "}\n");
    RenderContext of = context();
    of.workpackage.timeouts = timeouts;
    return job_request_of(of).time_limit_s;
  };
  const std::string retry =
      "batch: {time_limit: 100s}, retry: {on: timeout, times: 3, timelimit_factor: 1.5}";
  EXPECT_EQ(limit_s(retry, 0), 100);
  EXPECT_EQ(limit_s(retry, 1), 150);
  EXPECT_EQ(limit_s(retry, 2), 225);
  EXPECT_EQ(limit_s("batch: {time_limit: 100s}, retry: {on: timeout, times: 3}", 2), 100);
  EXPECT_EQ(limit_s("batch: {time_limit: 100s}", 2), 100);
  EXPECT_EQ(limit_s("batch: true, retry: {on: timeout, timelimit_factor: 2}", 1), 0);
}

TEST_F(JobScriptTest, AsksForTheLongerTime) {
  begin(
      "step: {name: go, do: a, batch: {time_limit: 90min}, "
      "retry: {on: timeout, timelimit_factor: 2}}\n");
  RenderContext of = context();
  of.workpackage.timeouts = 1;
  EXPECT_THAT(script(of), HasSubstr("#SBATCH --time=03:00:00\n"));
}

TEST_F(JobScriptTest, ChangesTheEnvironmentAsItsParentsDid) {
  directory_.write("exports.job", "{{exports}}\n");
  begin(
      "parameterset: {name: p, parameter: {A: {export: true, _: own}}}\n"
      "step: {name: go, use: p, do: a, batch: {template: exports.job}}\n",
      "local");
  run_.platform.environment = {{"A", "of the platform"}};
  std::string programs;
  for (const auto& directory : machine::program_directories())
    programs += shell_quote(directory.string()) + ":";
  EXPECT_EQ(script(context(), {{"A", "of a parent"}, {"GONE", std::nullopt}, {"B", "it's"}}),
            "export BENCH_ATTEMPT=UUID\nexport A='of a parent'\nunset GONE\nexport B='it'\\''s'\n"
            "export PATH=" +
                programs + "\"$PATH\"\nexport A='of the platform'\nexport A=own\n");
}

/// Such as the functions that bash exports.
TEST_F(JobScriptTest, LeavesOutVariablesThatNoShellCanSet) {
  directory_.write("exports.job", "{{exports}}\n");
  begin("step: {name: go, do: a, batch: {template: exports.job}}\n", "local");
  EXPECT_THAT(
      script(context(), {{"BASH_FUNC_ml%%", "() { :; }"}, {"a.b", std::nullopt}, {"C", "1"}}),
      testing::StartsWith("export BENCH_ATTEMPT=UUID\nexport C=1\nexport PATH="));
}

struct Number {
  std::string name;
  std::string batch;
  std::string expected;
};

class JobRequestMistakeTest : public JobScriptTest, public testing::WithParamInterface<Number> {};

TEST_P(JobRequestMistakeTest, IsReported) {
  begin("step: {name: go, do: a, batch: " + GetParam().batch + "}\n");
  const RenderContext of = context();
  EXPECT_EQ(support::error_of([&] { job_request_of(of); }),
            "in.yaml:1:32: error: " + GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(
    Numbers, JobRequestMistakeTest,
    testing::Values(
        Number{"NoNodes", "{nodes: 0}", "nodes of step 'go' must be an integer of at least 1: 0"},
        Number{"Fraction", "{pack: 1.5}",
               "pack of step 'go' must be an integer of at least 1: 1.5"},
        Number{"Negative", "{gpus_per_node: -1}",
               "gpus_per_node of step 'go' must be an integer of at least 0: -1"},
        Number{"FarTooMany", "{tasks_per_node: 99999999}",
               "tasks_per_node of step 'go' must be an integer of at least 1: 99999999"},
        Number{"Parameter", "{threads_per_task: $n}",
               "threads_per_task of step 'go' must be an integer of at least 0: $n"}),
    [](const auto& one) { return one.param.name; });

/// Two workpackages go out together if their heads are equal.
class HeadTest : public JobScriptTest {
 protected:
  void begin_two(const std::string& batch) {
    begin(
        "parameterset: {name: p, parameter: {n: [1, 2]}}\n"
        "step: {name: go, use: p, do: run $n, batch: " +
        batch + "}\n");
  }
};

TEST_F(HeadTest, IsEqualWhateverTheCommandsAre) {
  begin_two("{nodes: 2, gpus_per_node: 4, time_limit: 1h}");
  ASSERT_TRUE(head(0));
  EXPECT_EQ(head(0), head(1));
}

TEST_F(HeadTest, DiffersByWhatIsAskedFor) {
  for (const std::string setting : {"nodes: $n", "tasks_per_node: $n", "threads_per_task: $n",
                                    "gpus_per_node: $n", "time_limit: '${n}min'", "pack: $n"}) {
    begin_two("{" + setting + "}");
    EXPECT_NE(head(0), head(1)) << setting;
  }
}

TEST_F(HeadTest, DiffersAfterATimeout) {
  begin(
      "step: {name: go, do: a, batch: {time_limit: 60s}, "
      "retry: {on: timeout, timelimit_factor: 2}}\n");
  RenderContext again = context();
  again.workpackage.timeouts = 1;
  EXPECT_NE(render_head(again, job_request_of(again)), head(0));
}

TEST_F(HeadTest, DiffersWhereTheTemplateNamesTheWorkpackage) {
  directory_.write("own.job", "#SBATCH -J wp{{workpackage}}\n#SBATCH -a {{array?}}\n{{body}}");
  begin_two("{template: own.job}");
  EXPECT_NE(head(0), head(1));
}

TEST_F(HeadTest, IsNoneWhereTheTemplateTakesNoOtherScripts) {
  begin_two("{template: commands.job}");
  EXPECT_EQ(head(0), std::nullopt);
}

/// The script that runs those of others.
class DispatcherTest : public JobScriptTest {
 protected:
  std::string body(int pack) {
    const RenderContext of = context();
    return render_dispatcher(of, job_request_of(of), pack, "/my run/list").at("body");
  }
};

TEST_F(DispatcherTest, ReadsItsLineOfTheList) {
  begin("step: {name: go, do: a, batch: true}\n");
  EXPECT_THAT(body(1), HasSubstr("p\" '/my run/list')\n"));
  EXPECT_THAT(body(1), HasSubstr("  env bash \""));
}

TEST_F(DispatcherTest, SharesTheJobOutBySrun) {
  begin(
      "step: {name: go, do: a, "
      "batch: {pack: 2, tasks_per_node: 2, threads_per_task: 3, gpus_per_node: 1}}\n");
  EXPECT_THAT(body(2), HasSubstr("  srun --nodes=1 --ntasks=1 --ntasks-per-node=1 "
                                 "--cpus-per-task=6 --exact --mem=0 --gpus-per-node=1 bash \""));
}

TEST_F(DispatcherTest, LeavesTheSharingToTheStarter) {
  begin("step: {name: go, do: $jube_starter a, batch: {pack: 2}}\n");
  EXPECT_THAT(body(2), HasSubstr("  env bash \""));
}

TEST_F(JobScriptTest, IsNamedForPeopleWhereThereAreComments) {
  begin("step: {name: go, do: a, batch: true}\n");
  run_.benchmark.name = "my demo/1ä.x";
  EXPECT_EQ(job_name(run_, "go-0", 7, "12345678-9abc"), "my_demo_1__.x_go-0_7");
  EXPECT_EQ(job_name(run_, "go-0", std::nullopt, "12345678-9abc"), "my_demo_1__.x_go-0");
  run_.platform.scheduler = "pbs";
  EXPECT_EQ(job_name(run_, "go", 7, "12345678-9abc"), "bench-af6f5e15");
  EXPECT_NE(job_name(run_, "go", 7, "12345678-9abd"), "bench-af6f5e15")
      << "made in the same minute";
}

/// The meter in the job scripts of a step.
class MeterCommandTest : public JobScriptTest {};

/// One meter would see the GPUs of its own task alone.
TEST_F(MeterCommandTest, EachTaskThatHasGpusOfItsOwnHasAMeter) {
  begin("step: {name: go, do: '$jube_starter ./train', energy: true, " + four_tasks + "}\n");
  run_.platform.gpu_request = machine::GpuRequest::gpus_per_task;
  EXPECT_THAT(script(context()), HasSubstr(" --interval 100ms --record "));
  run_.benchmark.steps[0].power.gpu_power_limit = "300W";
  const RenderContext of = context();
  EXPECT_THAT(
      support::error_of([&] { script(of); }),
      HasSubstr(": error: no task of step 'go' sees all GPUs of a node, so no meter can set "
                "and restore what the tasks use\nhint: platform slurm gives GPUs to tasks: "
                "use another gpu_request, or one task per node"));
}

TEST_F(MeterCommandTest, OneMeterSeesAllGpusWhereNoLauncherDividesThem) {
  begin("step: {name: go, do: ./train, energy: true, gpu_power_limit: 300W, " + four_tasks + "}\n");
  run_.platform.gpu_request = machine::GpuRequest::gpus_per_task;
  EXPECT_THAT(script(context()), HasSubstr(" --per-node --gpu-power-limit 300W --record "));
}

TEST_F(MeterCommandTest, TheMeterSetsTheProcessorsToWhatParametersSay) {
  begin(
      "parameterset: {name: p, parameter: {limit: [300W, ''], governor: performance}}\n"
      "step: {name: go, use: p, do: a, batch: {template: commands.job}, energy: true, "
      "gpu_power_limit: $limit, cpu_governor: $governor}\n");
  EXPECT_THAT(script(context(0)),
              HasSubstr(" --per-node --gpu-power-limit 300W --cpu-governor performance --record "));
  EXPECT_THAT(script(context(1)), HasSubstr(" --per-node --cpu-governor performance --record "));
}

TEST_F(MeterCommandTest, ASettingThatParametersMakeWrongIsRefusedBeforeTheJob) {
  begin(
      "parameterset: {name: p, parameter: {limit: 300}}\n"
      "step: {name: go, use: p, do: a, batch: {template: commands.job}, energy: true, "
      "gpu_power_limit: $limit}\n");
  const RenderContext of = context();
  EXPECT_THAT(support::error_of([&] { script(of); }),
              HasSubstr(": error: the power limit of a GPU is a number above zero with a unit, not "
                        "'300'\nhint: write it like 300W"));
}

TEST_F(MeterCommandTest, APackCannotSetTheGovernorOfCpusThatItShares) {
  begin(
      "step: {name: go, do: a, batch: {pack: 2, template: commands.job}, energy: true, "
      "cpu_governor: performance}\n");
  const RenderContext of = context();
  EXPECT_THAT(support::error_of([&] { script(of); }),
              HasSubstr(": error: workpackages that share a job cannot each set the governor of "
                        "its CPUs\nhint: remove `cpu_governor` or `pack`"));
}

struct Setting {
  std::string name;
  std::string energy;
  std::string expected;
};

class MeterSettingTest : public MeterCommandTest, public testing::WithParamInterface<Setting> {};

TEST_P(MeterSettingTest, IsRefusedBeforeTheJobOnceItsParametersAreKnown) {
  begin(
      "parameterset: {name: p, parameter: {m: nvm, t: 1us}}\n"
      "step: {name: go, use: p, do: a, batch: {template: commands.job}, energy: " +
      GetParam().energy + "}\n");
  const RenderContext of = context();
  EXPECT_THAT(support::error_of([&] { script(of); }), HasSubstr(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    Settings, MeterSettingTest,
    testing::Values(Setting{"Methods", "{methods: $m}",
                            ": error: unknown method 'nvm'\nhint: did you mean 'nvml'?"},
                    Setting{"UnknownParameter", "{methods: $x}", ": error: unknown method '$x'"},
                    Setting{"Interval", "{interval: $t}",
                            ": error: interval 1us is out of range\nhint: 1ms to 10s"},
                    Setting{"Baseline", "{baseline: $t}",
                            ": error: baseline 1us is out of range\nhint: 100ms to 60min"}),
    [](const auto& one) { return one.param.name; });

TEST_F(MeterCommandTest, MeasuresAsThePlatformDoesUnlessToldOtherwise) {
  begin("step: {name: go, do: a, energy: true, batch: {template: commands.job}}\n");
  run_.platform.energy = "nvml,rapl";
  EXPECT_THAT(script(context()), testing::StartsWith("bench-energy --method nvml,rapl "));
  run_.benchmark.steps[0].energy->methods = "hwmon";
  EXPECT_THAT(script(context()), testing::StartsWith("bench-energy --method hwmon "));
}

}  // namespace
}  // namespace bench::space
