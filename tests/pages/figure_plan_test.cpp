// Which figures a table gets.
#include "pages/figure_plan.hpp"

#include "pages/csv_source.hpp"
#include "pages/figure_source.hpp"
#include "support/case_name.hpp"
#include "support/message_of.hpp"
#include "support/source_directory.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/regex.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/model/benchmark.hpp>
#include <bench/pages/figure.hpp>
#include <bench/results/table.hpp>

namespace bench::pages {
namespace {

/// `line x=batch y=rate color=precision`
std::string text_of(const Source& source, const Plan& plan) {
  constexpr const char* marks[] = {"line", "bar", "heatmap", "point", "stack", "step"};
  const auto titles = [&](const std::vector<std::size_t>& columns) {
    std::vector<std::string> all;
    for (const std::size_t column : columns)
      all.push_back(source.columns[column].title);
    return join(all, "+");
  };
  std::string text = fmt::format("{} x={} y={}", marks[static_cast<int>(plan.mark)],
                                 source.columns[plan.x].title, titles(plan.y));
  if (plan.row)
    text += " row=" + titles({*plan.row});
  if (!plan.color.empty())
    text += " color=" + titles(plan.color);
  if (!plan.facet.empty())
    text += " facet=" + titles(plan.facet);

  if (plan.ideal == Ideal::proportional)
    text += " proportional";
  if (plan.ideal == Ideal::constant)
    text += " constant";
  if (plan.ideal == Ideal::equal)
    text += " equal";
  return text;
}

struct Case {
  std::string name;
  std::string table;
  std::vector<std::string> figures;
};

class DefaultPlans : public testing::TestWithParam<Case> {};

TEST_P(DefaultPlans, SayMostAboutTheTable) {
  const Source source = source_from(GetParam().table);
  std::vector<std::string> figures;
  for (const Plan& plan : default_plans(source))
    figures.push_back(text_of(source, plan));
  EXPECT_EQ(figures, GetParam().figures);
}

INSTANTIATE_TEST_SUITE_P(
    Report, DefaultPlans,
    testing::Values(
        Case{"NumericParameter", "batch*,loss\n1,0.5\n2,0.4\n4,0.2", {"line x=batch y=loss"}},
        Case{"NamedParameter", "precision*,loss\nfp16,0.5\nfp32,0.4", {"bar x=precision y=loss"}},
        Case{"OneLinePerNamedValue",
             "precision*,batch*,loss\nfp16,1,3\nfp16,2,5\nfp32,1,2\nfp32,2,4",
             {"line x=batch y=loss color=precision"}},
        Case{"TwoNumericParametersWithThreeValues",
             "nodes*,batch*,loss\n1,1,1\n1,2,2\n1,4,3\n2,1,4\n2,2,5\n2,4,6\n4,1,7\n4,2,8\n4,4,9",
             {"heatmap x=batch y=loss row=nodes", "line x=batch y=loss color=nodes"}},
        Case{"OutOfMemoryIsAResult",
             "precision*,batch*,loss\nfp16,1,1\nfp16,2,2\nfp32,1,3\nfp32,2,OOM",
             {"heatmap x=batch y=loss row=precision", "line x=batch y=loss color=precision"}},
        Case{"ThroughputAboveEnergy",
             "batch*,rate[images/s],energy[Wh]\n1,10,5\n2,15,4\n4,18,3",
             {"line x=batch y=rate+energy"}},
        Case{"ParametersThatFollowFromOthersDoNotCount",
             "nodes*,ranks*,time[s]\n1,4,10\n2,8,5\n4,16,3",
             {"line x=nodes y=time"}},
        Case{"SpeedUpHasItsIdeal",
             "nodes*,speedup,strong_efficiency[%]\n1,1,100\n2,1.9,95\n4,3.6,90",
             {"line x=nodes y=speedup proportional", "line x=nodes y=strong_efficiency constant"}},
        Case{"PartsOfATotal",
             "nodes*,total[s],io[s],compute[s]\n1,10,2,7\n2,6,2,3.5",
             {"stack x=nodes y=io+compute", "line x=nodes y=total"}},
        Case{"TimesThatAreNoPartsOfOneAnother",
             "nodes*,io[s],compute[s]\n1,10,12\n2,9,13",
             {"line x=nodes y=io", "line x=nodes y=compute"}},
        Case{"TimeAndEnergyToSolution",
             "model*,precision*,time[s],energy[Wh]\na,x,1,2\na,y,2,3\nb,x,4,7\nb,y,5,6",
             {"heatmap x=model y=time+energy row=precision"}},
        Case{"DevicesAgainstNode",
             "batch*,energy_gpu[Wh],energy_node[Wh]\n1,3,5\n2,4,6",
             {"point x=energy_gpu y=energy_node color=batch equal", "line x=batch y=energy_gpu",
              "line x=batch y=energy_node"}},
        Case{"StatisticsOfOneValueAreOneFigure",
             "n*,time_avg[s],time_std[s],time_min[s]\n1,5,1,4\n2,6,2,5",
             {"line x=n y=time_avg"}},
        Case{"AConstantIsNothingToSee", "n*,size\n1,7\n2,7\n3,7", {}},
        Case{"NothingVaries", "n*,time[s]\n1,5", {}}, Case{"NoRows", "n*,time[s]", {}}),
    support::case_name);

TEST(DefaultPlansTest, ATableOfADistributionIsSteps) {
  Source source = source_from("mode*,time[s],share\na,1,0.5\na,2,1\nb,3,0.5\nb,4,1");
  source.is_distribution = true;
  const std::vector<Plan> plans = default_plans(source);
  ASSERT_EQ(plans.size(), 1U);
  EXPECT_EQ(text_of(source, plans[0]), "step x=time y=share color=mode");
}

TEST(DefaultPlansTest, ManyParametersFindAColourOrAPanel) {
  std::string table = "batch*,precision*,model*,loss\n";
  int number = 0;
  for (const char* precision : {"fp16", "bf16", "fp32"})
    for (const char* model : {"small", "large"})
      for (const int batch : {1, 2, 4})
        table += fmt::format("{},{},{},{}\n", batch, precision, model, ++number);
  const Source source = source_from(table);
  const std::vector<Plan> plans = default_plans(source);
  ASSERT_FALSE(plans.empty());
  EXPECT_EQ(text_of(source, plans.back()), "line x=batch y=loss color=precision facet=model");
}

TEST(DefaultPlansTest, ParametersWithoutAPlaceBecomeFacets) {
  std::string table = "batch*,a*,b*,c*,loss\n";
  int number = 0;
  for (int a = 0; a < 12; ++a)
    for (const int b : {1, 2, 3})
      for (const char* c : {"x", "y"})
        for (const int batch : {1, 2, 4})
          table += fmt::format("{},v{},{},{},{}\n", batch, a, b, c, ++number);
  const Source source = source_from(table);
  const std::vector<Plan> plans = default_plans(source);
  ASSERT_FALSE(plans.empty());
  EXPECT_EQ(text_of(source, plans.back()), "line x=batch y=loss color=b+c facet=a");
}

/// CARAML's heatmap: a batch size of 16 on three devices is 15.
TEST(DefaultPlansTest, AHeatmapHasNominalBatchSizes) {
  static const Regex title(R"(- \{ title: ([\w/]+))");
  std::string head;
  for (const std::string& one : title.find_all(
           read_file(support::source_directory() / "benchmarks" / "image_classification.yaml")))
    if (one == "Devices" || one.find("Batch") != std::string::npos)
      head += one + "*,";
  std::string table = head + "rate\n";
  for (const int devices : {1, 2, 3, 4})
    for (const int batch : {16, 32, 64})
      table += fmt::format("{0},{1},{2},{3},{1}\n", devices, batch, batch / devices * devices,
                           batch / devices);
  const Source source = source_from(table);
  const std::vector<Plan> plans = default_plans(source);
  ASSERT_FALSE(plans.empty());
  EXPECT_EQ(text_of(source, plans[0]), "heatmap x=BatchSize y=rate row=Devices");
}

TEST(DrawTest, RowsAtOnePointAreTheirMedianWithItsInterval) {
  std::string table = "batch*,loss\n";
  for (const char* loss : {"1", "2", "3", "4", "5", "6", "7", "8", "9"})
    table += fmt::format("1,{}\n2,{}0\n", loss, loss);
  const Source source = source_from(table);
  const Figure figure = draw(source, {.x = 0, .y = {1}});
  ASSERT_EQ(figure.columns.size(), 4U);  // batch, loss and the ends of its interval
  EXPECT_EQ(figure.columns[1].values[0], std::optional<Value>(5.0));
  EXPECT_LT(std::get<double>(*figure.columns[2].values[0]), 5);
  EXPECT_GT(std::get<double>(*figure.columns[3].values[0]), 5);
  EXPECT_THAT(figure.notes, testing::ElementsAre("18 rows in 2 points: medians",
                                                 testing::HasSubstr("95 % confidence interval"),
                                                 "dots: the values behind each median"));
}

TEST(DrawTest, ARateIsNeverBelowZero) {
  const Source source =
      source_from("n*,rate[MB/s]\n1,900\n1,15000\n1,31000\n1,60000\n1,88000\n2,5\n2,5");
  const Figure figure = draw(source, {.x = 0, .y = {1}});
  EXPECT_EQ(figure.columns[2].values[0], std::optional<Value>(0.0));
  EXPECT_THAT(figure.panels[0].specification, testing::HasSubstr(R"({"c0":1.0,"c1":88000.0})"));
}

TEST(DrawTest, IterationsAreDotsBesideTheIntervalOfTheirRow) {
  Source source = source_from("n*,opt*,rate[MB/s]\n1,O2,30\n1,O3,40");
  source.columns[2].iterations[0] = {10, 30, 80};
  source.columns[2].low[0] = 0;
  source.columns[2].high[0] = 130;
  for (const Mark mark : {Mark::line, Mark::bar}) {
    const Figure figure = draw(source, {.mark = mark, .x = 0, .y = {2}, .facet = {1}});
    EXPECT_EQ(figure.columns[3].values[0], std::optional<Value>(0.0));
    EXPECT_EQ(figure.columns[4].values[0], std::optional<Value>(130.0));
    EXPECT_THAT(figure.panels[0].specification, testing::HasSubstr(R"("c2":80.0})"));
    EXPECT_THAT(figure.panels[1].specification, testing::Not(testing::HasSubstr(R"("c2":80.0})")));
  }
}

/// An interval over values of different parameters would be none of a median.
TEST(DrawTest, RowsOfDifferentParametersHaveNoInterval) {
  std::string table = "n*,a*,loss\n";
  for (int a = 0; a < 30; ++a)
    table += fmt::format("1,{0},{0}\n2,{0},{0}\n", a);
  const Figure figure = draw(source_from(table), {.x = 0, .y = {2}});
  EXPECT_EQ(figure.columns.size(), 2U);
  EXPECT_THAT(figure.notes, testing::ElementsAre("60 rows in 2 points: medians over a",
                                                 "dots: the values behind each median"));
}

struct Labels {
  std::string name;
  std::string table;
  std::string has;
  std::string lacks;
};

class LabelTest : public testing::TestWithParam<Labels> {};

TEST_P(LabelTest, FitsTheNumbersOfTheAxis) {
  const std::string axes =
      draw(source_from(GetParam().table), {.x = 0, .y = {1}}).panels[0].specification;
  EXPECT_THAT(axes, testing::HasSubstr(GetParam().has));
  EXPECT_THAT(axes, testing::Not(testing::HasSubstr(GetParam().lacks)));
}

INSTANTIATE_TEST_SUITE_P(
    Report, LabelTest,
    testing::Values(Labels{"Bytes", "size*[B],t[s]\n8,1\n32768,2\n1073741824,3", "' GiB'", "~s"},
                    Labels{"BytesByTheirName", "message_bytes*,t[s]\n8,1\n90000,2", "' KiB'", "~s"},
                    Labels{"PowersOfTwo", "size*,t[s]\n8,1\n32768,2\n1073741824,3", "'Gi'", "~s"},
                    Labels{"SmallPowersOfTwo", "batch*,t[s]\n8,1\n16,2\n32,3", "\"d\"", "'Ki'"},
                    Labels{"OtherNumbers", "n*,t[s]\n3,1\n700001,2\n9000000,3", "~s", "'Ki'"},
                    Labels{"BytesAsValues", "n*,memory[B]\n3,1000000000\n4,3000000000",
                           "\"values\":[0.0,536870912.0", "~s"},
                    Labels{"RoomForTheLastOne", "n*,t[s]\n3,1\n4,2", "\"labelBound\":10", "'Ki'"}),
    support::case_name);

/// One measurement that went wrong does not take the figure of the others away.
TEST(DrawTest, ValuesThatAreNotFiniteAreMissing) {
  const Source source = source_from("batch*,rate[1/s],word\n1,10,a\n2,nan,nan\n4,inf,inf\n8,40,d");
  const std::vector<Plan> plans = default_plans(source);
  ASSERT_EQ(plans.size(), 1U);
  const Figure figure = draw(source, plans[0]);
  EXPECT_THAT(figure.columns[1].values,
              testing::ElementsAre(Value(10.0), std::nullopt, std::nullopt, Value(40.0)));
  EXPECT_THAT(figure.notes, testing::ElementsAre("nan or infinite values of rate, not drawn: 2"));
  EXPECT_EQ(source.columns[2].text(1), "nan");  // a word among words
}

TEST(DrawTest, TheRestOfSeveralRowsIsThatOfTheirMedians) {
  const Source source = source_from(
      "n*,load[s],compute[s],total[s]\n1,1,2,4\n1,2,4,8\n1,3,6,12\n2,1,1,2\n2,1,1,2\n2,1,1,2");
  const Figure figure =
      draw(source, {.mark = Mark::stack, .x = 0, .y = {1, 2}, .total = std::size_t{3}});
  EXPECT_THAT(figure.columns[2].values,
              testing::ElementsAre(Value(2.0), Value(4.0), Value(2.0), Value(1.0), Value(1.0)));
}

TEST(DrawTest, APointOfWhichAPartFailedSaysHowMuchIsDone) {
  for (const Mark mark : {Mark::line, Mark::bar}) {
    const Figure figure =
        draw(source_from("n*,time[s]\n1,3\n1,4\n1,OOM\n2,5"), {.mark = mark, .x = 0, .y = {1}});
    ASSERT_THAT(figure.notes, testing::Contains(testing::HasSubstr("4 of 5")));
    const FigureColumn& done = figure.columns.back();
    EXPECT_EQ(done.title, "done");
    EXPECT_THAT(done.values, testing::ElementsAre(Value(std::string("2 of 3")), std::nullopt));
    EXPECT_THAT(figure.panels[0].specification, testing::HasSubstr(R"(["2 of 3"])"));
    EXPECT_THAT(figure.description, testing::HasSubstr("1 point has failures"));
  }
}

TEST(DrawTest, AStackOfWhatFailedSaysSo) {
  const Figure figure = draw(source_from("n*,io[s],compute[s]\n1,1,2\n2,OOM,OOM"),
                             {.mark = Mark::stack, .x = 0, .y = {1, 2}});
  EXPECT_THAT(figure.columns[0].values, testing::Contains(Value(std::string("2"))));
  EXPECT_THAT(figure.panels[0].specification, testing::HasSubstr("failure-text"));
}

TEST(DrawTest, ThousandsOfBarsAreLimitedAndTheNoteSaysSo) {
  std::string table = "case*,time[s]\n";
  for (int k = 0; k < 3000; ++k)
    table += fmt::format("c{},{}\n", k, k);
  const Figure figure = draw(source_from(table), {.mark = Mark::bar, .x = 0, .y = {1}});
  EXPECT_EQ(figure.columns[0].values.size(), 200U);
  EXPECT_THAT(figure.notes,
              testing::Contains("the first 200 of 3000 values of case; the table has all"));
}

TEST(DrawTest, TheDescriptionSaysWhatIsSeen) {
  const Source source =
      source_from("precision*,batch*,rate[1/s]\nfp16,1,10\nfp16,2,25\nfp32,1,5\nfp32,2,OOM");
  EXPECT_EQ(draw(source, {.x = 1, .y = {2}, .color = {0}}).description,
            "Lines of rate [1/s], over batch, for each precision. rate [1/s]: from 5 (batch=1, "
            "precision=fp32) to 25 (batch=2, precision=fp16). 1 point: out of memory.");
}

TEST(DrawTest, NoTextOfARunIsPartOfASpecification) {
  const std::string evil = "</script><script>alert(1)</script>";
  const Source source =
      source_from("name*,batch*,loss\n" + evil + ",1,2\n" + evil + ",2,3\nother,1,4\nother,2,5");
  const Figure figure = draw(source, {.x = 1, .y = {2}, .color = {0}});
  EXPECT_THAT(figure.panels[0].specification, testing::HasSubstr("\"c1\""));
  // Only as a value to compare with, never as an expression.
  EXPECT_THAT(figure.panels[0].specification, testing::Not(testing::HasSubstr("datum")));
}

TEST(DrawTest, LongLinesKeepTheirPeaks) {
  std::string table = "step*,loss\n";
  for (int step = 0; step < 10000; ++step)
    table += fmt::format("{},{}\n", step, step == 5000 ? 1000 : step % 10);
  const Figure figure = draw(source_from(table), {.x = 0, .y = {1}});
  EXPECT_LE(figure.columns[1].values.size(), 2001U);
  EXPECT_THAT(figure.columns[1].values, testing::Contains(std::optional<Value>(1000.0)));
}

TEST(DrawTest, PowersOfTwoAreALogarithmicAxis) {
  const Source source = source_from("batch*,loss\n16,1\n32,2\n128,4");
  EXPECT_THAT(draw(source, {.x = 0, .y = {1}}).panels[0].specification,
              testing::HasSubstr(R"("type":"log","base":2)"));
  EXPECT_THAT(draw(source, {.x = 0, .y = {1}, .x_scale = Scale::linear}).panels[0].specification,
              testing::Not(testing::HasSubstr(R"("type":"log")")));
}

struct Cells {
  std::string name;
  std::string values;  ///< Of four cells.
  std::string format;
};

class CellFormat : public testing::TestWithParam<Cells> {};

TEST_P(CellFormat, ShowsEveryNumber) {
  const std::vector<std::string> values = split_names(GetParam().values);
  const Source source = source_from(fmt::format("a*,b*,rate\n1,1,{}\n1,2,{}\n2,1,{}\n2,2,{}",
                                                values[0], values[1], values[2], values[3]));
  const Figure figure = draw(source, {.mark = Mark::heatmap, .x = 0, .y = {2}, .row = 1});
  EXPECT_THAT(figure.panels[0].specification,
              testing::HasSubstr(fmt::format("\"format\":\"{}\"", GetParam().format)));
}

INSTANTIATE_TEST_SUITE_P(Report, CellFormat,
                         testing::Values(Cells{"Large", "1589,20,0,3", ".5~g"},
                                         Cells{"Whole", "1589,20,0,30", ".0f"},
                                         Cells{"Small", "0.5,20,0,3", ".3~r"},
                                         Cells{"Close", "3.344,3.339,3.334,3.344", ".4~r"},
                                         Cells{"Equal", "3.344,3.344,3.344,3.344", ".3~r"},
                                         Cells{"Tiny", "-1e-7,2e-8,0,3e-9", ".3~g"},
                                         Cells{"Negative", "-300000,2,0,3", ".3~s"}),
                         support::case_name);

/// Rounded after the padding, an axis of times would begin before zero.
TEST(DrawTest, AnAxisEndsWhereItsDataDo) {
  EXPECT_THAT(
      draw(source_from("time*,power\n0,1\n1,3"), {.x = 0, .y = {1}}).panels[0].specification,
      testing::HasSubstr(R"("padding":12,"nice":false)"));
}

TEST(AskedPlanTest, ColumnsAreCalledByTitleOrName) {
  Source source = source_from("batch*,precision*,rate\n1,fp16,2\n2,fp16,3");
  source.columns[2].title = "Throughput";
  const Plan plan = asked_plan(source, {.mark = model::Figure::Mark::heatmap,
                                        .x = "batch",
                                        .y = {"rate"},
                                        .row = "precision",
                                        .scale = model::Figure::Scale::log});
  EXPECT_EQ(text_of(source, plan), "heatmap x=batch y=Throughput row=precision");
  EXPECT_EQ(plan.y_scale, Scale::log);
}

TEST(AskedPlanTest, TheMarkFollowsFromTheAxis) {
  const Source source = source_from("batch*,precision*,rate\n1,fp16,2\n2,fp32,3");
  EXPECT_EQ(asked_plan(source, {.x = "batch", .y = {"rate"}}).mark, Mark::line);
  EXPECT_EQ(asked_plan(source, {.x = "precision", .y = {"rate"}}).mark, Mark::bar);
}

struct Unplaced {
  std::string name;
  std::string table;
  model::Figure asked;
  std::string plan;
};

class UnplacedParameters : public testing::TestWithParam<Unplaced> {};

TEST_P(UnplacedParameters, BecomeFacets) {
  const Source source = source_from(GetParam().table);
  EXPECT_EQ(text_of(source, asked_plan(source, GetParam().asked)), GetParam().plan);
}

INSTANTIATE_TEST_SUITE_P(
    Report, UnplacedParameters,
    testing::Values(
        Unplaced{"One",
                 "size*,opt*,threads*,rate\n1,O2,1,1\n1,O2,4,2\n2,O3,1,3",
                 {.x = "size", .y = {"rate"}, .color = {"opt"}},
                 "line x=size y=rate color=opt facet=threads"},
        Unplaced{"BesideAFacet",
                 "size*,opt*,threads*,rate\n1,O2,1,1\n1,O2,4,2\n1,O3,4,2\n2,O3,1,3",
                 {.x = "size", .y = {"rate"}, .facet = "threads"},
                 "line x=size y=rate facet=threads+opt"},
        Unplaced{"InABarChart",
                 "opt*,threads*,rate\nO2,1,1\nO2,4,2\nO3,1,3",
                 {.x = "opt", .y = {"rate"}},
                 "bar x=opt y=rate facet=threads"},
        Unplaced{
            "NotTheDeterminedOnes",
            "batch*,devices*,global*,rate\n16,1,16,1\n16,3,15,2\n32,1,32,3\n32,3,30,4",
            {.mark = model::Figure::Mark::heatmap, .x = "batch", .y = {"rate"}, .row = "devices"},
            "heatmap x=batch y=rate row=devices"},
        Unplaced{"NotTheOnesThatDetermineThem",
                 "batch*,devices*,global*,rate\n16,1,16,1\n16,3,15,2\n32,1,32,3\n32,3,30,4",
                 {.x = "global", .y = {"rate"}, .color = {"devices"}},
                 "line x=global y=rate color=devices"}),
    support::case_name);

TEST(AskedPlanTest, TooManyPanelsAreRefusedWithTheirParameters) {
  std::string table = "n*,a*,b*,rate\n";
  for (int a = 0; a < 6; ++a)
    for (int b = 0; b < 5; ++b)
      table += fmt::format("1,{},{},1\n2,{},{},2\n", a, b, a, b);
  const Source source = source_from(table);
  EXPECT_EQ(support::message_of<Error>([&] { asked_plan(source, {.x = "n", .y = {"rate"}}); }),
            "the figure of table 't' does not place a, b, which would be 30 panels");
}

TEST(AskedPlanTest, NothingIsDrawnOverNames) {
  const Source source = source_from("batch*,precision*,rate\n1,fp16,2\n2,fp32,3");
  EXPECT_EQ(support::message_of<Error>([&] {
              asked_plan(source,
                         {.mark = model::Figure::Mark::line, .x = "precision", .y = {"rate"}});
            }),
            "column 'precision' is not numeric, so it cannot be the axis of lines or points");
}

TEST(SlugTest, IsFitForAFile) {
  EXPECT_EQ(slug_of("rates: images/s over ../batch"), "rates-images-s-over-batch");
  EXPECT_EQ(slug_of("Ω"), "figure");
}

TEST(SlugTest, FiguresHaveDifferentOnes) {
  std::vector<Figure> figures(3);
  for (Figure& figure : figures)
    figure.id = "a";
  make_ids_unique(figures);
  EXPECT_EQ(figures[1].id, "a-2");
  EXPECT_EQ(figures[2].id, "a-3");
}

}  // namespace
}  // namespace bench::pages
