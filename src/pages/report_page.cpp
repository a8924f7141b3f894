#include "figure_source.hpp"
#include "html.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <openssl/evp.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/gzip.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/base/value.hpp>
#include <bench/machine/platform.hpp>
#include <bench/pages/figure.hpp>
#include <bench/pages/report_page.hpp>
#include <bench/results/format.hpp>
#include <bench/results/html.hpp>
#include <bench/results/table.hpp>

namespace bench::report {
namespace {

namespace fs = std::filesystem;

constexpr const char* vega_file = "vega.js";
constexpr const char* licenses_file = "THIRD_PARTY_LICENSES";

std::vector<fs::path> report_directories() {
  std::vector<fs::path> directories;
  for (const fs::path& directory : platform::data_directories())
    directories.push_back(directory / "report");
  directories.push_back(serve::beside_program("report"));
  return directories;
}

fs::path path_of(const std::string& name) {
  const std::vector<fs::path> directories = report_directories();
  std::error_code absent;
  for (const fs::path& directory : directories)
    if (fs::is_regular_file(directory / name, absent))
      return directory / name;
  if (name != vega_file && name != licenses_file)
    throw Error(fmt::format("cannot find {}, which reports need", name),
                "install bench again: the file belongs in share/bench/report");
  throw Error("reports need Vega and Vega-Lite, which this installation of bench lacks",
              fmt::format("build bench on a machine with npm and network access, or copy {} and {} "
                          "from share/bench/report of such a build to {}",
                          vega_file, licenses_file, directories.front().string()));
}

/// @throws Error with what the program says
void run(std::vector<std::string> arguments, const std::string& input = "") {
  constexpr double limit_s = 300;
  const std::string program = arguments.front();
  const CommandOutput output = [&] {
    try {
      return run_command({.arguments = std::move(arguments)}, limit_s, input);
    } catch (const Error& error) {
      throw Error(fmt::format("{} failed to draw the figures: {}", program, error.message()));
    }
  }();
  if (!output.status.success())
    throw Error(
        fmt::format("{} failed to draw the figures: {}", program, output.status.description()),
        std::string(strip(output.standard_error)));
}

}  // namespace

Library load_library() {
  return {.page = read_file(path_of("page.html")),
          .style = read_file(path_of("page.css")),
          .script = read_file(path_of("figure.js")) + read_file(path_of("page.js")),
          .vega = read_file(path_of(vega_file)),
          .licenses = read_file(path_of(licenses_file))};
}

std::vector<fs::path> draw_figures(const std::string& content, const fs::path& directory) {
  const fs::path node = find_program("node");
  if (node.empty())
    throw Error("--figures needs Node.js, but the program `node` was not found",
                "install it, or open the report and save each figure with its button");
  make_directories(directory);
  const fs::path list = directory / ".figures";
  run({node.string(), path_of("draw.mjs").string(), path_of(vega_file).string(),
       path_of("figure.js").string(), list.string(), directory.string()},
      content);
  std::vector<fs::path> files;
  for (const std::string& name : split_names(read_file(list), "\n"))
    files.push_back(directory / name);
  fs::remove(list);
  if (const fs::path convert = find_program("rsvg-convert"); !convert.empty())
    for (std::size_t k = 0, count = files.size(); k < count; ++k) {
      fs::path png = files[k];
      png.replace_extension(".png");
      run({convert.string(), "--zoom=2", "--background-color=white", "-o", png.string(),
           files[k].string()});
      files.push_back(png);
    }
  std::ranges::sort(files);
  return files;
}

namespace {

using result::html_text;

/// RFC 4648, section 4.
std::string base64(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // and the NUL that OpenSSL writes
  const int length = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(bytes.data()),
                                     static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

/// `sha256-...`, as a Content-Security-Policy names a script.
std::string policy_hash(std::string_view script) {
  std::array<unsigned char, 32> digest{};
  unsigned length = 0;
  EVP_Digest(script.data(), script.size(), digest.data(), &length, EVP_sha256(), nullptr);
  return "sha256-" + base64({reinterpret_cast<const char*>(digest.data()), digest.size()});
}

/// Fills placeholders `{{name}}` in one pass: inserted text is not searched again.
std::string filled(std::string_view page, const std::map<std::string, std::string>& texts) {
  std::string html;
  for (auto hole = page.find("{{"); hole != std::string_view::npos; hole = page.find("{{")) {
    const auto end = page.find("}}", hole);
    const std::string name(page.substr(hole + 2, end - hole - 2));
    const auto text = texts.find(name);
    if (end == std::string_view::npos || text == texts.end())
      throw Error(fmt::format("unknown placeholder '{}' in the report's page.html", name),
                  "page.html and bench must have the same version");
    html.append(page.substr(0, hole)).append(text->second);
    page.remove_prefix(end + 2);
  }
  return html.append(page);
}

}  // namespace

std::string html_of(const Page& page, const Library& library) {
  // Vega writes inline styles into its charts; these cannot load anything.
  const std::string policy = fmt::format(
      "default-src 'none'; script-src '{}' '{}'; style-src 'unsafe-inline'; img-src data: blob:; "
      "base-uri 'none'; form-action 'none'",
      policy_hash(library.script), policy_hash(library.vega));
  return filled(
      library.page,
      {{"title", html_text(to_valid_utf8(page.title))},
       {"version", html_text(page.version)},
       {"policy", policy},
       {"style", library.style},
       {"script", library.script},
       {"vega", base64(gzip(library.vega, Compression::smallest))},
       {"content", base64(gzip(content_of(page), Compression::smallest))},
       {"tables", base64(gzip(tables_of(page, library.licenses), Compression::smallest))}});
}

namespace {

using Json = nlohmann::ordered_json;
using result::Cell;

/// Repeated texts, dictionary-encoded: indices into the distinct texts, -1 if missing.
class Texts {
 public:
  void add(const std::string& text) {
    const auto [known, is_new] = positions_.emplace(text, positions_.size());
    if (is_new)
      different_.push_back(to_valid_utf8(text));
    indices_.push_back(static_cast<long long>(known->second));
  }
  void add_none() { indices_.push_back(-1); }
  bool empty() const { return different_.empty(); }
  Json json() const { return {{"d", different_}, {"i", indices_}}; }

