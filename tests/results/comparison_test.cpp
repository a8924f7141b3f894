#include "support/error_of.hpp"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/results/comparison.hpp>
#include <bench/results/reference.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

Entry entry(std::initializer_list<std::pair<Field, std::string>> texts,
            std::optional<double> value) {
  Entry entry{.value = value};
  for (const auto& [field, text] : texts)
    entry.text(field) = text;
  return entry;
}

std::vector<Reference> reference(std::vector<Entry> entries) {
  return {{.name = "r", .entries = std::move(entries)}};
}

/// A column: `title[unit]`, its name, and what it is said to be.
struct Ours {
  std::string title;
  std::string unit;
  std::string name;
  std::string compare = {};
};

Table ours(const std::vector<Ours>& columns, const std::vector<std::vector<Value>>& rows) {
  Table table;
  table.name = "t";
  for (const Ours& one : columns)
    table.headings.push_back({.title = one.title,
                              .unit = one.unit,
                              .place = {"in.yaml", 7, 0},
                              .name = one.name,
                              .compare = one.compare});
  for (const auto& row : rows) {
    auto& cells = table.rows.emplace_back();
    for (const Value& value : row)
      cells.push_back({.value = value});
  }
  return table;
}

/// What a comparison has in some of its columns, a line each row.
std::vector<std::string> shown(const Comparison& comparison,
                               const std::vector<std::string>& columns) {
  std::vector<std::string> lines;
  for (const auto& row : comparison.table.rows) {
    std::vector<std::string> texts;
    for (const std::string& column : columns)
      for (std::size_t k = 0; k < row.size(); ++k)
        if (comparison.table.headings[k].title == column)
          texts.push_back(row[k].value ? to_text(*row[k].value) : "n/a");
    lines.push_back(join(texts, " | "));
  }
  return lines;
}

const std::vector<std::string> numbers{"metric", "unit", "ours", "published", "ratio", "runs"};

TEST(Compare, SetsOursBesideTheMeanOfRepetitions) {
  const auto published =
      reference({entry({{Field::metric, "time"}, {Field::unit, "s"}, {Field::cell, "1"}}, 9),
                 entry({{Field::metric, "time"}, {Field::unit, "s"}, {Field::cell, "2"}}, 11),
                 entry({{Field::metric, "time"}, {Field::unit, "s"}, {Field::cell, "3"}}, {})});
  EXPECT_THAT(shown(compare(ours({{"time", "s", "t"}}, {{5.0}, {20LL}}), {}, published), numbers),
              ElementsAre("time | s | 5.0 | 10.0 | 0.5 | 2", "time | s | 20.0 | 10.0 | 2.0 | 2"));
}

TEST(Compare, ConvertsOursIntoThePublishedUnit) {
  const auto published = reference({entry({{Field::metric, "time"}, {Field::unit, "min"}}, 2),
                                    entry({{Field::metric, "energy"}, {Field::unit, "Wh"}}, 1),
                                    entry({{Field::metric, "loss"}}, 0)});
  const auto compared = compare(
      ours({{"time", "s", "a"}, {"Energy", "kJ", "b"}, {"loss", "", "c"}}, {{60.0, 7.2, 0.5}}), {},
      published);
  EXPECT_THAT(shown(compared, numbers),
              ElementsAre("time | min | 1.0 | 2.0 | 0.5 | 1", "energy | Wh | 2.0 | 1.0 | 2.0 | 1",
                          "loss |  | 0.5 | 0.0 | n/a | 1"));
}

struct MeaningCase {
  std::string what;
  std::vector<Ours> columns;
  std::vector<std::string> expected;  ///< Metric and our number, a row each.
};

