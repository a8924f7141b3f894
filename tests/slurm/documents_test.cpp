// The command lines of the documentation that need a batch system, on a real Slurm.
#include "end_to_end/bench_program.hpp"
#include "slurm/cluster.hpp"
#include "support/document_commands.hpp"
#include "support/source_directory.hpp"
#include "support/tutorial.hpp"

#include <cstdlib>
#include <filesystem>
#include <map>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>

namespace bench::slurm {
namespace {

namespace fs = std::filesystem;
using support::commands_to_run;
using support::document_commands;
using support::DocumentCommand;
using support::source_directory;
using testing::AnyOf;
using testing::Eq;
using testing::HasSubstr;
using testing::SizeIs;

/// A person in the source tree, on a machine with Slurm.
class Person {
 public:
  explicit Person(const Cluster& cluster) : cluster_(cluster) {
    fs::copy(source_directory() / "examples", here_.path() / "examples",
             fs::copy_options::recursive);
    fs::remove_all(here_.path() / "examples/runs");
    here_.write("train", "#!/bin/sh\nsleep 0.3\n");
    fs::permissions(here_.path() / "train", fs::perms::owner_all);
  }

  const end_to_end::Playground& here() const { return here_; }

  CommandOutput type(const std::string& line, const Environment& extra = {}) const {
    Environment variables = cluster_.environment();
    variables.insert(variables.end(), extra.begin(), extra.end());
    return here_.shell(line, variables);
  }

 private:
  const Cluster& cluster_;
  end_to_end::Playground here_;
};

class DocumentsTest : public SlurmTest {};

/// Pages on jobs that wait in the queue, as on a busy machine: no node takes them until they are to
/// be collected.
class QueuePageTest : public SlurmTest, public testing::WithParamInterface<const char*> {};

TEST_P(QueuePageTest, ShowsWhatATerminalShows) {
  const Person person(cluster());
  const fs::path file = source_directory() / "docs" / GetParam();
  const std::string page = read_file(file);
  for (const auto& [name, text] : support::files_to_save(page))
    person.here().write(name, text);
  cluster().ask({"scontrol", "update", "NodeName=v[1-4]", "State=DRAIN", "Reason=test"});
  const std::string shown = support::with_output_of(
      [&](const std::string& command) {
        if (command.starts_with("bench continue"))
          cluster().ask({"scontrol", "update", "NodeName=v[1-4]", "State=RESUME"});
        const auto output = person.type(command);
        EXPECT_EQ(output.status.code, 0) << command << "\n" << output.standard_error;
        return output.standard_output;
      },
      page);
  if (const char* update = std::getenv("BENCH_UPDATE_EXPECTED"); update && *update)
    write_file_atomically(file, shown);
  else
    EXPECT_EQ(shown, page);
}

INSTANTIATE_TEST_SUITE_P(Pages, QueuePageTest,
                         testing::Values("tutorial/6_slurm.md", "how-to/chain_jobs.md"),
                         [](const auto& one) { return fs::path(one.param).stem().string(); });

TEST_F(DocumentsTest, TheLinesOfReadmeWork) {
  const Person person(cluster());
  for (const auto& [name, text] : support::files_of_readme())
    person.here().write(name, text);
  const auto commands = commands_to_run(source_directory() / "README.md", true);
  ASSERT_THAT(commands, SizeIs(1));
  const auto output = person.type(commands[0].line);
  EXPECT_EQ(output.status.code, 0) << output.standard_error;
  EXPECT_THAT(output.standard_output, HasSubstr("| level |"));
}

TEST_F(DocumentsTest, ThePageOnAllocationsShowsWhatATerminalShows) {
  const Person person(cluster());
  const fs::path file = source_directory() / "docs/how-to/use_an_allocation.md";
  const std::string page = read_file(file);
  for (const auto& [name, text] : support::files_to_save(page))
    person.here().write(name, text);
  const std::string shown = support::with_output_of(
      [&](const std::string& command) {
        const auto output = person.type(command);
        EXPECT_EQ(output.status.code, 0) << command << "\n" << output.standard_error;
        return output.standard_output;
      },
      page);
  EXPECT_EQ(shown, page);
}

/// The example needs larger nodes than the small cluster has.
TEST(BatchPageTest, ItsCommandsWork) {
  if (!Cluster::missing().empty())
    GTEST_SKIP() << Cluster::missing();
  const Cluster machines({"machines"});
  const Person person(machines);
  const auto commands = document_commands(source_directory() / "docs/reference/batch.md");
  ASSERT_GE(commands.size(), 5U);
  for (const DocumentCommand& command : commands) {
    std::string line = command.line;
    for (const auto& [placeholder, value] : std::map<std::string, std::string>{
             {"FILE", "examples/35_batch.yaml"}, {"RUN", "examples/runs/batch"}})
      line = replace_all(line, " " + placeholder, " " + value);
    const auto output = person.type(line, {{"BENCH_PARTITION", "booster"}});
    EXPECT_EQ(output.status.code, 0) << line << "\n" << output.standard_error;
    if (line.starts_with("bench status")) {
      EXPECT_THAT(strip(output.standard_output), AnyOf(Eq("running"), Eq("finished")));
    } else if (line.starts_with("bench result") || line.ends_with("--result")) {
      EXPECT_THAT(output.standard_output, HasSubstr("|     2 |     8 |       8 |     42 |"));
    }
  }
}

/// Each line under a launcher that starts a meter on every node.
TEST_F(DocumentsTest, MetersRunUnderTheLauncher) {
  const Person person(cluster());
  auto commands = commands_to_run(source_directory() / "docs/reference/energy.md", true);
  for (const auto& command :
       commands_to_run(source_directory() / "docs/how-to/measure_energy.md", true))
    commands.push_back(command);
  ASSERT_THAT(commands, SizeIs(3));
  for (const DocumentCommand& command : commands) {
    const auto output = person.type(command.line, {{"LD_LIBRARY_PATH", FAKE_NVML_DIRECTORY}});
    EXPECT_EQ(output.status.code, 0) << command.line << "\n" << output.standard_error;
    EXPECT_THAT(output.standard_error, HasSubstr("energy_quality=measured")) << command.line;
    const bool all_ranks = command.line.find("SLURM_PROCID") != std::string::npos;
    const Regex name(all_ranks ? R"(^energy\.rank\d\.json$)" : R"(^energy\.[^.]+.*\.csv$)");
    int files = 0;
    for (const auto& entry : fs::directory_iterator(person.here().path() / "energy"))
      files += name.search(entry.path().filename().string()) ? 1 : 0;
    EXPECT_GE(files, 1) << command.line;
    fs::remove_all(person.here().path() / "energy");
  }
}

}  // namespace
}  // namespace bench::slurm
