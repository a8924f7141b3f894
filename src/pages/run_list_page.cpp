#include "html.hpp"
#include "pages.hpp"
#include "run_index.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <bench/base/hash.hpp>
#include <bench/pages/page.hpp>

namespace bench::pages {
namespace {

constexpr std::size_t rows_per_page = 500;

struct Row {
  std::shared_ptr<const RunSummary> run;
  std::string state;
};

/// Sort keys within an outpath.
struct Order {
  std::string_view name;
  bool (*is_before)(const Row& a, const Row& b);
};

constexpr std::array orders{
    Order{"run",
          [](const Row& a, const Row& b) {
            return std::pair(a.run->directory.id, a.run->name) <
                   std::pair(b.run->directory.id, b.run->name);
          }},
    Order{"benchmark",
          [](const Row& a, const Row& b) { return a.run->benchmark < b.run->benchmark; }},
    Order{"state", [](const Row& a, const Row& b) { return a.state < b.state; }},
    Order{"started",
          [](const Row& a, const Row& b) { return a.run->started_unix_s < b.run->started_unix_s; }},
    Order{"platform", [](const Row& a, const Row& b) { return a.run->platform < b.run->platform; }},
    Order{"comment", [](const Row& a, const Row& b) { return a.run->comment < b.run->comment; }}};

/// The requested view of the list. By default the newest run comes first.
struct Listing {
  std::string sort = "run";
  bool is_descending = true;
  std::size_t from = 0;

  explicit Listing(const PageRequest& request) : from(count_of(request, "from")) {
    const std::string wanted = parameter_of(request, "sort");
    for (const Order& order : orders)
      if (order.name == wanted) {
        sort = wanted;
        is_descending = parameter_of(request, "order") == "down";
      }
  }

  Parameters parameters() const {
    return {{"sort", sort}, {"order", is_descending ? "down" : "up"}};
  }
};

struct List {
  std::vector<Row> rows;  ///< Those of the page.
  std::size_t all = 0;
  std::string version;  ///< Changes with the set of rows, not with their contents.
};

List list_of(PageContext& context, const Listing& listing) {
  List list;
  for (auto& run : context.index.all()) {
    std::string state = state_of(*run);
    list.rows.push_back({std::move(run), std::move(state)});
  }
  list.all = list.rows.size();
  std::ranges::stable_sort(list.rows, orders.front().is_before);
  const auto order = std::ranges::find(orders, listing.sort, &Order::name);
  std::ranges::stable_sort(list.rows, [&](const Row& a, const Row& b) {
    if (a.run->outpath() != b.run->outpath())
      return a.run->outpath() < b.run->outpath();
    return listing.is_descending ? order->is_before(b, a) : order->is_before(a, b);
  });
  const std::size_t begin = std::min(listing.from, list.all);
  const std::size_t end = std::min(begin + rows_per_page, list.all);
  list.rows = {list.rows.begin() + static_cast<std::ptrdiff_t>(begin),
               list.rows.begin() + static_cast<std::ptrdiff_t>(end)};
  std::string names;
  for (const Row& row : list.rows)
    names += row.run->name + '\n';
  list.version = sha256(names).substr(0, 12);
  return list;
}

std::string heading_cells(const Listing& listing) {
  std::string cells = "<th>a</th><th>b</th>";
  for (const Order& order : orders) {
    const bool is_current = order.name == listing.sort;
    const Parameters parameters{{"sort", std::string(order.name)},
                                {"order", is_current && !listing.is_descending ? "down" : "up"}};
    cells += fmt::format("<th{}>{}</th>",
                         !is_current             ? ""
                         : listing.is_descending ? " aria-sort=\"descending\""
                                                 : " aria-sort=\"ascending\"",
                         link(address("./", parameters), order.name));
    if (order.name == "state")
      cells += "<th>workpackages</th><th>took</th>";
  }
  return cells;
}

std::string row_html(const Row& row, std::size_t number) {
  const RunSummary& run = *row.run;
  const std::string live = fmt::format("runs.{}", number);
  std::string choice;
  for (const char* side : {"a", "b"})
    choice += fmt::format(
        "<td><input type=\"radio\" name=\"{0}\" value=\"{1}\" aria-label=\"{0}: {1}\"></td>", side,
        html_text(run.name));
  const std::string id = run.name == "." ? run.name : run.directory.path.filename().string();
  const std::string name =
      run.unreadable.empty() ? link(address("run", {{"name", run.name}}), id) : html_text(id);
  const std::string reach =
      run.unreadable.empty() ? progress_bar(run.counts(), live) : html_text(run.unreadable);
  return fmt::format(
      "<tr>{}<th>{}</th><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
      "<td>{}</td></tr>\n",
      choice, name, html_text(run.benchmark), badge(row.state, live + ".state"), reach,
      live_text(elapsed_text(run, row.state), live + ".elapsed"), html_text(run.started),
      html_text(run.platform), html_text(run.comment));
}

std::string tables_html(const List& list, const Listing& listing) {
  std::string html;
  for (std::size_t k = 0; k < list.rows.size();) {
    const std::string outpath = list.rows[k].run->outpath();
    std::string rows;
    for (; k < list.rows.size() && list.rows[k].run->outpath() == outpath; ++k)
      rows += row_html(list.rows[k], k);
    html += fmt::format("<h2>{}</h2>\n", html_text(outpath.empty() ? "." : outpath)) +
            table_html(heading_cells(listing), rows);
  }
  return html;
}

}  // namespace

PageResponse run_list_page(PageContext& context, const PageRequest& request) {
  const Listing listing(request);
  const List list = list_of(context, listing);
  std::string body = fmt::format("<h1>Runs in {}</h1>\n", html_text(context.root.string()));
  if (list.all == 0)
    body += "<p>There are no runs yet. The first one appears here when it starts.</p>\n";
  else
    body += fmt::format(
        "<form action=\"compare\">\n{}<p><button>Compare a with b</button></p>\n</form>\n{}",
        tables_html(list, listing),
        pager("./", listing.parameters(), {listing.from, rows_per_page, list.all}));
  if (context.index.is_cut_short())
    body +=
        "<p>There are too many directories to search. Serve a directory closer to the runs.</p>\n";
  const std::string title = context.root.filename().string();
  return {.content = page(title.empty() ? "runs" : title, {}, body,
                          {address("news/runs", starting_at(listing.from, listing.parameters())),
                           list.version})};
}

PageResponse run_list_news(PageContext& context, const PageRequest& request) {
  const List list = list_of(context, Listing(request));
  nlohmann::json runs = nlohmann::json::array();
  for (const auto& [run, state] : list.rows) {
    nlohmann::json one = json_of(run->counts());
    one["name"] = run->name;
    one["benchmark"] = run->benchmark;
    one["started"] = run->started;
    one["state"] = state;
    one["elapsed"] = elapsed_text(*run, state);
    if (!run->unreadable.empty())
      one["unreadable"] = run->unreadable;
    runs.push_back(std::move(one));
  }
  return json_answer(text_of({{"version", list.version}, {"runs", runs}}));
}

}  // namespace bench::pages