 private:
  std::map<std::string, std::size_t> positions_;
  std::vector<std::string> different_;
  std::vector<long long> indices_;
};

std::optional<double> finite(const Value& value) {
  const auto number = as_number(value);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

/// Whether JavaScript, which has only doubles, keeps all digits.
bool is_exact_in_a_browser(const Value& value) {
  constexpr long long most = 1LL << 53;
  const auto* integer = std::get_if<long long>(&value);
  return !integer || (-most <= *integer && *integer <= most);
}

Json number_of(const Value& value) {
  if (const auto* integer = std::get_if<long long>(&value))
    return *integer;
  return std::get<double>(value);
}

/// Values of a column: numbers as they are, texts dictionary-encoded.
template <typename Values>
Json values_json(const Values& values) {
  bool numeric = true;
  for (const std::optional<Value>& value : values)
    numeric = numeric && (!value || (finite(*value) && is_exact_in_a_browser(*value)));
  if (numeric) {
    Json numbers = Json::array();
    for (const std::optional<Value>& value : values)
      numbers.push_back(value ? number_of(*value) : Json(nullptr));
    return numbers;
  }
  Texts texts;
  for (const std::optional<Value>& value : values)
    if (value)
      texts.add(to_text(*value));
    else
      texts.add_none();
  return texts.json();
}

/// N if all formats of a column are `.Nf`, which the browser can apply itself.
std::optional<int> decimals_of(const result::Table& table, std::size_t column) {
  std::string format;
  for (const auto& row : table.rows) {
    if (row[column].value && !as_number(*row[column].value))
      return std::nullopt;
    format = row[column].format;
    if (format != table.rows.front()[column].format)
      return std::nullopt;
  }
  const bool is_fixed = format.size() == 3 && format.front() == '.' && format.back() == 'f' &&
                        format[1] >= '0' && format[1] <= '9';
  return is_fixed ? std::optional(format[1] - '0') : std::nullopt;
}

/// Whether JavaScript's toFixed writes the embedded number as `text`. It may not for a number in
/// the middle between two texts, for which the last digits count.
bool is_what_a_browser_shows(const Value& value, int decimals, const std::string& text) {
  const auto* real = std::get_if<double>(&value);
  if (!real)
    return fmt::format("{:.{}f}", static_cast<double>(std::get<long long>(value)), decimals) ==
           text;
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double near : {std::nextafter(*real, -infinity), std::nextafter(*real, infinity)})
    if (fmt::format("{:.{}f}", near, decimals) != text)
      return false;
  return true;
}

/// The text of a cell if it is not just its value; otherwise empty.
/// @param decimals of all cells of the column that have a value
std::string shown_text(const Cell& cell, const Place& place, std::optional<int> decimals) {
  if (!cell.value)
    return "";
  if (cell.spread) {
    const std::string format = cell.format.empty() ? ".4g" : cell.format;
    return fmt::format("{} [{} to {}]", result::format_value(cell.spread->median, format, place),
                       result::format_value(cell.spread->low, format, place),
                       result::format_value(cell.spread->high, format, place));
  }
  if (!cell.format.empty()) {
    const std::string text = result::format_value(*cell.value, cell.format, place);
    return decimals && is_what_a_browser_shows(*cell.value, *decimals, text) ? "" : text;
  }
  if (const auto* real = std::get_if<double>(&*cell.value); real && std::isfinite(*real))
    if (const std::string text = result::short_text(*real); text != to_text(*cell.value))
      return text;
  return "";
}

Json column_json(const result::Table& table, std::size_t column) {
  const result::Heading& heading = table.headings[column];
  std::vector<std::optional<Value>> values;
  Texts shown;
  Texts absent;
  bool estimated = false;
  const std::optional<int> decimals = decimals_of(table, column);
  for (const auto& row : table.rows) {
    const Cell& cell = row[column];
    values.push_back(cell.value);
    if (const std::string text = shown_text(cell, heading.place, decimals); !text.empty())
      shown.add(text);
    else
      shown.add_none();
    if (cell.absent_reason.empty())
      absent.add_none();
    else
      absent.add(cell.absent_reason);
    estimated = estimated || cell.estimated;
  }
  Json json{{"title", to_valid_utf8(heading.title)}, {"unit", to_valid_utf8(heading.unit)}};
  json["values"] = values_json(values);
  if (decimals)
    json["decimals"] = *decimals;
  if (!shown.empty())
    json["shown"] = shown.json();
  if (!absent.empty())
    json["absent"] = absent.json();
  if (estimated)
    json["estimated"] = true;
  return json;
}

Json table_json(const result::Table& table, const std::string& title) {
  Json json{{"name", to_valid_utf8(table.name)}, {"title", to_valid_utf8(title)}};
  json["columns"] = Json::array();
  for (std::size_t column = 0; column < table.headings.size(); ++column)
    json["columns"].push_back(column_json(table, column));
  const Source source = source_of(table, [](const std::string&) { return false; });
  Texts states;
  bool is_any_not_done = false;
  for (const RowState state : source.states) {
    states.add(name_of(state));
    is_any_not_done = is_any_not_done || state != RowState::done;
  }
  if (is_any_not_done)
    json["states"] = states.json();
  json["rows"] = table.rows.size();
  json["notes"] = Json::array();
  for (const std::string& note : result::notes_of(table))
    json["notes"].push_back(to_valid_utf8(note));
  return json;
}

/// Tooltips show all digits, of which sums and medians may have too many.
std::vector<std::optional<Value>> rounded(std::vector<std::optional<Value>> values) {
  for (std::optional<Value>& value : values)
    if (auto* real = value ? std::get_if<double>(&*value) : nullptr)
      *real = parse_number(fmt::format("{:.12g}", *real)).value_or(*real);
  return values;
}

Json figure_json(const Figure& figure) {
  Json json{{"id", figure.id},
            {"title", to_valid_utf8(figure.title)},
            {"description", to_valid_utf8(figure.description)}};
  json["columns"] = Json::array();
  for (const FigureColumn& column : figure.columns)
    json["columns"].push_back({{"title", to_valid_utf8(column.title)},
                               {"unit", to_valid_utf8(column.unit)},
                               {"values", values_json(rounded(column.values))}});
  json["panels"] = Json::array();
  for (const Panel& panel : figure.panels)
    json["panels"].push_back({{"title", to_valid_utf8(panel.title)},
                              {"legend_characters", panel.legend_characters},
                              {"specification", Json::parse(panel.specification)}});
  json["notes"] = figure.notes;
  return json;
}

Json sheet_json(const RunSheet& run) {
  Json facts = Json::array();
  for (const auto& [name, text] : run.facts)
    facts.push_back(Json::array({name, to_valid_utf8(text)}));
  return {{"name", to_valid_utf8(run.name)}, {"facts", facts}, {"states", run.states}};
}

}  // namespace

std::string content_of(const Page& page) {
  Json json{{"title", to_valid_utf8(page.title)},
            {"comment", to_valid_utf8(page.comment)},
            {"version", page.version}};
  json["runs"] = Json::array();
  json["figures"] = Json::array();
  for (const RunSheet& run : page.runs)
    json["runs"].push_back(sheet_json(run));
  for (const Figure& figure : page.figures)
    json["figures"].push_back(figure_json(figure));
  return json.dump();
}

std::string tables_of(const Page& page, const std::string& licenses) {
  Json json{{"tables", Json::array()}};
  for (const ReportTable& table : page.tables)
    json["tables"].push_back(table_json(table.table, table.title));
  if (!page.failures.rows.empty())
    json["failures"] = table_json(page.failures, "");
  json["licenses"] = licenses;
  return json.dump();
}

}  // namespace bench::report
