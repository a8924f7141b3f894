#include <vector>

#include <bench/document/elements.hpp>

namespace bench::document {
namespace {

constexpr auto filter_meaning = "leaves out the rows for which it is false";

ElementKind table() {
  return {
      .name = "table",
      .meaning = "a table of results",
      .children = {"column"},
      .attributes = {{"name", Type::name, "its name, also that of its file"},
                     {"style",
                      Type::text,
                      "how the table is written",
                      "csv",
                      {"csv", "pretty", "aligned", "json", "jsonl", "markdown", "latex", "html"}},
                     {"separator", Type::text, "between two cells", ","},
                     {"sort", Type::names, "columns to sort by"},
                     {"filter", Type::condition, filter_meaning},
                     {"transpose", Type::flag, "swap rows and columns", "false"},
                     addition({"cdf", Type::name, "pattern whose distribution function is shown"})},
      .details =
          "It is also written to result/<name>.dat.\n"
          "With cdf each row is repeated for each value that the pattern has there, "
          "ascending, with two more columns: the value, and the share of the values that "
          "are not above it.",
      .example =
          "patternset: {name: output, pattern: {name: loss, _: \"loss: $jube_pat_fp\"}}\n"
          "step: {name: train, do: ./train}\n"
          "analyser: {name: read, use: output, analyse: {step: train, file: stdout}}\n"
          "result: {use: read, table: {name: losses, style: pretty, column: loss}}"};
}

/// With those of an element whose values can be calculated.
std::vector<AttributeKind> with_calculation(std::vector<AttributeKind> attributes) {
  for (const AttributeKind& row : std::vector<AttributeKind>{
           {"unit", Type::text, "unit that its values are converted to, such as kWh",
            in_words("that of its values")},
           {"metric", Type::name, "calculates it: `bench help metric` lists the metrics"},
           {"of", Type::names,
            "with metric: its inputs in order, which are names, or numbers such as 312 TFLOP/s"},
           {"formula", Type::text,
            "calculates it from names, numbers and + - * / ^ ( ), and base(NAME) of the baseline"},
           {"baseline", Type::values,
            "the row to compare with, by values of parameters: {nodes: 1}, {nodes: smallest}"},
           {"per", Type::names, "with baseline: each combination of these has its own baseline"}})
    attributes.push_back(addition(row));
  return attributes;
}

ElementKind figure() {
  return {
      .name = "figure",
      .meaning = "a figure of `bench report`, in place of those that it chooses for the table",
      .is_addition = true,
      .attributes = {{"table", Type::name, "the table that it shows", in_words("the only one")},
                     {"mark",
                      Type::name,
                      "how the values are drawn",
                      in_words("lines over numbers, bars over names"),
                      {"line", "bar", "heatmap", "point"}},
                     {"x", Type::name, "column along the horizontal axis; of bars, their names"},
                     {"y", Type::names, "column with the values; several are a panel each"},
                     {"color", Type::names, "columns whose values are a line or bar each"},
                     {"row", Type::name, "of a heatmap: column along the vertical axis"},
                     {"facet", Type::name, "column whose values are a panel each"},
                     {"x_scale",
                      Type::name,
                      "of the horizontal axis",
                      in_words("log where the values are powers of 2 or 10"),
                      {"linear", "log", "fit"}},
                     {"scale",
                      Type::name,
                      "of the values: fit begins at the smallest one, linear at zero",
                      in_words("linear, or log where they differ by more than a factor of 100"),
                      {"linear", "log", "fit"}},
                     {"title", Type::text, "its title", in_words("made of the columns")}},
      .details =
          "Columns are called by their titles or names. Rows that share a place are shown "
          "as their median with its 95 % confidence interval. A row without a value is "
          "marked with how it ended: OOM, failed or skipped.",
      .example =
          "result:\n"
          "  use: read\n"
          "  table: {name: rates, column: [batch_size, precision, rate]}\n"
          "  figure: {x: batch_size, y: rate, color: precision, title: Training speed}",
      .see_also = "table, column"};
}

ElementKind syslog() {
  return {.name = "syslog",
          .meaning = "rows as messages to a syslog server",
          .children = {"key"},
          .attributes = {{"name", Type::name, "its name"},
                         {"address", Type::path, "the server's socket"},
                         {"host", Type::name, "the server, in place of address"},
                         {"port", Type::number, "its port", "514"},  // RFC 5426, 3.3

                         {"format", Type::text, "format of a message"},
                         {"sort", Type::names, "columns to sort by"},
                         {"filter", Type::condition, filter_meaning}},
          .example = "result: {use: read, syslog: {name: news, host: logs.site.org, key: loss}}"};
}

ElementKind database() {
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

const std::vector<ElementKind> elements_of_results = {
    {.name = "result",
     .meaning = "tables and other outputs of the values",
     .children = {"use", "table", "figure", "syslog", "database"},
     .attributes = {{"result_dir", Type::path, "where the results are written",
                     in_words("`result` in the run")}},
     .example = "result: {use: read, table: {name: losses, column: [nodes, loss]}}"},
    table(),
    figure(),
    {.name = "column",
     .meaning = "a column of a table: a parameter, pattern or variable",
     .has_text = true,
     .attributes = with_calculation(
         {{"title", Type::text, "its heading", in_words("its name")},
          {"format", Type::text, "format of the numbers as in Python, such as .2f"},
          {"colw", Type::number, "minimum width in characters"},
          better(),
          addition({"compare", Type::name, "what it is among published numbers",
                    in_words("its title or name")})}),
     .details =
         "`bench result --compare` sets a column beside the published metric that compare "
         "names: metric, metric[unit] if the column has no unit, or none. A condition such as "
         "batch tells how the row was measured.\n"
         "With metric or formula the column is calculated from others of the row. A pattern with "
         "several values counts with its median; `time_avg` or another statistic can be named "
         "instead. The unit follows from those of the inputs.",
     .example =
         "result:\n"
         "  use: read\n"
         "  table:\n"
         "    name: losses\n"
         "    column:\n"
         "      - {title: Loss, format: .3f, _: loss}\n"
         "      - {metric: speedup, of: time, baseline: {nodes: 1}, per: [model, precision]}\n"
         "      - {title: per energy, formula: bandwidth / power, unit: GB/J}",
     .see_also = "metric, units, statistics"},
    syslog(),
    database(),
    {.name = "key",
     .meaning = "a column of a syslog or database: a parameter, pattern or variable",
     .has_text = true,
     .attributes = with_calculation(
         {{"title", Type::text, "name of its column", in_words("its name")},
          {"format", Type::text, "format of the numbers as in Python, such as .2f"},
          {"primekey", Type::flag, "a part of the primary key", "false"}}),
     .details = "It can calculate its values as a column does.",
     .example = "result:\n"
                "  use: read\n"
                "  database: {name: losses, file: results.db, key: {primekey: true, _: nodes}}",
     .see_also = "column, metric, units"},
};

}  // namespace bench::document