/// The rows hold 1, 2, 3.
TEST(Compare, FindsAColumnByClaimThenTitleThenName) {
  const auto published =
      reference({entry({{Field::metric, "avg_epoch_time"}, {Field::unit, "s"}}, 1),
                 entry({{Field::metric, "loss"}}, 1)});
  const MeaningCase cases[] = {
      {"title", {{"Avg. epoch time", "s", "x"}}, {"avg_epoch_time | 1.0"}},
      {"name", {{"x", "s", "avg_epoch_time"}}, {"avg_epoch_time | 1.0"}},
      {"title before name", {{"x", "", "loss"}, {"Loss", "", "y"}}, {"loss | 2.0"}},
      {"first title", {{"loss", "", "x"}, {"Loss", "", "y"}}, {"loss | 1.0"}},
      {"claim before title", {{"loss", "", "x"}, {"y", "", "y", "loss"}}, {"loss | 2.0"}},
      {"claim in place of title",
       {{"loss", "s", "loss", "avg_epoch_time"}},
       {"avg_epoch_time | 1.0"}},
      {"claim of nothing", {{"loss", "", "loss", "none"}, {"Loss", "", "y", "none"}}, {}},
      {"claim of another source", {{"loss", "", "x", "accuracy"}}, {}},
      {"unit of the claim", {{"x", "", "x", "avg_epoch_time[min]"}}, {"avg_epoch_time | 60.0"}},
  };
  for (const MeaningCase& one : cases) {
    std::vector<Value> row{1.0, 2.0, 3.0};
    row.resize(one.columns.size());
    const auto compared = compare(ours(one.columns, {row}), {}, published);
    EXPECT_EQ(shown(compared, {"metric", "ours"}), one.expected) << one.what;
  }
}

TEST(Compare, RefusesTwoColumnsThatAreSaidToBeOne) {
  const auto table = ours({{"A", "", "a", "loss"}, {"B", "", "b", "loss"}}, {{1.0, 2.0}});
  EXPECT_EQ(support::error_of([&] { compare(table, {}, {}); }),
            "in.yaml:7: error: columns 'A' and 'B' are both compared as loss\n"
            "hint: write `compare: none` at one of them");
}

/// Published on two accelerators, each on 1 and 4 devices, and once with another batch.
std::vector<Reference> grid() {
  std::vector<Entry> entries;
  const auto add = [&](const std::string& accelerator, const std::string& devices,
                       const std::string& batch) {
    entries.push_back(entry({{Field::source, "paper"},
                             {Field::table, accelerator + "x" + devices + "b" + batch},
                             {Field::accelerator, accelerator},
                             {Field::devices, devices},
                             {Field::batch, batch},
                             {Field::metric, "time"},
                             {Field::unit, "s"}},
                            1));
  };
  add("A100-40GB", "4", "32");
  add("A100-40GB", "1", "32");
  add("A100-40GB", "1", "512");
  add("A100-40GB", "1", "");
  add("H100", "8", "32");
  add("H100", "2", "32");
  return reference(entries);
}

struct NearestCase {
  Conditions run;
  std::string source;
  std::string conditions;
};

TEST(Compare, TakesTheNearestConditionsAndSaysHowTheyDiffer) {
  const NearestCase cases[] = {
      {{{Field::accelerator, "NVIDIA A100 SXM4 40 GB"},
        {Field::devices, "1"},
        {Field::batch, "512"}},
       "paper, A100-40GBx1b512",
       ""},
      {{{Field::accelerator, "A100"}, {Field::devices, "1"}, {Field::batch, "300"}},
       "paper, A100-40GBx1b512",
       "batch 300 against 512"},
      {{{Field::accelerator, "H100"}, {Field::devices, "4"}, {Field::batch, "32"}},
       "paper, H100x8b32",
       "devices 4 against 8"},
      {{{Field::accelerator, "H100"}, {Field::devices, "3"}},
       "paper, H100x2b32",
       "devices 3 against 2, batch unstated against 32"},
      {{{Field::accelerator, "EPYC"}, {Field::devices, "1"}, {Field::batch, "16"}},
       "paper, A100-40GBx1b32",
       "accelerator EPYC against A100-40GB, batch 16 against 32"},
      {{},
       "paper, A100-40GBx4b32",
       "accelerator unstated against A100-40GB, devices unstated against 4, "
       "batch unstated against 32"},
  };
  for (const NearestCase& one : cases)
    EXPECT_THAT(shown(compare(ours({{"time", "s", "t"}}, {{1.0}}), one.run, grid()),
                      {"source", "conditions"}),
                ElementsAre(one.source + " | " + one.conditions));
}

