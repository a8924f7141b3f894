#include "bench_program.hpp"
#include "jube_run.hpp"
#include "support/patience.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <bench/base/files.hpp>
#include <bench/base/hash.hpp>
#include <bench/base/process.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// All regular files below a directory, by their relative paths.
std::map<std::string, std::string> contents(const fs::path& directory) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    EXPECT_FALSE(entry.is_symlink()) << entry.path();
    if (entry.is_regular_file())
      files[entry.path().lexically_relative(directory).string()] = read_file(entry.path());
  }
  return files;
}

class ExportTest : public testing::Test {
 protected:
  void run(const std::string& input, int code = 0, const Environment& extra = {}) const {
    here_.run("file.yaml", input, {}, code, extra);
  }
  std::string exported(std::vector<std::string> arguments, int code = 0) const {
    return here_.text_of("export", std::move(arguments), code);
  }
  /// All workpackages with what does not depend on time and place.
  std::string tidy(const std::string& directory) const {
    return here_.text_of(
        "result",
        {directory, "--tidy", "--exclude", "host", "started", "ended", "run_time", "run", "reason"},
        0);
  }
  Playground here_;
};

/// The ids that an entity refers to.
void collect_references(const json& value, std::set<std::string>& ids) {
  if (value.is_object() && value.size() == 1 && value.contains("@id"))
    ids.insert(value["@id"].get<std::string>());
  else if (value.is_structured())
    for (const json& part : value)
      collect_references(part, ids);
}

class Crate {
 public:
  explicit Crate(const std::string& text) {
    const json crate = json::parse(text);
    for (const json& entity : crate.at("@graph")) {
      EXPECT_TRUE(entities_.emplace(entity.at("@id"), entity).second) << entity;
      collect_references(entity, references_);
    }
  }
  const json& at(const std::string& id) const { return entities_.at(id); }
  std::vector<json> of_type(const std::string& type) const {
    std::vector<json> all;
    for (const auto& [id, entity] : entities_)
      if (entity["@type"].dump().find('"' + type + '"') != std::string::npos)  // one, or a list
        all.push_back(entity);
    return all;
  }
  const std::set<std::string>& references() const { return references_; }
  bool has(const std::string& id) const { return entities_.contains(id); }

 private:
  std::map<std::string, json> entities_;
  std::set<std::string> references_;
};

TEST_F(ExportTest, DescribesARunAsTheProfilesAsk) {
  run(small_sweep());
  exported({"runs", "--output", "out"});
  const auto files = contents(here_.path() / "out");
  const Crate crate(files.at("ro-crate-metadata.json"));
  for (const std::string& id : crate.references())
    EXPECT_TRUE(crate.has(id) || id == "https://w3id.org/ro/crate/1.3") << id;
  for (const char* property : {"name", "description", "datePublished", "license", "conformsTo"})
    EXPECT_TRUE(crate.at("./").contains(property)) << property;
  EXPECT_THAT(crate.at("./")["conformsTo"],
              Contains(json{{"@id", "https://w3id.org/ro/wfrun/provenance/0.6"}}));
  const json& workflow = crate.at(crate.at("./")["mainEntity"]["@id"]);
  EXPECT_EQ(workflow["@type"],
            json::parse(R"(["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"])"));
  EXPECT_EQ(workflow["step"].size(), 2U);
  EXPECT_EQ(workflow["hasPart"].size(), 2U);
  for (const json& step : crate.of_type("HowToStep"))
    EXPECT_TRUE(crate.has(step.at("workExample").at("@id")));
  for (const json& control : crate.of_type("ControlAction"))
    EXPECT_EQ(crate.at(control.at("instrument").at("@id"))["@type"], "HowToStep");
  EXPECT_EQ(crate.of_type("CreateAction").size(), 7U);  // six workpackages and the run
  for (const json& action : crate.of_type("CreateAction")) {
    EXPECT_TRUE(action.contains("instrument"));
    EXPECT_EQ(action.at("actionStatus"), "http://schema.org/CompletedActionStatus");
    EXPECT_LE(action.at("startTime"), action.at("endTime"));
  }
  EXPECT_THAT(crate.at("#workpackage/2")["result"],
              AllOf(Contains(json{{"@id", "run/000002_compute/work/stdout"}}),
                    Contains(json{{"@id", "#workpackage/2/result"}})));
  EXPECT_EQ(crate.at("#workpackage/2/result")["value"], 9);

  // Every file has its checksum.
  std::string sums;
  for (const auto& [path, content] : files) {
    if (path != "SHA256SUMS")
      sums += sha256(content) + "  " + path + "\n";
    if (path == "SHA256SUMS" || path == "ro-crate-metadata.json")
      continue;
    EXPECT_EQ(crate.at(path)["sha256"], sha256(content)) << path;
    EXPECT_EQ(crate.at(path)["contentSize"], std::to_string(content.size())) << path;
  }
  EXPECT_EQ(files.at("SHA256SUMS"), sums);
  EXPECT_EQ(crate.of_type("File").size(), files.size() - 2);
}

