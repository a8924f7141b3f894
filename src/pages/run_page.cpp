#include "html.hpp"
#include "pages.hpp"
#include "report_sheet.hpp"
#include "run_content.hpp"
#include "run_files.hpp"
#include "run_index.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/diagnostics.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/base/value.hpp>
#include <bench/cli/output/output.hpp>
#include <bench/pages/page.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/workspace/workpackage.hpp>
#include <bench/workspace/workspace.hpp>

namespace bench::pages {
namespace {

using results::Cell;
using results::TidyColumn;
using results::TidyTable;
using workspace::Workpackage;
using workspace::Workspace;

/// Selects the workpackages of a run that a page shows.
struct Selection {
  std::string run;
  std::string state;  ///< Empty: any.
  std::size_t from = 0;

  explicit Selection(const PageRequest& request)
      : run(parameter_of(request, "name")),
        state(parameter_of(request, "state")),
        from(count_of(request, "from")) {}

  /// Of an address that shows the same, from the first one on.
  Parameters parameters() const {
    Parameters all{{"name", run}};
    if (!state.empty())
      all.emplace_back("state", state);
    return all;
  }

  static constexpr std::size_t rows_per_page = 200;
};

/// Positions of the shown workpackages, ascending.
struct Selected {
  std::vector<std::size_t> positions;
  std::size_t all = 0;  ///< Including other pages.
};

Selected selected(const std::vector<Workpackage>& workpackages, const Selection& selection) {
  Selected shown;
  for (std::size_t position = 0; position < workpackages.size(); ++position) {
    if (!selection.state.empty() && name_of(workpackages[position].state) != selection.state)
      continue;
    if (shown.all >= selection.from && shown.positions.size() < Selection::rows_per_page)
      shown.positions.push_back(position);
    ++shown.all;
  }
  return shown;
}

/// They take a second of a processor, which what is measured here might lack.
bool may_have_figures(const std::string& state) {
  return state != "running";
}

/// Changes when the page must be rebuilt; texts alone are updated in place.
std::string version_of(const RunSummary& run, const std::string& state) {
  const workspace::StepCounts counts = run.counts();
  return fmt::format("{}-{}-{}-{}-{}", run.steps.size(), counts.all(), counts.ended(),
                     may_have_figures(state), is_final(state) ? stamp_of(run.directory.path) : "");
}

std::string facts_html(const RunSummary& run, const RunContent& content) {
  std::string html = "<dl class=\"card\">\n";
  for (const auto& [name, text] : facts_of(content.run(), run.last_change))
    html += fact(name, text);
  return html + "</dl>\n";
}

std::string steps_html(const RunSummary& run) {
  std::string rows;
  for (std::size_t k = 0; k < run.steps.size(); ++k)
    rows += fmt::format("<tr><th>{}</th><td>{}</td></tr>\n", html_text(run.steps[k].step),
                        progress_bar(run.steps[k], fmt::format("steps.{}", k)));
  return table_html("", rows);
}

/// bench's own logs of the run.
std::string logs_html(const RunSummary& run) {
  std::string html;
  for (const std::string& name : cli::log_names()) {
    const std::string file = name + ".log";
    if (const UniqueFd fd = open_in_run(run.directory.path, file); fd.valid())
      html += fmt::format("<li>{} {}</li>\n", link_to_file(run, file), size_text(bytes_of(fd)));
  }
  return html.empty() ? "" : "<h2>Logs</h2>\n<ul>\n" + html + "</ul>\n";
}

/// A form to compare the run with another one of its outpath.
std::string comparison_form(PageContext& context, const RunSummary& run) {
  std::string choices;
  for (const auto& other : context.index.all())
    if (other->outpath() == run.outpath() && other->name != run.name && other->unreadable.empty())
      choices += fmt::format("<option>{}</option>\n", html_text(other->name));
  if (choices.empty())
    return "";
  return fmt::format(
      "<form action=\"compare\">\n<label>Compare <select name=\"a\">\n{}</select></label> with "
      "this run <input type=\"hidden\" name=\"b\" value=\"{}\"><button>Compare</button>\n</form>\n",
      choices, html_text(run.name));
}

std::string state_filter(const RunSummary& run, const Selection& selection) {
  std::string html;
  const auto add = [&](const std::string& word, const std::string& state) {
    Selection other = selection;
    other.state = state;
    html += (state == selection.state ? fmt::format("<b>{}</b>", word)
                                      : link(address("run", other.parameters()), word)) +
            " ";
  };
  add("all", "");
  const workspace::StepCounts counts = run.counts();
  for (const workspace::State state : workspace::all_states)
    if (counts.of(state) > 0)
      add(std::string(name_of(state)), std::string(name_of(state)));
  return "<p>" + html + "</p>\n";
}

constexpr std::size_t most_columns = 60;

/// A selection of the meter's many figures; the page of a workpackage has all.
constexpr std::array<std::string_view, 4> main_figures{"energy_wh", "power_mean_w", "power_max_w",
                                                       "duration_s"};

/// Parameters, results and figures that have a value in any shown row, in the order of the table.
std::vector<std::size_t> columns_of(const TidyTable& tidy, const Selected& shown) {
  std::vector<std::size_t> columns;
  for (std::size_t column = 0; column < tidy.columns.size(); ++column) {
    const std::string& title = tidy.table.headings[column].title;
    const TidyColumn kind = tidy.columns[column];
    const bool is_wanted =
        kind == TidyColumn::parameter || kind == TidyColumn::finding ||
        (kind == TidyColumn::meter &&
         std::ranges::find(main_figures, title) != main_figures.end()) ||
        (kind == TidyColumn::origin && (title == "step" || title == "iteration")) ||
        (kind == TidyColumn::end && (title == "run_time" || title == "host" || title == "reason"));
    const bool has_something = std::ranges::any_of(shown.positions, [&](std::size_t position) {
      const Cell& cell = tidy.table.rows[position][column];
      const bool is_first_of_one = title == "iteration" && cell.value == Value(0LL);
      return (cell.value && !is_first_of_one) || !cell.absent_reason.empty();
    });
    if (is_wanted && has_something && columns.size() < most_columns)
      columns.push_back(column);
  }
  return columns;
}

bool is_number(const Cell& cell) {
  return cell.value && !std::holds_alternative<std::string>(*cell.value);
}

/// A row for each selected workpackage: state, parameters, results, energies.
/// @param run_name for links
std::string workpackage_table(const RunContent& content, const std::string& run_name,
                              const Selected& shown) {
  const TidyTable& tidy = content.tidy();
  const std::vector<std::size_t> columns = columns_of(tidy, shown);
  std::vector<std::string> headings{"workpackage", "state"};
  for (const std::size_t column : columns) {
    const results::Heading& heading = tidy.table.headings[column];
    headings.push_back(heading.title + (heading.unit.empty() ? "" : "[" + heading.unit + "]"));
  }
  std::string rows;
  for (std::size_t row = 0; row < shown.positions.size(); ++row) {
    const Workpackage& one = content.view().all()[shown.positions[row]];
    rows += fmt::format(
        "<tr><th>{}</th><td>{}</td>",
        link(address("workpackage", {{"name", run_name}, {"id", std::to_string(one.id)}}),
             std::to_string(one.id)),
        badge(name_of(one.state), fmt::format("workpackages.{}.state", row)));
    for (const std::size_t column : columns) {
      const Cell& cell = tidy.table.rows[shown.positions[row]][column];
      rows += fmt::format("<td{}>{}</td>", is_number(cell) ? " class=\"n\"" : "", cell_html(cell));
    }
    rows += "</tr>\n";
  }
  return table_html(cells_html("th", headings), rows);
}

}  // namespace

PageResponse run_page(PageContext& context, const RunSummary& run, const PageRequest& request) {
  const Selection selection(request);
  const std::string state = state_of(run);
  const auto content = context.contents.read(run.directory);
  const Selected shown = selected(content->view().all(), selection);
  std::string body = fmt::format(
      "<h1>{} <small>{}</small> {} {}</h1>\n<p>{}</p>\n", html_text(run.benchmark),
      html_text(run.name), badge(state, "state"), live_text(elapsed_text(run, state), "elapsed"),
      progress_bar(run.counts(), "counts"));
  if (run.steps.size() > 1)
    body += steps_html(run);
  body += facts_html(run, *content);
  body += fmt::format("<p>{} {}</p>\n", link(address("tables", {{"name", run.name}}), "Tables"),
                      link(address("report", {{"name", run.name}}), "Report"));
  body += comparison_form(context, run);
  if (may_have_figures(state) && !content->is_large())
    body += figures_place("Figures", address("figures", {{"name", run.name}}));
  body += "<h2>Workpackages</h2>\n" + state_filter(run, selection);
  if (!content->is_analysed())
    body += unanalysed_note(run);
  body +=
      workpackage_table(*content, run.name, shown) +
      pager("run", selection.parameters(), {selection.from, Selection::rows_per_page, shown.all}) +
      logs_html(run);
  return {.content = page(run.name, {link_to_runs()}, body,
                          {address("news/run", starting_at(selection.from, selection.parameters())),
                           version_of(run, state)})};
}

PageResponse run_news(PageContext&, const RunSummary& run, const PageRequest& request) {
  const std::string state = state_of(run);
  nlohmann::json news{{"name", run.name},
                      {"version", version_of(run, state)},
                      {"state", state},
                      {"elapsed", elapsed_text(run, state)},
                      {"counts", json_of(run.counts())},
                      {"steps", nlohmann::json::array()},
                      {"workpackages", nlohmann::json::array()}};
  for (const workspace::StepCounts& step : run.steps) {
    nlohmann::json one = json_of(step);
    one["step"] = step.step;
    news["steps"].push_back(std::move(one));
  }
  const Workspace workspace = Workspace::open(run.directory.path, Workspace::Access::read);
  const auto workpackages = workspace.workpackages();
  for (const std::size_t position : selected(workpackages, Selection(request)).positions) {
    const Workpackage& one = workpackages[position];
    news["workpackages"].push_back(
        {{"id", one.id}, {"step", one.step}, {"state", name_of(one.state)}});
  }
  return json_answer(text_of(news));
}

PageResponse report_page(PageContext& context, const RunSummary& run, const PageRequest&) {
  const auto content = context.contents.read(run.directory);
  return {.content = *context.reports.page(run.directory, *content), .is_document = true};
}

PageResponse tables_page(PageContext& context, const RunSummary& run, const PageRequest&) {
  constexpr std::size_t most_rows = 2000;
  const Workspace workspace = Workspace::open(run.directory.path, Workspace::Access::read);
  Diagnostics diagnostics;
  std::vector<results::Table> tables =
      tables_of(*context.contents.read(run.directory), workspace, diagnostics);
  std::string body = fmt::format("<h1>Tables of {}</h1>\n", html_text(run.name));
  for (results::Table& table : tables) {
    std::vector<std::string> notes = results::notes_of(table);
    std::ranges::move(results::notes_of_spreads(table), std::back_inserter(notes));
    if (const std::size_t rows = table.rows.size(); rows > most_rows) {
      notes.push_back(
          fmt::format("the first {} of {} rows; `bench result` shows all", most_rows, rows));
      table.rows.resize(most_rows);
      table.sources.resize(std::min(table.sources.size(), most_rows));
    }
    body += "<div class=\"scroll\">" + results::html_table(table) + "</div>\n";
    for (const std::string& text : notes)
      body += note(text);
  }
  if (tables.empty())
    body += "<p>The benchmark has no table.</p>\n";
  for (const Warning& warning : diagnostics.warnings())
    body += note(warning.message);
  return {.content = page("tables", {link_to_runs(), link_to_run(run)}, body)};
}

}  // namespace bench::pages