TEST(Compare, ReadsTheConditionsOfARowOffItsColumns) {
  const auto table =
      ours({{"#GPUs", "", "devices"}, {"GPU", "", "g", "accelerator"}, {"time", "s", "t"}},
           {{8LL, "H100", 3.0}, {1LL, "H100", 3.0}});
  const Conditions run{{Field::devices, "4"}, {Field::batch, "32"}, {Field::workload, "w"}};
  EXPECT_THAT(shown(compare(table, run, grid()), {"workload", "devices", "batch", "conditions"}),
              ElementsAre("w | 8 | 32 | ", "w | 1 | 32 | devices 1 against 2"));
}

TEST(Compare, KnowsAPlatformByItsTag) {
  const auto published = reference({entry({{Field::platform, "JURECA-DC-eval"},
                                           {Field::platform_tag, "H100"},
                                           {Field::metric, "time"},
                                           {Field::unit, "s"}},
                                          1)});
  const auto table = ours({{"time", "s", "t"}}, {{1.0}});
  const auto conditions = [&](const std::string& platform) {
    return shown(compare(table, {{Field::platform, platform}}, published), {"conditions"});
  };
  EXPECT_THAT(conditions("H100"), ElementsAre(""));
  EXPECT_THAT(conditions("jureca dc eval"), ElementsAre(""));
  EXPECT_THAT(conditions("MI250"), ElementsAre("platform MI250 against JURECA-DC-eval"));
}

TEST(Compare, SaysWhatIsNotCompared) {
  const auto published = reference({entry({{Field::metric, "time"}, {Field::unit, "s"}}, 1),
                                    entry({{Field::metric, "loss"}}, 1),
                                    entry({{Field::metric, "energy"}, {Field::unit, "Wh"}}, 1)});
  auto table = ours({{"Time", "", "t"}, {"loss", "s", "l"}, {"energy", "Wh", "e"}},
                    {{1.0, 1.0, "much"}, {1.0, 1.0, "2.0"}});
  table.rows[1][0] = {.absent_reason = "no match"};
  const Comparison comparison = compare(table, {}, published);
  EXPECT_THAT(shown(comparison, {"metric", "ours"}), ElementsAre("energy | 2.0"));
  EXPECT_THAT(
      comparison.table.notes,
      ElementsAre("not compared: loss: in s, but loss is published without a unit",
                  "not compared in 1 of 2 rows: Time: no match",
                  "not compared in 1 of 2 rows: Time: no unit, but time is published in s; write "
                  "`compare: time[UNIT]`",
                  "not compared in 1 of 2 rows: energy: not a number"));
  EXPECT_THAT(comparison.reasons, SizeIs(4));
}

TEST(Compare, SaysAReasonOnceForAllItsColumns) {
  const auto published =
      reference({entry({{Field::metric, "a"}}, 1), entry({{Field::metric, "b"}}, 1)});
  auto table = ours({{"a", "", "a"}, {"b", "", "b"}}, {{1.0, 1.0}});
  table.rows[0][0] = table.rows[0][1] = {.absent_reason = "no power sensor"};
  EXPECT_THAT(compare(table, {}, published).table.notes,
              ElementsAre("not compared: a, b: no power sensor"));
}

TEST(Compare, NamesTheSourceAsFarAsItIsKnown) {
  const auto shown_source = [](const std::string& source, const std::string& table) {
    const auto published = reference(
        {entry({{Field::metric, "a"}, {Field::source, source}, {Field::table, table}}, 1)});
    return shown(compare(ours({{"a", "", "a"}}, {{1.0}}), {}, published), {"source"}).front();
  };
  EXPECT_EQ(shown_source("paper", "Table 1"), "paper, Table 1");
  EXPECT_EQ(shown_source("paper", ""), "paper");
  EXPECT_EQ(shown_source("", ""), "");
}

