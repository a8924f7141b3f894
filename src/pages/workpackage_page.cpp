#include "html.hpp"
#include "meter_files.hpp"
#include "pages.hpp"
#include "power_figure.hpp"
#include "run_content.hpp"
#include "run_files.hpp"
#include "run_index.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/diagnostics.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>
#include <bench/base/unique_fd.hpp>
#include <bench/energy/program/csv.hpp>
#include <bench/insight/run_view.hpp>
#include <bench/pages/figure.hpp>
#include <bench/pages/page.hpp>
#include <bench/pages/report_page.hpp>
#include <bench/results/table.hpp>
#include <bench/results/tidy.hpp>
#include <bench/workspace/workpackage.hpp>

namespace bench::pages {
namespace {

namespace fs = std::filesystem;
using results::TidyColumn;
using workspace::Workpackage;

constexpr std::size_t tail_bytes = 16'384;

/// One workpackage of a run.
struct ShownWorkpackage {
  const RunSummary& run;
  const RunContent& content;
  const Workpackage& workpackage;

  std::size_t position() const {
    return static_cast<std::size_t>(&workpackage - content.view().all().data());
  }
};

/// Null if no workpackage has that number.
const Workpackage* asked_workpackage(const RunContent& content, const PageRequest& request) {
  const auto id = parse_integer(parameter_of(request, "id"));
  const auto& all = content.view().all();
  const auto found = std::ranges::lower_bound(all, id.value_or(-1), {}, &Workpackage::id);
  return found != all.end() && found->id == id ? &*found : nullptr;
}

PageResponse no_workpackage(const RunSummary& run, const PageRequest& request) {
  return refusal(404, "Not found",
                 fmt::format("{} has no workpackage {}.", run.name, parameter_of(request, "id")));
}

/// The output and the job script, by their paths below the run directory; files that the benchmark
/// writes elsewhere are not shown.
std::vector<std::string> tail_paths(const ShownWorkpackage& shown) {
  std::vector<std::string> paths;
  const fs::path& directory = shown.content.run().directory.path;
  if (!shown.workpackage.was_never_made())
    for (const bool standard_error : {false, true})
      for (const fs::path& file :
           shown.content.view().output_files(shown.workpackage, standard_error))
        if (is_written_below(directory, file))
          paths.push_back(file.lexically_relative(directory).generic_string());
  if (!shown.workpackage.directory.empty())
    paths.push_back(shown.workpackage.directory + "/job.sh");
  std::erase_if(paths, [&](const std::string& path) {
    return !open_in_run(shown.run.directory.path, path).valid();
  });
  return paths;
}

Tail read_tail(const RunSummary& run, const std::string& path) {
  const UniqueFd file = open_in_run(run.directory.path, path);
  return file.valid() ? tail_of(file, tail_bytes) : Tail{};
}

std::string version_of(const Workpackage& workpackage, const std::vector<std::string>& paths) {
  return fmt::format("{} {} {}", name_of(workpackage.state), workpackage.attempts,
                     join(paths, " "));
}

std::string link_to_whole(const RunSummary& run, const std::string& path) {
  return link(address("download", {{"name", run.name}, {"path", path}}), "whole file");
}

std::string attempt_facts(const ShownWorkpackage& shown) {
  const Workpackage& one = shown.workpackage;
  std::string html = "<dl class=\"card\">\n" + fact("step", one.step) +
                     fact("iteration", std::to_string(one.iteration)) + fact("reason", one.reason);
  if (one.attempts > 1)
    html += fact("attempts", std::to_string(one.attempts));
  if (const workspace::Attempt* attempt = shown.content.view().attempt(one.id)) {
    html += fact("host", attempt->host) + fact("job", attempt->job_id);
    if (attempt->started_unix_s)
      html += fact("started", local_time_at(*attempt->started_unix_s));
    if (attempt->ended_unix_s)
      html += fact("ended", local_time_at(*attempt->ended_unix_s));
    if (const auto run_time_s = attempt->run_time_s())
      html += fact("took", human_duration(*run_time_s));
    if (attempt->exit_code)
      html += fact("exit code", std::to_string(*attempt->exit_code));
  }
  return html + fact("directory", (shown.run.directory.path / one.directory).string()) + "</dl>\n";
}

/// The cells of some columns, one below the other.
template <class IsWanted>
std::string values_html(const ShownWorkpackage& shown, const char* title, IsWanted is_wanted) {
  const results::TidyTable& tidy = shown.content.tidy();
  std::string rows;
  for (std::size_t column = 0; column < tidy.columns.size(); ++column) {
    const results::Cell& cell = tidy.table.rows[shown.position()][column];
    if (!is_wanted(tidy.columns[column]) || (!cell.value && cell.absent_reason.empty()))
      continue;
    const results::Heading& heading = tidy.table.headings[column];
    rows += fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td></tr>\n", html_text(heading.title),
                        cell_html(cell),
                        cell.value ? html_text(heading.unit) : html_text(cell.absent_reason));
  }
  return rows.empty() ? "" : fmt::format("<h2>{}</h2>\n{}", title, table_html("", rows));
}

std::string tails_html(const ShownWorkpackage& shown, const std::vector<std::string>& paths) {
  std::string html = paths.empty() ? "" : "<h2>Output</h2>\n";
  for (std::size_t k = 0; k < paths.size(); ++k) {
    const Tail tail = read_tail(shown.run, paths[k]);
    html += fmt::format(
        "<h3>{} <small>{}{}, {}</small></h3>\n<pre data-live=\"tails.{}.text\">{}"
        "</pre>\n",
        html_text(paths[k]), tail.is_whole ? "" : "the end of ", size_text(tail.bytes),
        link_to_whole(shown.run, paths[k]), k, html_text(tail.text));
  }
  return html;
}

/// Those of the list that the meter has written.
std::vector<std::string> power_logs(const FileList& list) {
  std::vector<std::string> logs;
  for (const FileEntry& entry : list.files)
    if (is_power_log(entry.path))
      logs.push_back(entry.path);
  return logs;
}

/// The energies of the regions that the meter has written beside a log.
std::string regions_html(const ShownWorkpackage& shown, const std::string& log) {
  constexpr std::uintmax_t most_bytes = 1 << 20;
  const fs::path& run_directory = shown.run.directory.path;
  const fs::path file = run_directory / file_beside(log, "regions");
  std::string head;
  std::string rows;
  const auto damage =
      read_meter_file(run_directory, file, most_bytes, [&](const std::string& text) {
        for (const energy::CsvLine& line : energy::parse_csv(text, file))
          if (head.empty())
            head = cells_html("th", line.cells);
          else
            rows += "<tr>" + cells_html("td", line.cells) + "</tr>\n";
      });
  if (damage)
    return note(note_of(run_directory, *damage));
  return head.empty() ? "" : table_html(head, rows);
}

std::string power_html(const ShownWorkpackage& shown, const std::vector<std::string>& logs) {
  if (logs.empty())
    return "";
  std::string html = figures_place(
      "Power",
      address("figures", {{"name", shown.run.name}, {"id", std::to_string(shown.workpackage.id)}}));
  for (std::size_t k = 0; k < std::min(logs.size(), most_power_logs); ++k)
    html += regions_html(shown, logs[k]);
  return html;
}

std::string files_html(const ShownWorkpackage& shown, const FileList& list) {
  if (list.files.empty())
    return "";
  std::string rows;
  for (const FileEntry& entry : list.files)
    rows += fmt::format("<tr><td>{}</td><td class=\"n\">{}</td><td>{}</td></tr>\n",
                        link_to_file(shown.run, entry.path), size_text(entry.bytes),
                        link_to_whole(shown.run, entry.path));
  return "<h2>Files</h2>\n" + table_html("", rows) +
         (list.is_cut_short ? note("This list is incomplete: there are more files.") : "");
}

}  // namespace