TEST_F(ExportTest, IsTheSameEachTimeAndInEveryForm) {
  run(small_sweep());
  exported({"runs", "--output", "a"});
  const auto files = contents(here_.path() / "a");
  exported({"runs", "--output", "b", "--max-file-size", "1e300"});
  EXPECT_EQ(contents(here_.path() / "b"), files) << "a huge limit of files is none";
  for (const char* ending : {".tar", ".tar.gz", ".zip"}) {
    exported({"runs", "--output", std::string("a") + ending});
    exported({"runs", "--output", std::string("b") + ending});
    EXPECT_EQ(here_.read(std::string("a") + ending), here_.read(std::string("b") + ending));
  }
  const auto unpacked =
      run_command({.arguments = {"tar", "-xzf", "a.tar.gz"}, .directory = here_.path()},
                  support::far_too_long_s);
  ASSERT_EQ(unpacked.status.code, 0) << unpacked.standard_error;
  EXPECT_EQ(contents(here_.path() / "runs_000000"), files);
  EXPECT_EQ(exported({"runs", "-f", "influx", "--output", "points"}), "");
  EXPECT_THAT(here_.read("points"), HasSubstr("bench,benchmark=small,"));
}

TEST_F(ExportTest, PasswordsOfParametersAreInNoFormat) {
  run(R"(name: b
outpath: runs
parameterset: {name: p, parameter: {size: [1, 2], password: hunter2, db_password: 'a&b<c\d"e'}}
step: {name: s, use: p, do: 'echo time=$size; echo login $password; test $size = 1'}
patternset: {name: o, pattern: {name: time, type: int, unit: µs, _: time=$jube_pat_int}}
analyser: {name: a, use: o, analyse: {step: s, file: stdout}}
result: {use: a, table: {name: t, column: [size, password, time]}}
)",
      1);
  exported({"runs", "--output", "a"});
  auto texts = contents(here_.path() / "a");
  for (const char* format : {"junit", "summary", "influx", "openmetrics"}) {
    texts[format] = exported({"runs", "--format", format});
    if (std::string(format) != "junit") {
      EXPECT_THAT(texts[format], HasSubstr("SCRUBBED")) << format;
    }
  }
  for (const auto& [path, text] : texts)
    for (const char* secret : {"hunter2", "a&b<c", "a&amp;b&lt;c"})
      EXPECT_THAT(text, Not(HasSubstr(secret))) << path;
}

TEST_F(ExportTest, WhatALinkInTheInputLeadsOutToIsLeftOut) {
  here_.write("elsewhere/data.txt", "not for others");
  here_.write("project/file.yaml",
              "name: b\noutpath: runs\nfileset: {name: f, copy: data.txt}\n"
              "step: {name: s, use: f, do: ls}\n");
  fs::create_symlink("../elsewhere/data.txt", here_.path() / "project/data.txt");
  ASSERT_EQ(here_.bench({"run", "project/file.yaml"}).status.code, 0);
  exported({"project/runs", "--output", "a"});
  EXPECT_FALSE(contents(here_.path() / "a").contains("input/data.txt"));
  EXPECT_THAT(here_.read("a/left_out.csv"), HasSubstr("project/data.txt,\"is outside of"));
}

