// `bench mlflow`: what a server that records it is sent, and what a directory holds.
#include "jube_run.hpp"
#include "mlflow_fixture.hpp"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST_F(MlflowServerTest, SendsARunAndItsWorkpackages) {
  serve();
  const CommandOutput output = send();
  EXPECT_EQ(output.status.code, 0) << output.standard_error;
  EXPECT_THAT(
      output.standard_output,
      AllOf(HasSubstr("runs/000000: 9 runs created, 0 updated, 0 up to date; 8 parameters, "),
            EndsWith(uri_ + "/#/experiments/1/runs/" + std::string(31, '0') + "1\n")));
  expect_complete();
  EXPECT_THAT(
      state(),
      AllOf(HasSubstr("experiment training\nrun training 000000 FINISHED ended\n"),
            HasSubstr("tag mlflow.note.content=a comment\n"),
            HasSubstr("run 000000_train FINISHED ended\n  param size=8\n"),
            HasSubstr("  tag bench.absent.other=no match in stdout\n"),
            HasSubstr("  tag bench.unit.rate=tokens/s\n"), HasSubstr("  tag gpu=A100\n"),
            HasSubstr("  tag mlflow.parentRunId=" + std::string(31, '0') + "1\n"),
            HasSubstr("  metric loss 8.5 step 0\n  metric loss 4.5 step 1\n  metric loss 2.5 step "
                      "2\n"),
            HasSubstr("  metric rate 8.0 step 0\n"), HasSubstr("  metric rate 8.0 step 1\n"),
            HasSubstr("  file work/stdout ")));
}

TEST_F(MlflowServerTest, SendsASecondTimeOnlyWhatIsNew) {
  serve();
  send();
  const std::string before = state();
  const std::string requests = here_.read("server/requests");
  EXPECT_THAT(send().standard_output, HasSubstr("runs/000000: nothing new; 9 runs up to date\n"));
  EXPECT_EQ(state(), before);
  const std::string further = here_.read("server/requests").substr(requests.size());
  EXPECT_EQ(further.find("log-batch"), std::string::npos);
  EXPECT_EQ(further.find("create"), std::string::npos);
}

TEST_F(MlflowServerTest, APatternThatWasAddedIsSentLater) {
  serve();
  send();
  here_.write("more.yaml", replace_all(mlflow_training, "other=$jube_pat_int", "rate=(\\d+)"));
  ASSERT_EQ(here_.bench({"result", "runs", "-u", "more.yaml"}).status.code, 0);
  EXPECT_THAT(send().standard_output, ContainsRegex("0 runs created, [0-9] updated, [0-9] up"));
  EXPECT_EQ(count_of(state(), "  metric other "), 4U) << state();
  EXPECT_EQ(count_of(state(), "bench.absent.other=found by a later analysis"), 4U);
  expect_complete();
}

/// Its first attempt stays, since MLflow changes no values, but says that it does not count.
TEST_F(MlflowServerTest, ARepeatedWorkpackageIsANewRunOfMlflow) {
  serve();
  run({{"FAIL", "80"}});
  EXPECT_THAT(send().standard_output, HasSubstr("runs/000001: 9 runs created"));
  EXPECT_EQ(count_of(state(), " FAILED ended\n"), 2U) << state();
  EXPECT_THAT(state(), HasSubstr("  tag bench.reason=command 1 of 1: exit code 1"));
  ASSERT_EQ(here_.bench({"continue", "runs", "--failed"}).status.code, 0);
  EXPECT_THAT(send().standard_output,
              AllOf(HasSubstr("1 run created, 1 updated, 7 up to date"),
                    HasSubstr("1 run of repeated or removed workpackages marked obsolete")));
  EXPECT_EQ(count_of(state(), "bench.state=obsolete"), 1U);
  EXPECT_THAT(state(), HasSubstr("run training 000001 FINISHED ended"));
  EXPECT_THAT(send().standard_output, HasSubstr("nothing new"));
}

TEST_F(MlflowServerTest, FilesAreNotSentWhereTheServerTakesNone) {
  serve({"--artifacts", "s3://bucket"});
  const CommandOutput output = send();
  EXPECT_EQ(output.status.code, 0);
  EXPECT_THAT(output.standard_error,
              ContainsRegex("note: the server stores files at s3://bucket/1/.* and accepts no "
                            "uploads, so no files were sent"));
  expect_complete();
  EXPECT_THAT(state(), Not(HasSubstr("  file ")));
}

TEST_F(MlflowTest, AsksForAServerOrADirectory) {
  run();
  EXPECT_EQ(here_.text_of("mlflow", {"runs"}, 1),
            "error: no MLflow server was given\nhint: set --tracking-uri URI or "
            "MLFLOW_TRACKING_URI, or write a directory with --directory DIR\n");
  EXPECT_THAT(here_.text_of("mlflow", {"runs", "--tracking-uri", "./mlruns"}, 1),
              HasSubstr("error: './mlruns' is not the URI of an MLflow server\nhint: "));
  EXPECT_THAT(
      here_.text_of("mlflow", {"runs", "--tracking-uri", "http://h", "--directory", "d"}, 2),
      HasSubstr("excludes"));
}

