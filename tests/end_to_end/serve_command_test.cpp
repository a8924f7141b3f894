// `bench serve`: what its pages show, over HTTP.
#include "browser.hpp"
#include "end_to_end/bench_program.hpp"
#include "serve_fixture.hpp"
#include "support/eventually.hpp"
#include "support/report_library.hpp"

#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gmock/gmock.h>

#include <bench/base/process.hpp>

namespace bench::end_to_end {
namespace {

using support::eventually;
using testing::AllOf;
using testing::ContainsRegex;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST_F(ServeTest, ItsAddressIsTheOnlyLineOfItsOutput) {
  serve();
  EXPECT_EQ(here_.read("address"),
            fmt::format("http://127.0.0.1:{}{}?token={}\n", port_, place_, token_));
  EXPECT_TRUE(eventually([&] { return here_.read("told").find("Ctrl-C") != std::string::npos; }));
}

TEST_F(ServeTest, AnEmptyDirectoryHasAPageToo) {
  serve();
  EXPECT_THAT(content_of(""), HasSubstr("There are no runs yet."));
  EXPECT_THAT(content_of("news/runs"), HasSubstr("\"runs\":[]"));
}

TEST_F(ServeTest, ListsRunsByOutpath) {
  here_.write("small.yaml", small_sweep());
  here_.bench({"run", "small.yaml", "-o", "a", "-m", "first"});
  here_.bench({"run", "small.yaml", "-o", "a", "-m", "second"});
  here_.bench({"run", "small.yaml", "-o", "b/c"});
  serve();
  const std::string page = content_of("");
  EXPECT_THAT(page, AllOf(ContainsRegex("<h2>a</h2>(.|\n)*second(.|\n)*first(.|\n)*<h2>b/c</h2>"),
                          HasSubstr("href=\"run?name=a%2F000001\""), HasSubstr("6 done")));
  EXPECT_THAT(content_of("?sort=comment&order=up"),
              ContainsRegex("first(.|\n)*second(.|\n)*<h2>b/c</h2>"));
  EXPECT_THAT(content_of("news/runs"),
              AllOf(HasSubstr("\"name\":\"b/c/000000\""), HasSubstr("\"state\":\"finished\"")));
}

TEST_F(ServeTest, ShowsARunAndItsTables) {
  run_hostile_benchmark();
  serve({"runs"});
  EXPECT_THAT(content_of("run?name=000000"),
              AllOf(HasSubstr("<h1>hostile <small>000000</small>"),
                    HasSubstr("data-state=\"failed\""), HasSubstr("<th>speed[it/s]</th>"),
                    HasSubstr("command 1 of 1: exit code 1"), HasSubstr("run.log")));
  EXPECT_THAT(content_of("run?name=000000&state=failed"),
              AllOf(HasSubstr("id=2\">2</a>"), Not(HasSubstr("id=1\">1</a>"))));
  EXPECT_THAT(content_of("tables?name=000000"), HasSubstr("[it/s]</th>"));
  EXPECT_THAT(content_of("news/run?name=000000"),
              AllOf(HasSubstr("\"failed\":1"), HasSubstr("\"workpackages\":[{\"id\":0,")));
}

TEST_F(ServeTest, ShowsAWorkpackageWithItsOutputFilesAndPower) {
  run_hostile_benchmark();
  serve({"runs"});
  EXPECT_THAT(content_of("workpackage?name=000000&id=2"),
              AllOf(HasSubstr("Workpackage 2"), HasSubstr("<dd>command 1 of 1: exit code 1"),
                    HasSubstr("<h3>000002_s/work/stdout"), HasSubstr(">speed=3 &lt;script"),
                    HasSubstr("<h3>000002_s/work/stderr"),
                    HasSubstr("download?name=000000&amp;path=000002_s%2Fwork%2Fstdout")));
  EXPECT_THAT(content_of("workpackage?name=000000&id=4"),
              HasSubstr("data-figures=\"figures?name=000000&amp;id=4\""));
  EXPECT_THAT(content_of("figures?name=000000&id=4"),
              AllOf(HasSubstr("\"title\":\"power over time\""), HasSubstr("power [W]: from 50 "),
                    HasSubstr(" to 100 "), EndsWith("\"notes\":[]}")));
  EXPECT_EQ(content_of("figures?name=000000&id=0"), R"({"figures":[],"notes":[]})");
  EXPECT_THAT(content_of("news/workpackage?name=000000&id=2"), HasSubstr("\"text\":\"speed=3"));
  EXPECT_EQ(get("workpackage?name=000000&id=5").status, 404);
  EXPECT_EQ(get("workpackage?name=000000&id=x").status, 404);
  EXPECT_EQ(get("figures?name=000000&id=x").status, 404);
}

TEST_F(ServeTest, SaysWhichFilesOfTheMeterAreDamaged) {
  run_hostile_benchmark();
  const std::string work = "runs/000000/000004_t/work/";
  here_.write(work + "power.csv", "time_s,a_w\n0,50\n1,70\n2\n3,90\n");
  here_.write(work + "region_times.csv", "region,begin_s,end_s\nload,0\n");
  here_.write(work + "regions.csv", "region,\"count\n");
  serve({"runs"});
  EXPECT_THAT(content_of("workpackage?name=000000&id=4"),
              HasSubstr("<p class=\"note\">000004_t/work/regions.csv: line 1: "));
  EXPECT_THAT(content_of("figures?name=000000&id=4"),
              AllOf(HasSubstr("power [W]: from 50 "), HasSubstr(" to 70 "),
                    HasSubstr("\"notes\":[\"000004_t/work/power.csv: line 4: "),
                    HasSubstr("\"000004_t/work/region_times.csv: line 2: ")));
}

/// As a report does, under a policy that allows no style in an attribute.
TEST_F(ServeTest, DrawsTheFiguresOfARunAndThePowerOfAWorkpackage) {
  if (!has_browser() || !support::has_report_library(BUILD_DIRECTORY))
    GTEST_SKIP() << "chromium, node or Vega is missing";
  run_hostile_benchmark();
  here_.write("runs/000000/000004_t/work/region_times.csv", "region,begin_s,end_s\n<b>,0,0.5\n");
  serve();
  const auto shown = [&](const std::string& page) {
    const std::string site = fmt::format("http://127.0.0.1:{}{}", port_, place_);
    return browse(site + page,
                  {"--first", site + "?token=" + token_,
                   "document.querySelector('[data-figures] h2').textContent",
                   "document.querySelectorAll('.chart').length",
                   "document.querySelectorAll('.chart .mark-symbol path').length > 0",
                   "[...document.querySelectorAll('.role-legend-label text')].map((text) => "
                   "text.textContent).sort().join()"});
  };
  EXPECT_THAT(shown("run?name=runs/000000"),
              AllOf(StartsWith("{\"errors\":[],"), HasSubstr("[\"Figures\",1,true,\"\"]")));
  EXPECT_THAT(shown("workpackage?name=runs/000000&id=4"),
              AllOf(StartsWith("{\"errors\":[],"),
                    HasSubstr(fmt::format("[\"Power\",1,true,\"<b>,{}\"]", hostile_text))));
}

TEST_F(ServeTest, AFileIsShownOrSaved) {
  run_hostile_benchmark();
  serve({"runs"});
  EXPECT_THAT(content_of("file?name=000000&path=run.log"), HasSubstr("<pre class=\"file\">["));
  const HttpAnswer file = get("download?name=000000&path=run.log");
  EXPECT_EQ(file.content, here_.read("runs/000000/run.log"));
  EXPECT_THAT(file.head, AllOf(HasSubstr("Content-Type: text/plain; charset=utf-8\r\n"),
                               HasSubstr("Content-Disposition: attachment; filename=\"run.log\"")));
  EXPECT_EQ(content_of("download?name=000000&path=000004_t/work/stderr"), "");
}

TEST_F(ServeTest, ComparesTwoRunsAsTheCommandDoes) {
  here_.write("small.yaml", small_sweep());
  here_.bench({"run", "small.yaml", "-r"});
  here_.bench({"run", "small.yaml", "-r"});
  serve();
  EXPECT_THAT(content_of("compare?a=runs/000000&b=runs/000001&margin=2"),
              AllOf(HasSubstr("<td>too few runs</td>"),
                    HasSubstr("3 too few runs; changes below 2 % do not count")));
  EXPECT_EQ(get("compare?a=runs/000000&b=runs/000000").status, 400);
  EXPECT_EQ(get("compare?a=runs/000000&b=runs/000001&margin=x").status, 400);
  EXPECT_EQ(get("compare?a=runs/000000&b=../000001").status, 404);
}

TEST_F(ServeTest, ShowsARunWhileItGoesOn) {
  here_.write("w.yaml",
              "name: w\noutpath: runs\nstep: {name: s, iterations: 2, do: 'echo begun; while ! "
              "test -e ../../../../go; do sleep 0.05; done'}\n");
  serve();
  Process run(here_.spec({"run", "w.yaml"}));
  EXPECT_TRUE(eventually([&] {
    return get("news/run?name=runs/000000").content.find("\"running\":1") != std::string::npos;
  }));
  EXPECT_THAT(content_of("news/runs"), HasSubstr("\"state\":\"running\""));
  EXPECT_TRUE(eventually([&] {
    return get("news/workpackage?name=runs/000000&id=0").content.find("begun") != std::string::npos;
  }));
  here_.write("go", "");
  EXPECT_TRUE(run.wait().success());
  EXPECT_THAT(content_of("news/run?name=runs/000000"),
              AllOf(HasSubstr("\"state\":\"finished\""), HasSubstr("\"done\":2")));
}

TEST_F(ServeTest, ARunThatCannotBeReadHidesNoOther) {
  run_hostile_benchmark();
  here_.write("runs/000001/workspace.db", "no database");
  serve();
  EXPECT_THAT(content_of(""), AllOf(HasSubstr("data-state=\"unreadable\""),
                                    HasSubstr("href=\"run?name=runs%2F000000\"")));
  const HttpAnswer answer = get("run?name=runs/000001");
  EXPECT_EQ(answer.status, 500);
  EXPECT_THAT(answer.content, HasSubstr("This page cannot be shown"));
}

TEST_F(ServeTest, WritesNothingIntoARun) {
  run_hostile_benchmark();
  const auto files = [&] {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(here_.path() / "runs"))
      all.push_back(fmt::format("{} {}", entry.path().string(),
                                entry.last_write_time().time_since_epoch().count()));
    return all;
  };
  serve();
  const auto before = files();
  for (const char* page : {"", "run?name=runs/000000", "tables?name=runs/000000",
                           "workpackage?name=runs/000000&id=0", "news/run?name=runs/000000"})
    content_of(page);
  EXPECT_EQ(files(), before);
}

TEST_F(ServeTest, WhatItCannotServeIsAnError) {
  serve();
  EXPECT_THAT(here_.text_of("serve", {"--port", std::to_string(port_)}, 1),
              AllOf(HasSubstr(fmt::format("error: cannot listen on port {} of 127.0.0.1: Address "
                                          "already in use\n",
                                          port_)),
                    HasSubstr("hint: choose another port")));
  EXPECT_THAT(here_.text_of("serve", {"absent"}, 1),
              HasSubstr("error: absent is not a directory\n"));
  EXPECT_THAT(here_.text_of("serve", {"--port", "70000"}, 2), HasSubstr("error: --port"));
}

}  // namespace
}  // namespace bench::end_to_end