TEST_F(ExportTest, ArchivesKeepNamesInUtf8) {
  here_.write("größe.txt", "data");
  run("name: b\noutpath: runs\nfileset: {name: f, copy: größe.txt}\n"
      "step: {name: s, use: f, do: ls}\n");
  for (const char* archive : {"a.tar", "a.tar.gz", "a.zip"}) {
    exported({"runs", "--output", archive});
    const auto names = run_command(
        {.arguments = {"/usr/bin/python3", "-c",
                       "import sys, tarfile, zipfile\nfile = sys.argv[1]\n"
                       "names = zipfile.ZipFile(file).namelist() if file.endswith('.zip') else "
                       "tarfile.open(file).getnames()\n"
                       "sys.stdout.buffer.write('\\n'.join(names).encode())",
                       archive},
         .directory = here_.path()},
        support::far_too_long_s);
    EXPECT_THAT(names.standard_output, HasSubstr("runs_000000/input/größe.txt")) << archive;
  }
}

/// Files of file sets in and outside of the directory, an include, a list with commas, a template
/// and a platform of its own.
constexpr const char* with_everything = R"(name: all
outpath: runs
include-path: {path: parts}
parameterset:
  - {name: p, parameter: {n: ['1,2', '3'], file: {mode: text, _: 'data.txt'}}}
  - !include shared.yaml:["set"]
fileset: {name: f, copy: [{_: $file}, {_: folder}]}
substituteset: {name: s, iofile: {in: data.txt, out: filled.txt}, sub: {source: X, dest: $n}}
step: {name: a, use: [p, f, s, shared], batch: true, do: 'cat filled.txt folder/more; echo $common'}
patternset: {name: t, pattern: {name: text, _: 'value=(.*)'}}
analyser: {name: an, use: t, analyse: {step: a, file: stdout}}
result: {use: an, table: {name: r, style: csv, column: [n, text]}}
)";

TEST_F(ExportTest, IsRunAgainInAnotherPlace) {
  here_.write("home/file.yaml", with_everything);
  here_.write("home/data.txt", "value=X\n");
  here_.write("home/folder/more", "more\n");
  here_.write("home/parts/shared.yaml", "set: {name: shared, parameter: {common: 7}}\n");
  here_.write("home/platforms/own.yaml",
              "name: own\nextends: local\ntemplate: own.job\nscheduler: none\n");
  here_.write("home/templates/own.job", "#!/bin/bash\n# own template\n{{body}}\n");
  const auto first = here_.bench({"run", "home/file.yaml", "--platform", "own"});
  ASSERT_EQ(first.status.code, 0) << first.standard_output << first.standard_error;
  exported({"home/runs", "--output", "out"});
  for (const char* file : {"file.yaml", "parts/shared.yaml", "data.txt", "folder/more",
                           "platforms/own.yaml", "platforms/local.yaml", "templates/own.job"})
    EXPECT_TRUE(here_.has(std::string("out/input/") + file)) << file;
  EXPECT_EQ(here_.read("out/left_out.csv"), "path,reason\n");
  const std::string before = tidy("home/runs");
  fs::remove_all(here_.path() / "home");
  const auto again = here_.bench({"run", "out"});
  ASSERT_EQ(again.status.code, 0) << again.standard_output << again.standard_error;
  EXPECT_EQ(tidy("all_rerun"), before);
  EXPECT_THAT(here_.read("all_rerun/000000/000000_a/job.sh"), HasSubstr("# own template"));
  EXPECT_EQ(tidy("out/run"), before);
}