TEST(Compare, GathersTheNotesOfAllRepetitions) {
  const auto published =
      reference({entry({{Field::metric, "a"}, {Field::note, "of a reprint"}}, 1),
                 entry({{Field::metric, "a"}, {Field::note, "of a reprint; typo for 2"}}, 2)});
  EXPECT_THAT(shown(compare(ours({{"a", "", "a"}}, {{1.0}}), {}, published), {"note"}),
              ElementsAre("of a reprint; typo for 2"));
}

TEST(Compare, KeepsEstimatesAndTheWorkpackagesOfARow) {
  const auto published = reference({entry({{Field::metric, "a"}}, 1)});
  auto table = ours({{"n", "", "n"}, {"a", "", "a"}}, {{1LL, 1.0}, {2LL, 1.0}});
  table.rows[1][1].estimated = true;
  table.sources = {{}, {.done = 0, .not_done = {{5, true, "exit code 1"}}}};
  const Comparison comparison = compare(table, {}, published);
  EXPECT_FALSE(comparison.table.rows[0][6].estimated);
  EXPECT_TRUE(comparison.table.rows[1][6].estimated);
  ASSERT_EQ(comparison.table.sources.size(), 2U);
  EXPECT_EQ(comparison.table.sources[1].not_done[0].workpackage, 5);
}

struct SameCase {
  Field field;
  std::string a;
  std::string b;
  bool same;
};

TEST(IsSame, TakesTwoWaysToWriteAConditionForOne) {
  const SameCase cases[] = {
      {Field::accelerator, "NVIDIA A100 SXM4 40 GB", "A100-40GB-SXM4", true},
      {Field::accelerator, "NVIDIA A100 SXM4 40 GB", "A100", true},
      {Field::accelerator, "NVIDIA A100 SXM4 80 GB", "A100-40GB-SXM4", false},
      {Field::accelerator, "AMD MI250", "MI250(GCD)", true},
      {Field::accelerator, "AMD MI250X", "MI250(GCD)", false},
      {Field::accelerator, "Graphcore GC200", "IPU-GC200", true},
      {Field::accelerator, "4 x NVIDIA H100 PCIe 80 GB", "H100-80GB-PCIe", true},
      {Field::accelerator, "AMD EPYC 7742 64-Core Processor", "A2", false},
      {Field::accelerator, "NVIDIA", "A2", false},
      {Field::workload, "ap1", "AP1", true},
      {Field::workload, "resnet50", "ResNet-50", true},
      {Field::workload, "gpt", "GPT-800M", false},
      {Field::platform, "MareNostrum5", "MareNostrum 5", true},
      {Field::devices, "4", "4", true},
      {Field::devices, "4", "8", false},
      {Field::batch, "32.0", "32", true},
      {Field::batch, "max", "32", false},
  };
  for (const SameCase& one : cases) {
    EXPECT_EQ(is_same(one.field, one.a, one.b), one.same) << one.a << ", " << one.b;
    EXPECT_EQ(is_same(one.field, one.b, one.a), one.same) << one.b << ", " << one.a;
  }
}

Heading column(const std::string& title, const std::string& name, const std::string& compare = "") {
  return {.title = title, .unit = "", .place = {}, .name = name, .compare = compare};
}

TEST(MissingConditions, AreThoseOfNoColumn) {
  EXPECT_THAT(missing_conditions(std::vector{column("Devices", "n"), column("b", "batch"),
                                             column("GPU", "gpu", "accelerator"),
                                             column("System", "x", "platform")}),
              ElementsAre("config", "nodes", "phase", "workload"));
}

TEST(MissingConditions, AreNotColumnsThatAreSaidToBeSomethingElse) {
  const auto missing = missing_conditions(
      std::vector{column("b", "batch", "none"), column("Nodes", "nodes", "devices")});
  EXPECT_THAT(missing, ElementsAre("accelerator", "config", "phase", "platform", "workload"));
}

}  // namespace

}  // namespace bench::results
