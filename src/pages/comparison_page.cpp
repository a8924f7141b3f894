#include "html.hpp"
#include "pages.hpp"
#include "run_content.hpp"
#include "run_index.hpp"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/cli/output/comparison_text.hpp>
#include <bench/insight/difference.hpp>
#include <bench/insight/run_comparison.hpp>
#include <bench/pages/page.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::pages {
namespace {

/// A run with its workspace open, as comparisons take it.
struct OpenRun {
  std::shared_ptr<const RunContent> content;
  workspace::Workspace workspace;

  OpenRun(PageContext& context, const RunSummary& run)
      : content(context.contents.read(run.directory)),
        workspace(
            workspace::Workspace::open(run.directory.path, workspace::Workspace::Access::read)) {}

  insight::Side side() const { return {content->run(), workspace, content->analyses()}; }
};

std::string rows_html(const cli::ShownComparison& shown) {
  std::string rows;
  for (const auto& row : shown.rows)
    rows += "<tr>" + cells_html("td", row) + "</tr>\n";
  return table_html(cells_html("th", shown.headings), rows);
}

std::string side_html(const char* letter, const RunSummary& run, const OpenRun& open) {
  std::string html =
      fmt::format("<dt>{}</dt><dd>{} ({}, started {})</dd>\n", letter, link_to_run(run),
                  html_text(run.benchmark), html_text(run.started));
  if (!open.content->is_analysed())
    html += "<dt></dt><dd>" + unanalysed_note(run) + "</dd>\n";
  return html;
}

std::string margin_form(const std::string& a, const std::string& b, double margin_percent) {
  return fmt::format(
      "<form action=\"compare\">\n<input type=\"hidden\" name=\"a\" value=\"{}\"><input "
      "type=\"hidden\" name=\"b\" value=\"{}\">\n<label>Changes below <input type=\"number\" "
      "name=\"margin\" min=\"0\" max=\"100\" step=\"any\" value=\"{:g}\"> % do not count</label> "
      "<button>Compare again</button>\n</form>\n",
      html_text(a), html_text(b), margin_percent);
}

}  // namespace

PageResponse comparison_page(PageContext& context, const PageRequest& request) {
  const std::string names[] = {parameter_of(request, "a"), parameter_of(request, "b")};
  if (names[0].empty() || names[1].empty() || names[0] == names[1])
    return refusal(400, "Nothing to compare", "Choose one run in column a and another one in b.");
  const auto a = context.index.find(names[0]);
  const auto b = context.index.find(names[1]);
  if (!a || !b)
    return refusal(404, "Not found", fmt::format("There is no run {}.", a ? names[1] : names[0]));
  const std::string wanted = parameter_of(request, "margin");
  const auto margin_percent = wanted.empty() ? 1.0 : parse_number(wanted);
  if (!margin_percent || !std::isfinite(*margin_percent) || *margin_percent < 0 ||
      *margin_percent > 100)
    return refusal(400, "Invalid margin", "The margin is a percentage from 0 to 100.");
  const OpenRun first(context, *a);
  const OpenRun second(context, *b);
  const double margin = *margin_percent / 100;
  const cli::ShownComparison shown =
      cli::shown_comparison(insight::compare_runs({.runs = {first.side()}},
                                                  {.runs = {second.side()}}, {.margin = margin}),
                            margin);
  std::string body = "<h1>Comparison</h1>\n<dl class=\"card\">\n" + side_html("a", *a, first) +
                     side_html("b", *b, second) + "</dl>\n" +
                     margin_form(names[0], names[1], *margin_percent);
  for (const std::string& condition : shown.conditions)
    body += note(condition);
  if (!shown.rows.empty())
    body += rows_html(shown);
  body += fmt::format("<p>{}</p>\n", html_text(shown.summary));
  for (const std::string& text : shown.notes)
    body += note(text);
  return {.content = page("comparison", {link_to_runs()}, body)};
}

}  // namespace bench::pages
