// The page of `bench report` in a real browser.
#include "browser.hpp"
#include "report_test.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include <bench/base/files.hpp>
#include <bench/base/text.hpp>

namespace bench::end_to_end {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ReportPageTest : public ReportTest {
 protected:
  void SetUp() override {
    ReportTest::SetUp();
    if (!has_browser())
      GTEST_SKIP() << "chromium or node is not installed";
  }

  std::string browse(const std::string& file, std::vector<std::string> arguments) const {
    return end_to_end::browse((here_.path() / file).string(), std::move(arguments));
  }
};

/// That every chart has drawn something: a rectangle, a symbol, a line.
constexpr const char* charts_with_marks =
    R"([...document.querySelectorAll(".chart")].filter((chart) => chart.querySelectorAll(
       ".mark-rect path, .mark-symbol path, .mark-line path").length > 0).length)";

TEST_F(ReportPageTest, DrawsFiltersAndChangesItsTheme) {
  run(training, 1);
  report({"runs"});
  const std::string shown = browse(
      "report.html",
      {"document.querySelectorAll('.chart').length", charts_with_marks,
       "[...document.querySelectorAll('.chart')].every((one) => one.ariaLabel.length > 30)",
       // The rows of the table, all and with filters.
       "window.rows = () => document.querySelectorAll('#tables tbody tr').length; rows()",
       "window.input = document.querySelector('#tables input'); window.filter = (text) => { "
       "input.value = text; input.dispatchEvent(new Event('input')); return rows(); }; "
       "filter('FP16')",
       "filter('batch_size>=16 precision=fp32')", "filter('batch_size>=16 precision=\"fp32\"')",
       "filter('\"fp32 fp32\"')", "filter('nothing')", "filter('')",
       // By rate, descending: the missing one comes last.
       "window.sort = document.querySelectorAll('#tables th button')[2]; sort.click(); "
       "sort.click(); [...document.querySelectorAll('#tables tbody tr')].map((row) => "
       "row.lastChild.textContent).join()",
       // What is saved as csv.
       "URL.createObjectURL = (blob) => { window.saved = blob; return '#'; }; "
       "document.querySelector('figcaption button').click(); saved.text().then((text) => "
       "text.split('\\r\\n')[0])",
       "document.querySelectorAll('figcaption button')[1].click(); new Promise((done) => "
       "setTimeout(done, 500)).then(() => saved.text()).then((text) => text.startsWith('<svg'))",
       // The theme: colours of the page and of the charts.
       "window.back = getComputedStyle(document.body).backgroundColor; window.ink = "
       "document.querySelector('.role-axis-label text').getAttribute('fill'); "
       "document.getElementById('theme').click(); document.documentElement.dataset.theme",
       "getComputedStyle(document.body).backgroundColor !== back && "
       "document.querySelector('.role-axis-label text').getAttribute('fill') !== ink"});
  EXPECT_EQ(strip(shown),
            R"({"errors":[],"requests":[],"values":[2,2,true,6,3,2,2,0,0,6,)"
            R"("320,160,160,80,80,OOM","batch_size,precision,rate [images/s],state,mark,reason",)"
            R"(true,"dark",true]})");
}

TEST_F(ReportPageTest, SortsAndFiltersNumbersThatAreNotFinite) {
  run(R"yaml(name: found
outpath: runs
parameterset: {name: p, parameter: {v: [nan, 5, inf, 20, none, -inf]}}
step: {name: go, use: p, do: echo found=$v}
patternset: {name: o, pattern: {name: found, type: float, _: 'found=(nan|inf|-inf|\d+)'}}
analyser: {name: a, use: o, analyse: {step: go, file: stdout}}
result: {use: a, table: {name: t, column: [v, found]}}
)yaml");
  report({"runs"});
  EXPECT_EQ(strip(browse("report.html",
                         {"window.found = () => [...document.querySelectorAll('#tables tbody "
                          "tr')].map((row) => row.firstChild.textContent).join(); "
                          "window.head = document.querySelectorAll('#tables th button')[1]; "
                          "head.click(); found()",
                          "head.click(); found()",
                          "window.input = document.querySelector('#tables input'); input.value = "
                          "'found>5'; input.dispatchEvent(new Event('input')); found()"})),
            R"({"errors":[],"requests":[],"values":["-inf,5,20,inf,nan,none",)"
            R"("inf,20,5,-inf,nan,none","inf,20"]})");
}

TEST_F(ReportPageTest, FitsANarrowScreenAndFollowsThePreferredTheme) {
  run(training, 1);
  report({"runs"});
  EXPECT_EQ(strip(browse("report.html",
                         {"--width", "400", "--dark", "document.documentElement.dataset.theme",
                          "document.documentElement.scrollWidth", charts_with_marks})),
            R"({"errors":[],"requests":[],"values":["dark",400,2]})");
}

