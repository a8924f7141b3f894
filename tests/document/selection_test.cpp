#include "dump.hpp"

#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <support/error_of.hpp>
#include <support/temp_directory.hpp>

#include <bench/base/diagnostics.hpp>
#include <bench/document/node.hpp>
#include <bench/document/read.hpp>

namespace bench::document {
namespace {

using Names = std::vector<std::string>;

/// The benchmarks a, b and c that are left.
std::string chosen(const std::string& selection, const Names& only = {},
                   const Names& without = {}) {
  Diagnostics strict(true);
  Node root =
      read_yaml(selection + "benchmark: [{name: a}, {name: b}, {name: c}]\n", "t.yaml", strict);
  choose_benchmarks(root, only, without);
  std::string names;
  for (const Node* benchmark : root.all("benchmark"))
    names += benchmark->get("name");
  return names;
}

TEST(Selection, TakesAllWithoutOne) {
  EXPECT_EQ(chosen(""), "abc");
}

TEST(Selection, OfTheFileKeepsItsOrder) {
  EXPECT_EQ(chosen("selection: {only: [\"c,a\"]}\n"), "ac");
  EXPECT_EQ(chosen("selection: {only: [c, a]}\n"), "ac");
  EXPECT_EQ(chosen("selection: {not: b}\n"), "ac");
  EXPECT_EQ(chosen("selection: {only: [a, b], not: a}\n"), "b");
}

TEST(Selection, OfTheCommandLineReplacesItsListAndSetsTheOrder) {
  EXPECT_EQ(chosen("selection: {only: a}\n", {"c", "b"}), "cb");
  EXPECT_EQ(chosen("selection: {only: [a, b], not: a}\n", {}, {"b"}), "a");
  EXPECT_EQ(chosen("", {"c,a"}, {"c"}), "a");
}

TEST(Selection, MayLeaveNone) {
  EXPECT_EQ(chosen("selection: {not: \"a,b,c\"}\n"), "");
}

TEST(Selection, RefusesUnknownNames) {
  EXPECT_EQ(support::fault_of([] { chosen("selection: {only: zeta}\n"); }),
            "t.yaml:1:19: unknown-name");
  EXPECT_EQ(support::fault_of([] { chosen("", {}, {"zeta"}); }), "unknown-name");
}

class SelectedTags : public testing::Test {
 protected:
  std::set<std::string> active(const std::string& yaml, const std::set<std::string>& tags) const {
    Diagnostics strict(true);
    return read_document(files.write("in.yaml", yaml), {.tags = tags}, strict).active_tags;
  }
  support::TempDirectory files;
};

TEST_F(SelectedTags, AreActive) {
  EXPECT_EQ(active("name: d\nselection: {tag: [\"a, b\", c]}\n", {"x"}),
            (std::set<std::string>{"a", "b", "c", "x"}));
}

TEST_F(SelectedTags, MayDependOnTags) {
  files.write("in.xml",
              "<j><selection tag='x'><tag>a</tag></selection>"
              "<selection tag='y'><tag>b</tag></selection></j>");
  Diagnostics strict(true);
  EXPECT_EQ(read_document(files.path() / "in.xml", {.tags = {"x"}}, strict).active_tags,
            (std::set<std::string>{"a", "x"}));
}

TEST_F(SelectedTags, SelectElements) {
  Diagnostics strict(true);
  const auto file =
      files.write("in.yaml", "selection: {tag: a}\nstep: [{name: s, tag: a}, {name: t, tag: b}]\n");
  EXPECT_EQ(dump(*read_document(file, {}, strict).root.first("benchmark")),
            "benchmark(step[name=s])");
}

TEST_F(SelectedTags, OfAnotherFileAreNotActive) {
  files.write("e.yaml", "selection: {tag: leak}\nparameterset: {name: p}\n");
  EXPECT_TRUE(active("parameterset: {name: p, init_with: e.yaml}\n", {}).empty());
}

}  // namespace
}  // namespace bench::document