PageResponse workpackage_page(PageContext& context, const RunSummary& run,
                              const PageRequest& request) {
  const auto content = context.contents.read(run.directory);
  const Workpackage* asked = asked_workpackage(*content, request);
  if (!asked)
    return no_workpackage(run, request);
  const ShownWorkpackage shown{run, *content, *asked};
  const Workpackage& one = shown.workpackage;
  const std::vector<std::string> paths = tail_paths(shown);
  const FileList list = files_in_run(run.directory.path, one.directory);
  const auto of = [](TidyColumn wanted) {
    return [wanted](TidyColumn kind) { return kind == wanted; };
  };
  const std::string body =
      fmt::format("<h1>Workpackage {} {}</h1>\n", one.id, badge(name_of(one.state), "state")) +
      attempt_facts(shown) + values_html(shown, "Parameters", of(TidyColumn::parameter)) +
      values_html(shown, "Values", of(TidyColumn::finding)) + tails_html(shown, paths) +
      power_html(shown, power_logs(list)) + values_html(shown, "Meter", of(TidyColumn::meter)) +
      files_html(shown, list);
  const Parameters parameters{{"name", run.name}, {"id", std::to_string(one.id)}};
  return {.content = page(fmt::format("workpackage {}", one.id), {link_to_runs(), link_to_run(run)},
                          body, {address("news/workpackage", parameters), version_of(one, paths)})};
}

