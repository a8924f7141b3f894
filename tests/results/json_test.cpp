// The members of the rows in JSON, of which none may be lost.
#include "support/case_name.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <bench/base/value.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

struct MembersCase {
  std::string name;
  std::vector<Heading> headings;
  std::vector<Cell> row;
  std::string members;  ///< Of the row, in JSON Lines.
};

class JsonMembers : public testing::TestWithParam<MembersCase> {};

TEST_P(JsonMembers, HaveDifferentNames) {
  Table table{.name = "t", .headings = GetParam().headings, .rows = {GetParam().row}};
  table.sources = {{.done = 0, .not_done = {{.workpackage = 3}}}};
  EXPECT_EQ(render(table, "jsonl"),
            "{" + GetParam().members +
                ",\"status\":\"unfinished\",\"status_reason\":\"workpackage "
                "3 has not ended\"}\n");
}

Heading heading(const std::string& title, const std::string& unit = "") {
  return {.title = title, .unit = unit, .place = {}};
}

INSTANTIATE_TEST_SUITE_P(
    Result, JsonMembers,
    testing::Values(MembersCase{"AColumnBehindOneWithAUnit",
                                {heading("time", "s"), heading("time_unit")},
                                {{.value = 2.5}, {.value = 1LL}},
                                R"("time":2.5,"time_unit_2":"s","time_unit":1)"},
                    MembersCase{"AColumnBeforeOneWithAUnit",
                                {heading("time_unit"), heading("time", "s")},
                                {{.value = 1LL}, {.value = 2.5}},
                                R"("time_unit":1,"time":2.5,"time_unit_2":"s")"},
                    MembersCase{"AColumnLikeAReason",
                                {heading("v"), heading("v_absent")},
                                {{.value = std::stod("inf")}, {.value = 1LL}},
                                R"("v":null,"v_absent_2":"inf","v_absent":1)"},
                    MembersCase{"AColumnLikeAnEstimate",
                                {heading("v"), heading("v_estimated")},
                                {{.value = 1LL, .estimated = true}, {.value = 7LL}},
                                R"("v":1,"v_estimated_2":true,"v_estimated":7)"},
                    MembersCase{"TwoColumnsOfOneTitle",
                                {heading("v", "s"), heading("v", "m"), heading("v_2_unit")},
                                {{.value = 1LL}, {.value = 2LL}, {.value = 3LL}},
                                R"("v":1,"v_unit":"s","v_2":2,"v_2_unit_2":"m","v_2_unit":3)"}),
    support::case_name);

TEST(JsonMembersTest, ColumnsMayBeCalledLikeTheStatus) {
  Table table{.name = "t",
              .headings = {heading("status"), heading("status_reason"), heading("status_2_reason")},
              .rows = {{{.value = 1LL}, {.value = 2LL}, {.value = 3LL}}}};
  table.sources = {{.done = 0, .not_done = {{.workpackage = 3}}}};
  EXPECT_EQ(render(table, "jsonl"),
            R"({"status":1,"status_reason":2,"status_2_reason":3,"status_2":"unfinished",)"
            R"("status_2_reason_2":"workpackage 3 has not ended"})"
            "\n");
}

}  // namespace
}  // namespace bench::results