TEST_F(ExportTest, HoldsNoSecret) {
  const std::string input =
      "name: s\noutpath: runs\n"
      "parameterset: {name: p, parameter: {api_token: abc123def456, n: 1}}\n"
      "step:\n  name: a\n  use: p\n  do:\n"
      "    - 'echo \"login hunter2hunter2 with $api_token\"'\n"
      "    - 'printf \"\\0hunter2hunter2\" > core'\n"
      "    - export LOGIN_PASSWORD=third3third3\n";
  here_.write("file.yaml", input);
  const Environment secret{{"MY_PASSWORD", "hunter2hunter2"}};
  here_.bench({"run", "file.yaml"}, secret);
  const auto output = here_.bench({"export", "runs", "--output", "out"}, secret);
  ASSERT_EQ(output.status.code, 0) << output.standard_error;
  const auto files = contents(here_.path() / "out");
  for (const auto& [path, content] : files)
    for (const char* word : {"abc123def456", "hunter2hunter2", "third3third3"})
      EXPECT_THAT(content, Not(HasSubstr(word))) << path;
  EXPECT_THAT(files.at("run/000000_a/work/stdout"), HasSubstr("login SCRUBBED with SCRUBBED"));
  EXPECT_THAT(files.at("scrubbed.csv"),
              AllOf(HasSubstr("\nrun/000000_a/work/stdout,1,known value,\n"),
                    HasSubstr("run/workspace.db workpackage.parameters 0,1,known value,")));
  EXPECT_THAT(files.at("left_out.csv"),
              HasSubstr("run/000000_a/work/core,\"is a binary file that contains a secret"));
  EXPECT_THAT(output.standard_error, HasSubstr("secrets replaced, see scrubbed.csv"));
  EXPECT_EQ(here_.bench({"result", "out/run", "--tidy"}).status.code, 0);
}

TEST_F(ExportTest, FollowsNoLinkOutOfTheRun) {
  here_.write("private/key", "mine\n");
  run("name: l\noutpath: runs\n"
      "step: {name: a, do: 'ln -s ../../../../private/key one; ln -s ../../../../private all'}\n");
  exported({"runs", "--output", "out"});
  const auto files = contents(here_.path() / "out");
  for (const auto& [path, content] : files)
    EXPECT_THAT(content, Not(HasSubstr("mine"))) << path;
  EXPECT_THAT(files.at("left_out.csv"),
              AllOf(HasSubstr("work/one,is a link that leads out of the run directory"),
                    HasSubstr("work/all,is a link that leads out of the run directory")));
}

TEST_F(ExportTest, LargeFilesAreLeftOutAndListed) {
  run("name: l\noutpath: runs\nstep: {name: a, do: 'head -c 2000000 /dev/zero > big'}\n");
  EXPECT_THAT(exported({"runs", "--output", "out", "--max-file-size", "1"}),
              HasSubstr("note: 1 file left out, see left_out.csv"));
  EXPECT_THAT(here_.read("out/left_out.csv"), HasSubstr("work/big,\"2000000 bytes, more than"));
}

TEST_F(ExportTest, ReadsOfAnotherUsersRunOnlyItsDirectory) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "needs root, to make a run another user's";
  here_.write("data", "reader's own\n");
  run("name: f\noutpath: runs\nfileset: {name: s, copy: data}\n"
      "step: {name: a, use: s, do: rm data}\n");
  constexpr uid_t somebody = 65534;
  ASSERT_EQ(::chown((here_.path() / "runs/000000/workspace.db").c_str(), somebody, somebody), 0);
  exported({"runs", "--output", "out"});
  EXPECT_FALSE(here_.has("out/input/data"));
  EXPECT_FALSE(here_.has("out/input/file.yaml"));
  EXPECT_TRUE(here_.has("out/input/resolved.xml"));
}

