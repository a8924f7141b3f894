#include "table.hpp"

#include <vector>

#include <bench/language/elements.hpp>

namespace bench::language {
namespace {

constexpr auto filter_meaning = "leaves out the rows for which it is false";

Element table() {
  return {.name = "table",
          .meaning = "a table of results",
          .children = {"column"},
          .attributes = {{"name", Type::name, "its name, also that of its file"},
                         {"style",
                          Type::text,
                          "how the table is written",
                          "csv",
                          {"csv", "pretty", "aligned", "json", "markdown", "latex", "html"}},
                         {"separator", Type::text, "between two cells", ","},
                         {"sort", Type::names, "columns to sort by"},
                         {"filter", Type::condition, filter_meaning},
                         {"transpose", Type::flag, "swap rows and columns", "false"}},
          .details = "It is also written to result/<name>.dat.",
          .example =
              "patternset: {name: output, pattern: {name: loss, _: \"loss: $jube_pat_fp\"}}\n"
              "step: {name: train, do: ./train}\n"
              "analyser: {name: read, use: output, analyse: {step: train, file: stdout}}\n"
              "result: {use: read, table: {name: losses, style: pretty, column: loss}}"};
}

Element syslog() {
  return {.name = "syslog",
          .meaning = "rows as messages to a syslog server",
          .children = {"key"},
          .attributes = {{"name", Type::name, "its name"},
                         {"address", Type::path, "the server's socket"},
                         {"host", Type::name, "the server, in place of address"},
                         {"port", Type::number, "its port", "514"},
                         {"format", Type::text, "format of a message"},
                         {"sort", Type::names, "columns to sort by"},
                         {"filter", Type::condition, filter_meaning}},
          .example = "result: {use: read, syslog: {name: news, host: logs.site.org, key: loss}}"};
}

Element database() {
  return {.name = "database",
          .meaning = "rows in an SQLite database",
          .children = {"key"},
          .attributes = {{"name", Type::name, "name of the table"},
                         {"file", Type::path, "the database, relative to the current directory"},
                         {"filter", Type::condition, filter_meaning},
                         {"primekeys", Type::names, "old form of primekey: titles of keys"}},
          .example =
              "result:\n"
              "  use: read\n"
              "  database: {name: losses, file: results.db, key: [nodes, loss]}"};
}

}  // namespace

const std::vector<Element> elements_of_results = {
    {.name = "result",
     .meaning = "tables and other outputs of the values",
     .children = {"use", "table", "syslog", "database"},
     .attributes = {{"result_dir", Type::path, "where the results are written",
                     "`result` in the run"}},
     .example = "result: {use: read, table: {name: losses, column: [nodes, loss]}}"},
    table(),
    {.name = "column",
     .meaning = "a column of a table: a parameter, pattern or variable",
     .has_text = true,
     .attributes = {{"title", Type::text, "its heading", "its name"},
                    {"format", Type::text, "format of the numbers as in Python, such as .2f"},
                    {"colw", Type::number, "minimum width in characters"},
                    better(),
                    {"compare", Type::name, "what it is among published numbers",
                     "its title or name"}},
     .details =
         "`bench result --compare` sets a column beside the published metric that compare "
         "names: metric, metric[unit] if the column has no unit, or none. A condition such as "
         "batch tells how the row was measured.",
     .example = "result:\n"
                "  use: read\n"
                "  table: {name: losses, column: [nodes, {title: Loss, format: .3f, _: loss}]}"},
    syslog(),
    database(),
    {.name = "key",
     .meaning = "a column of a syslog or database: a parameter, pattern or variable",
     .has_text = true,
     .attributes = {{"title", Type::text, "name of its column", "its name"},
                    {"format", Type::text, "format of the numbers as in Python, such as .2f"},
                    {"primekey", Type::flag, "a part of the primary key", "false"}},
     .example = "result:\n"
                "  use: read\n"
                "  database: {name: losses, file: results.db, key: {primekey: true, _: nodes}}"},
};

}  // namespace bench::language
