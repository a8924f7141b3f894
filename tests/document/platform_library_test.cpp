#include "support/source_directory.hpp"

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/diagnostics.hpp>
#include <bench/base/files.hpp>
#include <bench/base/regex.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

namespace fs = std::filesystem;

const fs::path library = support::source_directory() / "platforms/jube";

Node read_library() {
  Diagnostics strict(true);
  return read_file(library / "platform.xml", strict);
}

/// The `attribute` of the children of a set, in order.
std::vector<std::string> names(const Node& root, const char* kind, const char* set,
                               const char* child, const char* attribute) {
  std::vector<std::string> found;
  for (const Node* candidate : root.all(kind))
    if (candidate->get("name") == set)
      for (const Node* entry : candidate->all(child))
        found.push_back(entry->get(attribute));
  return found;
}

// JUBE's names: scripts override some of them and use the others.
TEST(PlatformLibrary, HasTheParametersOfJube) {
  const Node root = read_library();
  EXPECT_THAT(names(root, "parameterset", "executeset", "parameter", "name"),
              testing::UnorderedElementsAre(
                  "submit", "submit_script", "done_file", "error_file", "starter", "args_starter",
                  "shared_folder", "shared_job_info", "chainjob_script", "chainjob_needs_submit"));
  EXPECT_THAT(names(root, "parameterset", "systemParameter", "parameter", "name"),
              testing::UnorderedElementsAre(
                  "jobname", "nodes", "taskspernode", "threadspertask", "tasks", "OMP_NUM_THREADS",
                  "queue", "account", "account_slurm", "gres", "executable", "args_exec", "mail",
                  "env", "notification", "outlogfile", "errlogfile", "timelimit", "preprocess",
                  "postprocess", "measurement", "additional_job_config"));
}

TEST(PlatformLibrary, HasTheOtherSetsOfJube) {
  const Node root = read_library();
  std::vector<std::string> sets;
  for (const Node& set : root.children)
    if (set.name != "parameterset")
      sets.push_back(set.name + " " + set.get("name"));
  EXPECT_THAT(sets,
              testing::UnorderedElementsAre("fileset jobfiles", "fileset chainfiles",
                                            "substituteset executesub", "substituteset chainsub"));
}

TEST(PlatformLibrary, FillsEveryMarkOfTheJobTemplate) {
  const auto filled = names(read_library(), "substituteset", "executesub", "sub", "source");
  const std::string job = bench::read_file(library / "submit.job.in");
  const std::vector<std::string> marks = Regex("(#[A-Z_]+#)").find_all(job);
  EXPECT_EQ(std::set<std::string>(marks.begin(), marks.end()),
            std::set<std::string>(filled.begin(), filled.end()));
  EXPECT_EQ(filled.size(), 24U);
}

TEST(PlatformLibrary, HoldsTheFilesThatItCopies) {
  for (const char* file : {"submit.job.in", "chainJobs.sh"})
    EXPECT_TRUE(fs::is_regular_file(library / file)) << file;
}

}  // namespace
}  // namespace bench::document
