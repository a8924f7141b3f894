#include "results/report_fixture.hpp"
#include "support/error_of.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/text.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/results/filters.hpp>
#include <bench/results/report.hpp>
#include <bench/results/table.hpp>

namespace bench::results {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

class FiltersTest : public ReportFixture {
 protected:
  std::string foreign_table() {
    diagnostics_ = Diagnostics();
    for (const model::Analyser& analyser : run_.benchmark.analysers)
      analyses_[analyser.name];
    const Report made = report(run_, *workspace_, analyses_, {}, diagnostics_, Trust::foreign);
    return render(made.tables.at(0).table, "csv");
  }
};

TEST_F(FiltersTest, OfAForeignRunAreAppliedOnlyAsTheyWereKept) {
  end(one_step("filter: $n > 1, column: n"));
  EXPECT_EQ(foreign_table(), "n[nodes]\n1\n2\n10\n");
  EXPECT_THAT(diagnostics_.warnings(), SizeIs(1));
  keep_filters(run_, analyses_, *workspace_);
  EXPECT_EQ(foreign_table(), "n[nodes]\n2\n10\n");
  EXPECT_THAT(diagnostics_.warnings(), SizeIs(0));
}

TEST_F(FiltersTest, ThatFailAreKeptAndToldOfByTheReport) {
  end(one_step("filter: $n +, column: n"));
  analyses_["a"];
  keep_filters(run_, analyses_, *workspace_);
  EXPECT_THAT(support::error_of([&] { foreign_table(); }),
              HasSubstr("invalid expression in the filter of table 'r': "));
}

TEST_F(FiltersTest, CompareWithWhatIsNotANumber) {
  end(one_step("filter: $n > 1 and not nan < 1 and inf > $n, column: n"));
  analyses_["a"];
  keep_filters(run_, analyses_, *workspace_);
  EXPECT_EQ(foreign_table(), "n[nodes]\n2\n10\n");
}

TEST_F(FiltersTest, AreNotKeptWhereThereAreNone) {
  end(one_step("column: n"));
  keep_filters(run_, analyses_, *workspace_);
  EXPECT_FALSE(workspace_->facts().contains("filters"));
}

TEST_F(FiltersTest, KeepEachTextOnce) {
  Filters filters(Trust::own);
  const std::vector<std::string> texts{"1 > 0", "1 > 0", "2 < 0"};
  const auto outcomes = filters.outcomes(texts);
  ASSERT_THAT(outcomes, SizeIs(3));
  EXPECT_EQ(outcomes[0]->value, "True");
  EXPECT_EQ(outcomes[2]->value, "False");
  EXPECT_THAT(split_names(filters.kept(), "\n"), SizeIs(2));
}

}  // namespace
}  // namespace bench::results
