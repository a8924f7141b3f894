#include "space/run_fixture.hpp"
#include "support/error_of.hpp"
#include "support/source_directory.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/document/elements.hpp>
#include <bench/machine/job_template.hpp>
#include <bench/machine/platform.hpp>
#include <bench/space/job_request.hpp>
#include <bench/space/job_script.hpp>
#include <bench/space/prepare.hpp>
#include <bench/space/render_context.hpp>

namespace bench::space {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// What job scripts hold of the settings of a step `go`.
class JobSettingsTest : public RunFixture {
 protected:
  void begin(const std::string& batch, const std::string& platform = "slurm") {
    plan(
        "parameterset: {name: p, parameter: {freq: [low, high], empty: ''}}\n"
        "step: {name: go, use: p, do: a, batch: " +
            batch + "}\n",
        platform);
  }

  std::string head(std::size_t index = 0) {
    const RenderContext of = context(index);
    return fill_job_template(of, job_request_of(of),
                             {.uuid = "-",
                              .job_name = "go",
                              .array = "",
                              .dependency = "",
                              .output = "/dev/null",
                              .error = "/dev/null",
                              .parts = {{"body", "body"}}});
  }

  std::string head_or_error() {
    std::string text;
    const std::string error = support::error_of([&] { text = head(); });
    return text.empty() ? error : text;
  }

