#include "bench_program.hpp"
#include "support/patience.hpp"

#include <filesystem>

#include <gmock/gmock.h>
#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bench/base/files.hpp>
#include <bench/base/process.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

/// What a run makes: where, with which mode, and with which texts of the environment.
class PrivacyTest : public testing::Test {
 protected:
  Playground here_;
};

TEST_F(PrivacyTest, NothingIsPutThroughALinkOut) {
  here_.write("outside/kept", "");
  here_.write("data", "x");
  here_.write("template", "x\n");
  const auto output = here_.run("in.yaml", R"(name: b
outpath: runs
fileset:
  - {name: into_link, link: outside, copy: {_: data, target_dir: outside}}
  - {name: linked, link: template}
substituteset:
  - name: appended
    iofile: {in: template, out: template, out_mode: a}
    sub: {source: x, dest: "y"}
  - name: replaced
    iofile: {in: template, out: template}
    sub: {source: x, dest: "y"}
step:
  - {name: copy, use: into_link, do: "true"}
  - {name: append, use: [linked, appended], do: "true"}
  - {name: replace, use: [linked, replaced], do: "true"}
)",
                                {}, 1);
  EXPECT_THAT(output.standard_error,
              AllOf(ContainsRegex("workpackage 0 .*through a link"), HasSubstr("workpackage 1 "),
                    Not(HasSubstr("workpackage 2 "))));
  EXPECT_FALSE(here_.has("outside/data"));
  EXPECT_EQ(here_.read("template"), "x\n");
  EXPECT_EQ(here_.read("runs/000000/000002_replace/work/template"), "y\n")
      << "in place of the link";
}

/// A umask, and what it forbids.
struct Mask {
  const char* umask;
  mode_t forbidden;
};

TEST_F(PrivacyTest, TheUmaskHoldsForEverythingThatIsMade) {
  here_.write("in.yaml", small_sweep());
  for (const Mask& mask : {Mask{"077", 077}, Mask{"027", 027}, Mask{"022", 022}}) {
    ProcessSpec spec = here_.spec({"run", "in.yaml", "-r", "-o", mask.umask});
    spec.arguments.insert(spec.arguments.begin(),
                          {"/bin/sh", "-c", std::string("umask ") + mask.umask + "; \"$@\"", "sh"});
    ASSERT_EQ(run_command(spec, support::far_too_long_s).status.code, 0);
    for (const auto& entry : fs::recursive_directory_iterator(here_.path() / mask.umask)) {
      struct stat info {};
      ASSERT_EQ(::lstat(entry.path().c_str(), &info), 0);
      if (!S_ISLNK(info.st_mode)) {
        EXPECT_EQ(info.st_mode & mask.forbidden, 0U) << entry.path();
      }
    }
  }
}

TEST_F(PrivacyTest, TheGroupOfJubeGroupNameMayWriteTheRun) {
  const struct group* own = ::getgrgid(::getegid());
  if (!own)
    GTEST_SKIP() << "the group of this user has no name";
  here_.write("in.yaml", small_sweep());
  ProcessSpec spec = here_.spec({"run", "in.yaml", "-r"}, {{"JUBE_GROUP_NAME", own->gr_name}});
  spec.arguments.insert(spec.arguments.begin(), {"/bin/sh", "-c", "umask 077; \"$@\"", "sh"});
  ASSERT_EQ(run_command(spec, support::far_too_long_s).status.code, 0);
  for (const char* name : {"", "workspace.db", "run.log", "000000_compute/work",
                           "000000_compute/work/stdout", "result/squares.dat"}) {
    struct stat info {};
    ASSERT_EQ(::stat((here_.path() / "runs/000000" / name).c_str(), &info), 0) << name;
    EXPECT_EQ(info.st_mode & S_IWGRP, static_cast<mode_t>(S_IWGRP)) << name;
    EXPECT_EQ(info.st_mode & S_IWOTH, 0U) << name;
    EXPECT_EQ(info.st_gid, ::getegid()) << name;
    EXPECT_EQ((info.st_mode & S_ISGID) != 0, S_ISDIR(info.st_mode)) << name;
  }
}

TEST_F(PrivacyTest, AGroupThatDoesNotExistIsAnErrorBeforeAnythingIsMade) {
  const auto refused =
      here_.run("in.yaml", small_sweep(), {}, 1, {{"JUBE_GROUP_NAME", "no such group"}});
  EXPECT_EQ(refused.standard_error,
            "error: there is no group 'no such group'\nhint: JUBE_GROUP_NAME names it\n");
  EXPECT_FALSE(here_.has("runs"));
}

TEST_F(PrivacyTest, SecretsOfTheEnvironmentStayOutOfTheRun) {
  here_.write("in.yaml", R"(name: b
outpath: runs
step:
  - {name: first, export: true, do: [export MADE=visible, "true"]}
  - {name: second, depend: first, do: "echo $$MADE"}
  - {name: third, export: true, do: "false"}
)");
  const Environment secrets{{"API_TOKEN", "hunter2hunter2"}, {"AWS_SECRET", "hunter2hunter2"}};
  ASSERT_EQ(here_.bench({"run", "in.yaml", "-a"}, secrets).status.code, 1);  // of the third
  EXPECT_EQ(here_.read("runs/000000/000002_second/work/stdout"), "visible\n");
  for (const auto& entry : fs::recursive_directory_iterator(here_.path() / "runs"))
    if (entry.is_regular_file()) {
      EXPECT_THAT(read_file(entry.path()), Not(HasSubstr("hunter2"))) << entry.path();
    }
}

TEST_F(PrivacyTest, WhatAKilledBenchHadInItsEnvironmentIsNotTakenForAChange) {
  here_.write("in.yaml", R"(name: b
outpath: runs
step:
  - {name: first, export: true, do: "export MADE=visible; kill -9 $PPID; sleep 0.1"}
  - {name: second, depend: first, do: "echo $$MADE $$API_TOKEN"}
)");
  here_.bench({"run", "in.yaml"}, {{"API_TOKEN", "hunter2hunter2"}});
  const CommandOutput continued = here_.bench({"continue", "runs"});
  ASSERT_EQ(continued.status.code, 0) << continued.standard_error;
  EXPECT_EQ(here_.read("runs/000000/000001_second/work/stdout"), "visible\n");
  EXPECT_THAT(here_.read("runs/000000/workspace.db"), Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace bench::end_to_end