/// Every file of the store, below its one experiment.
std::vector<std::string> files_of(const std::filesystem::path& store) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(store))
    if (entry.is_regular_file())
      files.push_back(entry.path().lexically_relative(store).string() + ": " +
                      read_file(entry.path()));
  std::ranges::sort(files);
  return files;
}

TEST_F(MlflowTest, GetsNoPasswords) {
  here_.write("training.yaml", R"(name: b
outpath: runs
parameterset: {name: p, parameter: {password: hunter2}}
step: {name: s, use: p, do: echo login $password}
)");
  run();
  ASSERT_EQ(here_.bench({"mlflow", "runs", "--directory", "."}).status.code, 0);
  std::size_t scrubbed = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(here_.path() / "mlruns"))
    if (entry.is_regular_file()) {
      const std::string text = read_file(entry.path());
      EXPECT_THAT(text, Not(HasSubstr("hunter2"))) << entry.path();
      scrubbed += count_of(text, "SCRUBBED");
    }
  EXPECT_GE(scrubbed, 3U);  // the parameter, the input and the output
}

TEST_F(MlflowTest, WritesTheFileStoreOfMlflow) {
  run();
  EXPECT_THAT(
      here_.text_of("mlflow", {"runs", "--directory", "for mlflow", "--experiment", "mine"}, 0),
      AllOf(HasSubstr("runs/000000: 9 runs created"),
            HasSubstr("  mlflow migrate-filestore --source 'for mlflow/mlruns' --target "
                      "'sqlite:///" +
                      (here_.path() / "for mlflow/mlflow.db").string() + "'\n"),
            HasSubstr("  mlflow ui --backend-store-uri 'sqlite:///")));
  const std::vector<std::string> files = files_of(here_.path() / "for mlflow/mlruns");
  EXPECT_THAT(files,
              testing::Contains(ContainsRegex(
                  "^[0-9]{18}/meta.yaml: artifact_location: \".*/mlruns/[0-9]{18}\"\n"
                  "experiment_id: '[0-9]{18}'\nlifecycle_stage: active\nname: \"mine\"\n$")));
  EXPECT_THAT(files, testing::Contains(
                         ContainsRegex("^[0-9]{18}/[0-9a-f]{32}/metrics/loss: [0-9]{13} 8.5 0\n"
                                       "[0-9]{13} 4.5 1\n[0-9]{13} 2.5 2\n$")));
  EXPECT_THAT(files, testing::Contains(ContainsRegex("/[0-9a-f]{32}/params/size: 16$")));
  EXPECT_THAT(files, testing::Contains(ContainsRegex("/artifacts/work/stdout: loss=8.5\n")));
  EXPECT_THAT(files, testing::Contains(ContainsRegex(
                         "/meta.yaml: artifact_uri: .*run_name: \"000000_train\"\n(.*\n)*"
                         "start_time: [0-9]{13}\nstatus: 3\n")));
}

TEST_F(MlflowTest, TakesARunOfJube) {
  write_jube_run(here_, "jube/000000", jube_workpackages());
  here_.text_of("mlflow", {"jube", "--directory", "."}, 0);
  EXPECT_THAT(here_.text_of("mlflow", {"jube", "--directory", "."}, 0), HasSubstr("nothing new"));
  const std::vector<std::string> files = files_of(here_.path() / "mlruns");
  EXPECT_THAT(files, testing::Contains(ContainsRegex("/params/word: w2$")));
  EXPECT_THAT(files, testing::Contains(ContainsRegex("/metrics/square: [0-9]+ 4.0 0\n$")));
}

TEST_F(MlflowTest, WritesTheSameFilesAgainAndWhatAKillLeftOut) {
  run();
  const std::vector<std::string> arguments{"runs", "--directory", "."};
  here_.text_of("mlflow", arguments, 0);
  const std::vector<std::string> files = files_of(here_.path() / "mlruns");
  EXPECT_THAT(here_.text_of("mlflow", arguments, 0), HasSubstr("nothing new; 9 runs up to date"));
  EXPECT_EQ(files_of(here_.path() / "mlruns"), files);
  // As if it had been killed before the last tag of a workpackage, and half-way through another.
  int left_out = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(here_.path() / "mlruns"))
    if (entry.path().filename() == "bench.sent" && left_out < 2) {
      std::filesystem::remove_all(entry.path().parent_path().parent_path() / "metrics");
      std::filesystem::create_directory(entry.path().parent_path().parent_path() / "metrics");
      std::filesystem::remove(entry.path());
      ++left_out;
    }
  here_.text_of("mlflow", arguments, 0);
  EXPECT_EQ(files_of(here_.path() / "mlruns"), files);
}

}  // namespace
}  // namespace bench::end_to_end