TEST_F(ExportTest, AnUnfinishedRunIsExportedAsItIs) {
  run("name: u\noutpath: runs\nstep: {name: a, do: {done_file: never, _: echo begun}}\n");
  exported({"runs", "--output", "out"});
  const Crate crate(here_.read("out/ro-crate-metadata.json"));
  EXPECT_EQ(crate.at("#run")["actionStatus"], "http://schema.org/ActiveActionStatus");
  EXPECT_FALSE(crate.at("#run").contains("endTime"));
  EXPECT_THAT(exported({"runs", "--format", "junit"}),
              HasSubstr("<error message=\"not finished: waiting\" type=\"unfinished\">"));
}

TEST_F(ExportTest, RefusesWhatItCannotDo) {
  run(small_sweep());
  run(small_sweep());
  exported({"runs", "--output", "out.zip"});
  const struct {
    std::vector<std::string> arguments;
    std::string message;
    int code = 1;
  } cases[] = {
      {{"runs", "--output", "out.zip"}, "out.zip already exists\nhint: choose another name"},
      {{"runs", "--output", "runs/000001/out"}, "is inside of the run directory that is exported"},
      {{"runs", "-i", "all"}, "cannot export 2 runs at once\nhint: choose one with `-i ID`"},
      {{"runs", "-f", "junt"}, "--format: unknown value 'junt'\nhint: did you mean 'junit'?", 2},
      {{"runs", "-f", "junit", "--license", "MIT"}, "--license applies to the format ro-crate"},
      {{"runs", "--margin", "2"}, "--margin applies to the format summary, not to ro-crate"},
      {{"runs", "--output", "no/such/place.tar"}, "cannot write no/such/place.tar"},
  };
  for (const auto& one : cases)
    EXPECT_THAT(exported(one.arguments, one.code), HasSubstr(one.message));
  EXPECT_THAT(here_.text_of("run", {"out.zip"}, 1),
              HasSubstr("out.zip is an archive\nhint: unpack it, and run the directory"));
  for (const auto& entry : fs::directory_iterator(here_.path()))
    EXPECT_NE(entry.path().extension(), ".part");
}

TEST_F(ExportTest, TheSummaryHasFailuresTablesAndTheBaseline) {
  const std::string input =
      "name: g\noutpath: runs\nparameterset: {name: p, parameter: {n: [1, 2]}}\n"
      "step: {name: s, use: p, iterations: 8,\n"
      "  do: 'test $n != 2 -o -z \"$FAIL\" && echo time=$(($n * 1000 + $jube_wp_iteration % 3))'}\n"
      "patternset: {name: f, pattern: {name: time, type: float, unit: s, _: time=$jube_pat_fp}}\n"
      "analyser: {name: a, use: f, analyse: {step: s, file: stdout}}\n"
      "result: {use: a, table: {name: times, style: csv, column: [n, time_avg]}}\n";
  run(input);
  run(input);
  here_.bench({"baseline", "accept", "runs", "-i", "0"});
  const std::string passed = exported({"runs", "-f", "summary"});
  EXPECT_THAT(passed, AllOf(HasSubstr("## g: run 1 done\n"), HasSubstr("| s | 16 | 0 | 0 | 0 |"),
                            HasSubstr("### Baseline\n\npassed"), HasSubstr("**times**"),
                            Not(HasSubstr("### Failures"))));
  run(input, 1, {{"FAIL", "1"}});
  EXPECT_THAT(exported({"runs", "-f", "summary"}),
              AllOf(HasSubstr("## g: run 2 failed\n"), HasSubstr("| 8 | s | n=2 iteration=0 |"),
                    HasSubstr("### Baseline\n\nfailed")));
}

TEST_F(ExportTest, OnlyTheResultsOfARunOfJubeAreExported) {
  write_jube_run(here_, "runs/000000", jube_workpackages());
  EXPECT_THAT(exported({"runs", "--output", "out"}, 1), HasSubstr("was made by JUBE"));
  EXPECT_THAT(exported({"runs", "-f", "junit"}), HasSubstr("<testsuites name=\"squares\""));
}

}  // namespace
}  // namespace bench::end_to_end