PageResponse workpackage_news(PageContext& context, const RunSummary& run,
                              const PageRequest& request) {
  const auto content = context.contents.read(run.directory);
  const Workpackage* asked = asked_workpackage(*content, request);
  if (!asked)
    return no_workpackage(run, request);
  const ShownWorkpackage shown{run, *content, *asked};
  const std::vector<std::string> paths = tail_paths(shown);
  nlohmann::json tails = nlohmann::json::array();
  for (const std::string& path : paths)
    tails.push_back({{"path", path}, {"text", with_visible_controls(read_tail(run, path).text)}});
  return json_answer(text_of({{"id", shown.workpackage.id},
                              {"step", shown.workpackage.step},
                              {"state", name_of(shown.workpackage.state)},
                              {"version", version_of(shown.workpackage, paths)},
                              {"tails", tails}}));
}

PageResponse figures_page(PageContext& context, const RunSummary& run, const PageRequest& request) {
  const auto content = context.contents.read(run.directory);
  if (!request.parameters.contains("id"))
    return json_answer(*context.reports.figures(run.directory, *content));
  const Workpackage* asked = asked_workpackage(*content, request);
  if (!asked)
    return no_workpackage(run, request);
  const fs::path& directory = run.directory.path;
  const PowerFigure power =
      power_figure(directory, power_logs(files_in_run(directory, asked->directory)));
  std::vector<Figure> figures;
  std::vector<std::string> notes;
  if (power.figure)
    figures.push_back(*power.figure);
  for (const Warning& warning : power.warnings)
    notes.push_back(note_of(directory, warning));
  return json_answer(figures_of(figures, notes));
}

PageResponse file_page(PageContext&, const RunSummary& run, const PageRequest& request) {
  constexpr std::size_t shown_bytes = 1 << 18;
  const std::string path = parameter_of(request, "path");
  const UniqueFd file = open_in_run(run.directory.path, path);
  if (!file.valid())
    return refusal(404, "Not found", fmt::format("{} has no file {}.", run.name, path));
  const Tail tail = tail_of(file, shown_bytes);
  const std::string body =
      fmt::format("<h1>{}</h1>\n<p>{}{}, {}</p>\n<pre class=\"file\">{}</pre>\n", html_text(path),
                  tail.is_whole ? "" : "the end of ", size_text(tail.bytes),
                  link_to_whole(run, path), html_text(tail.text));
  return {.content = page(path, {link_to_runs(), link_to_run(run)}, body)};
}

PageResponse file_download(PageContext&, const RunSummary& run, const PageRequest& request) {
  const std::string path = parameter_of(request, "path");
  UniqueFd file = open_in_run(run.directory.path, path);
  if (!file.valid())
    return refusal(404, "Not found", fmt::format("{} has no file {}.", run.name, path));
  const std::uint64_t bytes = bytes_of(file);
  return {.type = "text/plain; charset=utf-8",
          .content = "",
          .download = std::make_shared<const Download>(
              Download{std::move(file), bytes, fs::path(path).filename().string()})};
}

}  // namespace bench::pages
