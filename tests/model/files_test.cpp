#include "model/fixture.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/model/benchmark.hpp>

namespace bench::model {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

FileSet files_of(const std::string& entries) {
  return *benchmark_of("fileset: {name: f, " + entries + "}\nstep: {name: s, use: f}\n")
              .file_set("f");
}

SubstituteSet substitutions_of(const std::string& entries) {
  return *benchmark_of("substituteset: {name: f, " + entries + "}\nstep: {name: s, use: f}\n")
              .substitute_set("f");
}

TEST(FileSets, KeepTheOrderOfTheirEntries) {
  const auto set = files_of("copy: [a, b], prepare: make, link: c");
  std::vector<FileEntry::Action> actions;
  for (const FileEntry& entry : set.entries)
    actions.push_back(entry.action);
  using enum FileEntry::Action;
  EXPECT_THAT(actions, ElementsAre(copy, copy, prepare, link));
}

TEST(FileSets, GiveAnEntryItsDefaults) {
  const FileEntry entry = files_of("copy: a").entries.at(0);
  EXPECT_THAT(entry.paths, ElementsAre("a"));
  EXPECT_THAT(entry.names, IsEmpty());
  EXPECT_EQ(entry.source_dir + entry.target_dir + entry.base, "");
  EXPECT_EQ(entry.active, "true");
  EXPECT_FALSE(entry.internal);
}

TEST(FileSets, SplitPathsAtTheSeparatorAndNamesAtCommas) {
  const FileEntry entry =
      files_of("link: {separator: ';', name: 'x, y', _: 'a,1; b'}").entries.at(0);
  EXPECT_THAT(entry.paths, ElementsAre("a,1", "b"));
  EXPECT_THAT(entry.names, ElementsAre("x", "y"));
}

TEST(FileSets, KnowTheOldNameOfTheSourceDirectory) {
  EXPECT_EQ(files_of("copy: {directory: d, _: a}").entries.at(0).source_dir, "d");
  EXPECT_EQ(files_of("copy: {directory: d, source_dir: e, _: a}").entries.at(0).source_dir, "e");
}

TEST(FileSets, ReadWhereFilesComeFromAndGoTo) {
  const FileEntry entry = files_of(
                              "copy: {target_dir: t, rel_path_ref: internal, active: $n > 1, "
                              "file_path_ref: ../lib, _: a}")
                              .entries.at(0);
  EXPECT_EQ(entry.target_dir, "t");
  EXPECT_TRUE(entry.internal);
  EXPECT_EQ(entry.active, "$n > 1");
  EXPECT_EQ(entry.base, "../lib");
}

TEST(FileSets, PrepareIsACommand) {
  const FileEntry entry =
      files_of("prepare: {work_dir: src, stdout: log, active: false, _: ' make '}").entries.at(0);
  EXPECT_EQ(entry.command.text, "make");
  EXPECT_EQ(entry.command.work_dir, "src");
  EXPECT_EQ(entry.command.stdout_file, "log");
  EXPECT_EQ(entry.active, "False");
}

TEST(FileSets, NeedAFileAndAsManyNames) {
  EXPECT_EQ(fault_in("step: {name: s}\nfileset: {name: f, copy: {name: x}}\n"),
            "in.yaml:2:26: missing-key");
  EXPECT_EQ(fault_in("step: {name: s}\nfileset: {name: f, link: {name: x, _: 'a,b'}}\n"),
            "in.yaml:2:33: invalid-value");
}

TEST(FileSets, KnowTwoWaysToReferToAFile) {
  EXPECT_EQ(fault_in("step: {name: s}\nfileset: {name: f, copy: {rel_path_ref: inner, _: a}}\n"),
            "in.yaml:2:41: invalid-value");
}

TEST(SubstituteSets, ReadFilesAndSubstitutions) {
  const auto set = substitutions_of(
      "iofile: {in: a, out: b, out_mode: a}, sub: [{source: ' #N# ', dest: $n}, {source: x, mode: "
      "regexp, _: y}]");
  EXPECT_EQ(set.files.at(0).in, "a");
  EXPECT_EQ(set.files.at(0).out, "b");
  EXPECT_TRUE(set.files.at(0).append);
  EXPECT_EQ(set.substitutions.at(0).source, "#N#");
  EXPECT_EQ(set.substitutions.at(0).dest, "$n");
  EXPECT_FALSE(set.substitutions.at(0).regex);
  EXPECT_EQ(set.substitutions.at(1).dest, "y");
  EXPECT_TRUE(set.substitutions.at(1).regex);
}

TEST(SubstituteSets, TakeTheLastOfEqualSourcesAtTheFirstPlace) {
  const auto set = substitutions_of(
      "iofile: {in: a, out: b}, sub: [{source: x, dest: 1}, {source: y, dest: 2}, {source: x, "
      "dest: 3}]");
  ASSERT_THAT(set.substitutions, SizeIs(2));
  EXPECT_EQ(set.substitutions[0].dest, "3");
  EXPECT_EQ(set.substitutions[1].dest, "2");
}

TEST(SubstituteSets, StripTheirTexts) {
  const auto set = substitutions_of(
      "iofile: {in: a, out: b}, sub: [{source: \"\\n#T#\\n \", dest: 'time -p '}, {source: x, _: "
      "\"\\n  two\\n  lines\\n\"}]");
  EXPECT_EQ(set.substitutions.at(0).source, "#T#");
  EXPECT_EQ(set.substitutions.at(0).dest, "time -p");
  EXPECT_EQ(set.substitutions.at(1).dest, "two\n  lines");
}

TEST(SubstituteSets, WriteEveryFileInOrder) {
  const auto set = substitutions_of(
      "iofile: [{in: a, out: x}, {in: b, out: y}, {in: c, out: x}, {in: d, out: x, out_mode: a}]");
  ASSERT_THAT(set.files, SizeIs(4));
  EXPECT_EQ(set.files[0].in, "a");
  EXPECT_EQ(set.files[1].in, "b");
  EXPECT_EQ(set.files[2].in, "c");
  EXPECT_EQ(set.files[3].in, "d");
}

TEST(SubstituteSets, NeedTheirTexts) {
  const std::string begin = "step: {name: s}\nsubstituteset: {name: f, ";
  EXPECT_EQ(fault_in(begin + "iofile: {out: b}}\n"), "in.yaml:2:34: missing-key");
  EXPECT_EQ(fault_in(begin + "iofile: {in: b}}\n"), "in.yaml:2:34: missing-key");
  EXPECT_EQ(fault_in(begin + "iofile: {in: b, out: c, out_mode: r}}\n"),
            "in.yaml:2:60: invalid-value");
  EXPECT_EQ(fault_in(begin + "sub: {dest: b}}\n"), "in.yaml:2:31: missing-key");
}

}  // namespace
}  // namespace bench::model