TEST_F(ReportPageTest, ShowsPowerOverTimeWithRegions) {
  run(measured);
  EXPECT_THAT(report({"runs"}), HasSubstr("1 figure, "));
  EXPECT_EQ(strip(browse("report.html",
                         {"document.querySelector('#figures h3').textContent",
                          "document.querySelectorAll('.chart .mark-rect path').length",
                          "document.querySelectorAll('.chart .mark-line path').length",
                          "[...document.querySelectorAll('.role-legend-label text')].map((text) => "
                          "text.textContent).sort().join()"})),
            R"({"errors":[],"requests":[],"values":["power over time",1,1,"load,mock:constant"]})");
  // As with a meter on each node; and the regions are in the data, too.
  const auto work = here_.path() / "runs/000000/000000_train/work";
  std::filesystem::copy_file(work / "power.csv", work / "power.n2.csv");
  std::filesystem::rename(work / "power.csv", work / "power.n1.csv");
  std::filesystem::rename(work / "region_times.csv", work / "region_times.n1.csv");
  report({"runs", "--output", "nodes.html"});
  const std::string nodes =
      browse("nodes.html",
             {"[...document.querySelectorAll('.role-legend-label text')].map((text) => "
              "text.textContent).sort().join()",
              "URL.createObjectURL = (blob) => { window.saved = blob; return '#'; }; "
              "document.querySelector('figcaption button').click(); saved.text().then((text) => "
              "text.split('\\r\\n').some((line) => line.endsWith(',load')))"});
  EXPECT_THAT(nodes, HasSubstr(R"(["load,n1: mock:constant,n2: mock:constant",true])"));
}

TEST_F(ReportPageTest, PowerOfANodeFromAModelIsMarkedAsEstimated) {
  run(measured);
  const std::string work = "runs/000000/000000_train/work/";
  here_.write(work + "power.n1.csv",
              replace_all(here_.read(work + "power.csv"), "mock:constant", "model:cpu"));
  std::filesystem::remove(here_.path() / work / "power.csv");
  report({"runs"});
  EXPECT_THAT(
      browse("report.html",
             {"document.querySelector('#figures').textContent.includes('estimated: from')"}),
      HasSubstr("[true]"));
}

TEST_F(ReportPageTest, SaysWhichFilesAreDamaged) {
  run(measured);
  here_.write("runs/000000/000000_train/work/region_times.csv", "region,\"begin\n");
  report({"runs"});
  EXPECT_THAT(
      browse("report.html",
             {"[...document.querySelectorAll('dd, .note')].map((one) => one.textContent)"
              ".filter((text) => text.includes('region_times.csv')).join('|')"}),
      HasSubstr("[\"000000_train/work/region_times.csv: line 1: this quote is never closed; it is "
                "left out|000000_train/work/region_times.csv: line 1: this quote is never closed; "
                "it is left out\"]"));
}

/// Contrast of each text in a heatmap with its cell (WCAG 2.2, section 1.4.3): how many
/// there are, and whether the least is enough.
constexpr const char* contrasts_of_cells = R"js((() => {
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).map((one) => one / 255).map((one) =>
      one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const cells = [...document.querySelectorAll(".chart .mark-rect.role-mark path")].map((cell) =>
    [cell.getBoundingClientRect(), getComputedStyle(cell).fill]);
  const ratios = [...document.querySelectorAll(".chart .mark-text.role-mark text")].map((text) => {
    const box = text.getBoundingClientRect();
    const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
    const [, back] = cells.find(([cell]) =>
      cell.left <= x && x <= cell.right && cell.top <= y && y <= cell.bottom);
    const [low, high] = [back, getComputedStyle(text).fill].map(luminance).sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  });
  return [ratios.length, Math.min(...ratios) >= 4.5].join();
})())js";

/// 224 levels of the colour scale, and a cell that ran out of memory.
TEST_F(ReportPageTest, TextsInCellsAreReadableOnEveryColour) {
  run(R"yaml(name: levels
outpath: runs
parameterset:
  name: p
  parameter: [{device: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]}, {batch: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]}]
step:
  name: s
  use: p
  do: 'test $device$batch != 1515 || { echo result=oom; exit 3; }; echo value=$(($device * 15 + $batch))'
patternset: {name: o, pattern: {name: value, type: int, _: value=$jube_pat_int}}
analyser: {name: a, use: o, analyse: {step: s, file: stdout}}
result: {use: a, table: {name: t, column: [device, batch, value]}, figure: {x: batch, y: value, row: device, mark: heatmap}}
)yaml",
      1);
  report({"runs"});
  EXPECT_EQ(strip(browse("report.html", {contrasts_of_cells,
                                         "document.getElementById('theme')"
                                         ".click()",
                                         contrasts_of_cells})),
            R"({"errors":[],"requests":[],"values":["225,true",null,"225,true"]})");
}

