#include "html.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/core.h>

#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/results/table.hpp>

namespace bench::pages {

std::string address(std::string_view page, const Parameters& parameters) {
  std::string text(page);
  char separator = '?';
  for (const auto& [name, value] : parameters) {
    text += fmt::format("{}{}={}", separator, percent_encoded(name), percent_encoded(value));
    separator = '&';
  }
  return text;
}

std::string link(const std::string& address, std::string_view text) {
  return fmt::format("<a href=\"{}\">{}</a>", html_text(address), html_text(text));
}

std::string badge(std::string_view state, const std::string& live) {
  const std::string word = html_text(state);
  return fmt::format("<span class=\"state\" data-state=\"{}\"{}>{}</span>", word,
                     live.empty() ? "" : fmt::format(" data-live=\"{}\"", html_text(live)), word);
}

std::string live_text(std::string_view text, const std::string& live) {
  return fmt::format("<span data-live=\"{}\">{}</span>", html_text(live), html_text(text));
}

std::string fact(std::string_view name, std::string_view text) {
  return strip(text).empty()
             ? ""
             : fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_text(name), html_text(text));
}

std::string cells_html(const char* tag, const std::vector<std::string>& texts) {
  std::string html;
  for (const std::string& text : texts)
    html += fmt::format("<{0}>{1}</{0}>", tag, html_text(text));
  return html;
}

std::string table_html(const std::string& head, const std::string& rows) {
  const std::string table = head.empty()
                                ? "<table class=\"plain\">\n"
                                : fmt::format("<table>\n<thead><tr>{}</tr></thead>\n", head);
  return fmt::format("<div class=\"scroll\">{}<tbody>\n{}</tbody></table></div>\n", table, rows);
}

std::string note(std::string_view text) {
  return fmt::format("<p class=\"note\">{}</p>\n", html_text(text));
}

std::string figures_place(const std::string& title, const std::string& address) {
  return fmt::format(
      "<section data-figures=\"{}\" data-title=\"{}\"><noscript><p class=\"note\">figures need "
      "JavaScript</p></noscript></section>\n",
      html_text(address), html_text(title));
}

std::string cell_html(const results::Cell& cell) {
  if (!cell.value)
    return cell.absent_reason.empty()
               ? ""
               : fmt::format("<span class=\"missing\" title=\"{}\">n/a</span>",
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

Parameters starting_at(std::size_t row, Parameters parameters) {
  if (row > 0)
    parameters.emplace_back("from", std::to_string(row));
  return parameters;
}

std::string pager(std::string_view page, const Parameters& parameters, const Part& part) {
  if (part.all <= part.rows)
    return "";
  std::string html = fmt::format("<p>{} to {} of {} ", std::min(part.from + 1, part.all),
                                 std::min(part.from + part.rows, part.all), part.all);
  if (part.from > 0)
    html += link(address(page, starting_at(part.from - std::min(part.from, part.rows), parameters)),
                 "previous") +
            " ";
  if (part.from + part.rows < part.all)
    html += link(address(page, starting_at(part.from + part.rows, parameters)), "next");
  return html + "</p>\n";
}

std::string page(std::string_view title, const std::vector<std::string>& path,
                 const std::string& body, const Live& live) {
  const std::string watched = live.address.empty()
                                  ? ""
                                  : fmt::format(" data-address=\"{}\" data-version=\"{}\"",
                                                html_text(live.address), html_text(live.version));
  std::string above;
  for (const std::string& step : path)
    above += step + " › ";
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<title>{0}</title>\n<link rel=\"icon\" href=\"data:,\">\n"
      "<link rel=\"stylesheet\" href=\"page.css\">\n"
      "<script src=\"page.js\" defer></script>\n</head>\n<body{1}>\n<header class=\"top\"><p "
      "class=\"top-row\">{2}{0}</p></header>\n<main>\n<p id=\"lost\" role=\"status\" "
      "hidden>bench serve does not respond; this page shows the last known state</p>\n{3}</main>\n"
      "</body>\n</html>\n",
      html_text(title), watched, above, body);
}

}  // namespace bench::pages