  std::vector<std::string> warnings() {
    Diagnostics diagnostics;
    check_templates(run_, diagnostics);
    std::vector<std::string> texts;
    for (const Warning& warning : diagnostics.warnings())
      texts.push_back(fmt::format("{}:{}: {} ({})", warning.place.line, warning.place.column,
                                  warning.message, warning.hint));
    return texts;
  }
};

TEST_F(JobSettingsTest, BecomeDirectivesOfSlurm) {
  begin(
      "{partition: a, account: b, qos: c, reservation: d, constraint: 'e&f', exclusive: true, "
      "memory: 8G, nodelist: ['n[1-2]', n4], exclude: n3, mail: me@site, licenses: 'x:2', "
      "signal: 'B:USR1@60', options: [--switches=1, '-C \"g|h\"']}");
  EXPECT_THAT(
      head(),
      AllOf(HasSubstr("#SBATCH --partition=a\n"), HasSubstr("#SBATCH --account=b\n"),
            HasSubstr("#SBATCH --qos=c\n"), HasSubstr("#SBATCH --reservation=d\n"),
            HasSubstr("#SBATCH --constraint=e&f\n"), HasSubstr("#SBATCH --exclusive\n"),
            HasSubstr("#SBATCH --mem=8G\n"), HasSubstr("#SBATCH --nodelist=n[1-2],n4\n"),
            HasSubstr("#SBATCH --exclude=n3\n"),
            HasSubstr("#SBATCH --mail-type=END,FAIL --mail-user=me@site\n"),
            HasSubstr("#SBATCH --licenses=x:2\n"), HasSubstr("#SBATCH --signal=B:USR1@60\n"),
            HasSubstr("#SBATCH --switches=1\n#SBATCH -C \"g|h\"\n")));
}

TEST_F(JobSettingsTest, TakePrecedenceOverThePlatform) {
  begin("{partition: own, exclusive: false, memory: $empty}");
  run_.platform.asking.partition = "general";
  run_.platform.exclusive = true;
  run_.platform.memory = "4G";
  EXPECT_THAT(head(), AllOf(HasSubstr("--partition=own\n"), Not(HasSubstr("--exclusive")),
                            HasSubstr("--mem=4G\n")));
}

TEST_F(JobSettingsTest, HoldParametersSoThatEachCombinationIsAnotherJob) {
  begin("{partition: part_$freq, options: --cpu-freq=$freq}");
  EXPECT_THAT(head(0), AllOf(HasSubstr("--partition=part_low\n"), HasSubstr("--cpu-freq=low\n")));
  EXPECT_THAT(head(1), AllOf(HasSubstr("--partition=part_high\n"), HasSubstr("--cpu-freq=high\n")));
}

TEST_F(JobSettingsTest, AddToTheConstraintThatSelectsNodesWithGpus) {
  begin("{gpus_per_node: 1, constraint: ssd}");
  run_.platform.gpu_request = machine::GpuRequest::constraint;
  run_.platform.constraint = "gpu";
  EXPECT_THAT(head(), HasSubstr("#SBATCH --constraint=gpu&ssd\n"));
}

struct Other {
  std::string platform;
  std::string batch;
  std::string expected;  ///< A line of the head, or a part of the error.
};
void PrintTo(const Other& one, std::ostream* out) {
  *out << one.platform << one.batch;
}

class OtherSystemTest : public JobSettingsTest, public testing::WithParamInterface<Other> {};

TEST_P(OtherSystemTest, HasItsOwnDirectiveOrSaysThatThereIsNone) {
  begin(GetParam().batch, GetParam().platform);
  EXPECT_THAT(head_or_error(), HasSubstr(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    All, OtherSystemTest,
    testing::Values(
        Other{"pbs", "{constraint: model=x}", ":mpiprocs=1:model=x\n"},
        Other{"pbs", "{mail: me@site}", "\n#PBS -m ae -M me@site\n"},
        Other{"pbs", "{licenses: x=2}", "\n#PBS -l x=2\n"},
        Other{"pbs", "{options: -p 10}", "\n#PBS -p 10\n"},
        Other{"pbs", "{exclude: n1}",
              "the job template pbs.job has no line for `exclude` of step 'go'"},
        Other{"Summit", "{mail: me@site, exclusive: true}", "\n#BSUB -N -u me@site\n"},
        Other{"Summit", "{qos: x}", "lsf.job has no line for `qos`"},
        Other{"Fugaku", "{mail: me@site}", "\n#PJM -m e --mail-list me@site\n"},
        Other{"Fugaku", "{signal: USR1@60}", "pjm.job has no line for `signal`"},
        Other{"ABCI", "{mail: me@site, account: x}", "\n#$ -m ae -M me@site\n"},
        Other{"ABCI", "{nodelist: n1}", "uge.job has no line for `nodelist`"},
        Other{"ThetaGPU", "{constraint: 'a=b:c=d'}", "\n#COBALT --attrs a=b:c=d\n"},
        Other{"ThetaGPU", "{licenses: x}", "cobalt.job has no line for `licenses`"},
        Other{"flux", "{constraint: fast, nodelist: n1, exclude: n2, signal: USR1@60}",
              "\n#flux: --requires=fast\n#flux: --requires=hosts:n1\n#flux: --requires=-hosts:n2\n"
              "#flux: --signal=USR1@60\n"},
        Other{"flux", "{mail: me@site}", "flux.job has no line for `mail`"},
        Other{"flux", "{same_nodes: true}", "#flux: --nodes=1"},
        Other{"pbs", "{same_nodes: true}",
              "`same_nodes` of step 'go' does not work here: bench does not know how pbs names the "
              "nodes of a job"},
        Other{"allocation", "{same_nodes: true}",
              "`same_nodes` of step 'go' has no effect in an allocation"}),
    [](const auto& one) { return fmt::format("{}_{}", one.param.platform, one.index); });

/// docs/reference/batch.md says which batch system has a line for which setting.
TEST_F(JobSettingsTest, AreListedByBatchSystemAsTheTemplatesTakeThem) {
  const std::vector<std::string> templates{"slurm", "pbs", "lsf", "pjm", "uge", "cobalt", "flux"};
  std::size_t rows = 0;
  for (const std::string& line :
       split(read_file(support::source_directory() / "docs/reference/batch.md"), "\n")) {
    const auto cells = split(line, "|");
    const std::string name =
        cells.size() < 9 ? "" : replace_all(std::string(strip(cells[1])), "`", "");
    const auto& known = document::job_settings();
    if (std::ranges::find(known, name, &document::AttributeKind::name) == known.end())
      continue;
    ++rows;
    for (std::size_t k = 0; k < templates.size(); ++k) {
      const auto variables = machine::variables_in(
          read_file(support::source_directory() / "templates" / (templates[k] + ".job")));
      const bool is_by_command = templates[k] == "uge" && name == "account";
      EXPECT_EQ(!strip(cells[k + 2]).empty(),
                variables.contains(name) || variables.contains(name + "_option") || is_by_command)
          << name << " of " << templates[k];
    }
  }
  EXPECT_EQ(rows, document::job_settings().size());
}

TEST_F(JobSettingsTest, HaveNoEffectWithoutABatchSystem) {
  begin("{partition: a, exclude: n1, options: --switches=1}", "local");
  EXPECT_THAT(head(), Not(HasSubstr("switches")));
  EXPECT_THAT(warnings(), IsEmpty());
}

struct Bad {
  std::string name;
  std::string batch;
  std::string error;
};

class BadSettingTest : public JobSettingsTest, public testing::WithParamInterface<Bad> {};

TEST_P(BadSettingTest, IsRefusedWithItsPlace) {
  begin(GetParam().batch);
  const std::string error = support::error_of([&] { head(); });
  EXPECT_THAT(error, HasSubstr(GetParam().error));
  EXPECT_THAT(error, HasSubstr(".yaml:")) << "no place";
}

INSTANTIATE_TEST_SUITE_P(
    All, BadSettingTest,
    testing::Values(
        Bad{"Newline", R"({partition: "a\nb"})",
            "`partition` of step 'go' contains a line break, which a directive cannot hold: a b"},
        Bad{"Space", "{account: a b}", "`account` of step 'go' contains a space"},
        Bad{"Quote", "{qos: \"it's\"}", "`qos` of step 'go' contains '''"},
        Bad{"Unknown", "{nodelist: $frq}", "`nodelist` of step 'go' contains '$'"},
        Bad{"Hint", "{nodelist: $frq}", "hint: 'frq' is not a parameter of step 'go'"},
        Bad{"Comment", "{options: '--x=1 # why'}", "`options` of step 'go' contains '#'"},
        Bad{"Shell", "{options: --x=`date`}", "`options` of step 'go' contains '`'"},
        Bad{"Chain", "{options: '--x; rm'}", "`options` of step 'go' contains ';'"},
        Bad{"NoDash", "{options: x}", "`options` of step 'go' must begin with a dash: 'x'"},
        Bad{"Own", "{options: --array=1-2}",
            "`options` of step 'go' cannot set --array, which bench sets itself"},
        Bad{"OwnShort", "{options: -Jname}", "cannot set -Jname, which bench sets itself"},
        Bad{"Flag", "{exclusive: perhaps}",
            "`exclusive` of step 'go' must be true or false, not 'perhaps'"}),
    [](const auto& one) { return one.param.name; });

TEST_F(JobSettingsTest, NeedALineInTheTemplateOfTheUser) {
  directory_.write("own.job", "#!/bin/bash\n#SBATCH -p {{partition?}}\n{{body}}");
  begin("{template: own.job, partition: a, qos: b}");
  EXPECT_THAT(support::error_of([&] { warnings(); }),
              HasSubstr("the job template own.job has no line for `qos` of step 'go'"));
  begin("{template: own.job, options: --switches=1}");
  EXPECT_THAT(support::error_of([&] { warnings(); }),
              HasSubstr("own.job has no line for `options` of step 'go'"));
  begin("{template: own.job, same_nodes: true}");
  EXPECT_THAT(support::error_of([&] { warnings(); }),
              HasSubstr("own.job has no lines with {{nodelist?}} and {{body}}"));
}

/// Only the first task of an array would run.
TEST_F(JobSettingsTest, ATemplateWithoutALineForArraysTakesNoOtherScripts) {
  directory_.write("own.job", "#!/bin/bash\n{{body}}");
  begin("{template: own.job}");
  const RenderContext of = context();
  EXPECT_EQ(render_head(of, job_request_of(of)), std::nullopt);
}

TEST_F(JobSettingsTest, ParametersAreVariablesOfTemplates) {
  directory_.write("own.job", "#!/bin/bash\n#SBATCH --cpu-freq={{freq}}\n{{body}}");
  begin("{template: own.job}");
  EXPECT_THAT(head(1), HasSubstr("#SBATCH --cpu-freq=high\n"));
  EXPECT_THAT(warnings(), IsEmpty());
}

TEST_F(JobSettingsTest, AParameterThatStaysAsWrittenInATemplateGivesAWarning) {
  directory_.write("own.job",
                   "#!/bin/bash\n# $freq in a comment\n#SBATCH --cpu-freq=$freq --x=$USER\n"
                   "empty=1\necho $empty\n{{body}}");
  begin("{template: own.job}");
  EXPECT_THAT(warnings(),
              ElementsAre("3:20: '$freq' is the name of a parameter of step 'go', but stays as "
                          "written in a job template (write {{freq}} for its value)"));
}

}  // namespace
}  // namespace bench::space
