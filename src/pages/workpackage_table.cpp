#include "workpackage_table.hpp"

#include "html.hpp"
#include "pages.hpp"
#include "run_content.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/value.hpp>
#include <bench/pages/site.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::serve {
namespace {

using result::Cell;
using tabulate::TidyColumn;
using tabulate::TidyTable;
using workspace::Workpackage;

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

}  // namespace

Selection::Selection(const PageRequest& request)
    : state(parameter_of(request, "state")), from(count_of(request, "from")) {}

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

std::string cell_html(const Cell& cell) {
  if (!cell.value)
    return cell.absent_reason.empty()
               ? ""
               : fmt::format("<span class=\"absent\" title=\"{}\">n/a</span>",
                             html_text(cell.absent_reason));
  if (const double* real = std::get_if<double>(&*cell.value))
    return fmt::format("<span title=\"{}\">{:.6g}{}</span>", to_text(*cell.value), *real,
                       cell.estimated ? " (estimated)" : "");
  constexpr std::size_t longest = 120;
  const std::string text = to_text(*cell.value);
  const std::string estimated = cell.estimated ? " (estimated)" : "";
  if (text.size() <= longest)
    return html_text(text + estimated);
  return fmt::format("<span title=\"{}\">{}…</span>", html_text(text.substr(0, 10 * longest)),
                     html_text(text.substr(0, longest)));
}

std::string workpackage_table(const RunContent& content, const std::string& run_name,
                              const Selected& shown) {
  const TidyTable& tidy = content.tidy();
  const std::vector<std::size_t> columns = columns_of(tidy, shown);
  std::string html = "<div class=\"wide\"><table>\n<thead><tr><th>workpackage</th><th>state</th>";
  for (const std::size_t column : columns) {
    const result::Heading& heading = tidy.table.headings[column];
    html += fmt::format(
        "<th>{}</th>",
        html_text(heading.title + (heading.unit.empty() ? "" : "[" + heading.unit + "]")));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t row = 0; row < shown.positions.size(); ++row) {
    const Workpackage& one = content.view().all()[shown.positions[row]];
    html += fmt::format(
        "<tr><th>{}</th><td>{}</td>",
        link(address("workpackage", {{"name", run_name}, {"id", std::to_string(one.id)}}),
             std::to_string(one.id)),
        badge(name_of(one.state), fmt::format("workpackages.{}.state", row)));
    for (const std::size_t column : columns) {
      const Cell& cell = tidy.table.rows[shown.positions[row]][column];
      html += fmt::format("<td{}>{}</td>", is_number(cell) ? " class=\"n\"" : "", cell_html(cell));
    }
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace bench::serve