TEST_F(ReportPageTest, ExecutesNothingOfARun) {
  run(R"(name: hostile
outpath: runs
comment: </script><script>window.hacked = 1</script>
parameterset:
  name: p
  parameter:
    - {name: word, separator: ";", _: "<img src=x onerror='window.hacked = 2'>;</script>;datum.c0"}
    - {name: n, type: int, _: "1,2,3"}
step: {name: s, use: p, do: echo value=$n}
patternset: {name: o, pattern: {name: value, type: int, _: value=$jube_pat_int}}
analyser: {name: a, use: o, analyse: {step: s, file: stdout}}
result: {use: a, table: {name: "t", column: [word, n, value]}}
)");
  report({"runs", "--title", "<b>title</b>"});
  EXPECT_EQ(strip(browse("report.html",
                         {"typeof window.hacked", "document.querySelectorAll('img, h1 b').length",
                          "document.querySelector('h1').textContent",
                          "document.querySelector('.comment').textContent.startsWith('</script>')",
                          "document.querySelector('#tables td').textContent.startsWith('<img')",
                          // The policy refuses what gets into the page anyway.
                          "document.body.append(Object.assign(document.createElement('script'), "
                          "{textContent: 'window.hacked = 3'})); typeof window.hacked"}))
                .substr(0, 21),
            R"({"errors":["Executing)");
  const std::string shown = browse(
      "report.html", {"typeof window.hacked", "document.querySelectorAll('img, h1 b').length",
                      "document.querySelector('h1').textContent",
                      "document.querySelector('.comment').textContent.startsWith('</script>')",
                      "document.querySelector('#tables td').textContent.startsWith('<img')"});
  EXPECT_EQ(strip(shown), R"({"errors":[],"requests":[],"values":)"
                          R"(["undefined",0,"<b>title</b>",true,true]})");
}

/// Runs of different outpaths are compared, not pooled; neither are those of one name.
TEST_F(ReportPageTest, RunsWithoutTablesAreToldApart) {
  const std::string whole = training;
  run(whole.substr(0, whole.find("result: {use")), 1);
  for (const char* copy : {"a/runs", "b/runs", "other"}) {
    make_directories((here_.path() / copy).parent_path());
    fs::copy(here_.path() / "runs", here_.path() / copy,
             fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  }
  report({"a/runs", "b/runs", "other"});
  EXPECT_EQ(
      strip(browse(
          "report.html",
          {"[...new Set([...document.querySelectorAll('.role-legend-label text')].map((text) => "
           "text.textContent).filter((text) => /[a-z]/.test(text)))].join()",
           "document.querySelectorAll('#figures .note').length",
           "[...new Set([...document.querySelectorAll('#failures tbody td:first-"
           "child')].map((run) => run.textContent))].join()"})),
      R"({"errors":[],"requests":[],"values":)"
      R"(["runs,runs (2),other",0,)"
      R"("runs/000000,runs/000000 (2),other/000000"]})");
}

/// The page finds its own data, and an SVG file is XML.
TEST_F(ReportPageTest, OddNamesBreakNothing) {
  run(R"yaml(name: odd
outpath: runs
parameterset:
  name: p
  parameter: [{n: [1, 2, 3]}, {name: odd, mode: shell, _: "printf 'x\\001\\377%s' $n"}]
step: {name: s, use: p, do: echo value=$n}
patternset: {name: o, pattern: {name: value, type: int, _: value=$jube_pat_int}}
analyser: {name: a, use: o, analyse: {step: s, file: stdout}}
result:
  use: a
  table: {name: tables, column: [odd, n, value]}
  figure: {title: content, x: odd, y: value, mark: bar}
)yaml");
  report({"runs"});
  EXPECT_EQ(strip(browse("report.html", {charts_with_marks,
                                         "document.querySelectorAll('#tables "
                                         "tbody tr').length"})),
            R"({"errors":[],"requests":[],"values":[1,3]})");
  report({"runs", "--figures", "figures"});
  EXPECT_THAT(here_.read("figures/tables-content.svg"),
              AllOf(HasSubstr("\xef\xbf\xbd"), Not(HasSubstr("\x01"))));
}

/// Headings break, so that columns stay on the paper.
TEST_F(ReportPageTest, PaperSaysHowManyRowsItShows) {
  std::string input = training;
  for (const char* name : {"precision", "batch_size"})
    for (std::size_t at = 0; (at = input.find(name, at)) != std::string::npos;) {
      const std::string longer =
          std::string(name) + "_of_a_name_that_is_too_long_for_a_heading_on_paper";
      input.replace(at, std::string(name).size(), longer);
      at += longer.size();
    }
  run(input, 1);
  report({"runs"});
  const std::vector<std::string> look{
      "window.note = document.querySelector('#tables .only-print'); "
      "getComputedStyle(note).display",
      "window.input = document.querySelector('#tables input'); input.value = 'fp16'; "
      "input.dispatchEvent(new Event('input')); [getComputedStyle(note).display, "
      "note.textContent].join()",
      "window.scroll_box = document.querySelector('#tables .scroll'); scroll_box.scrollWidth <= "
      "scroll_box.clientWidth"};
  std::vector<std::string> on_paper{"--width", "700", "--print"};
  on_paper.insert(on_paper.end(), look.begin(), look.end());
  EXPECT_EQ(strip(browse("report.html", on_paper)),
            R"({"errors":[],"requests":[],"values":["none","block,3 of 6 rows",true]})");
}

}  // namespace
}  // namespace bench::end_to_end
