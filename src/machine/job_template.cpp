#include <cstddef>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/job_template.hpp>
#include <bench/machine/platform.hpp>

namespace bench::machine {
namespace {

/// The text between the braces of a template variable.
struct Placeholder {
  std::string prefix;  ///< Written before a value; it makes an empty one leave the line.
  bool has_prefix = false;
  std::vector<std::string> names;  ///< Several: their product.
  bool optional = false;
  bool prefix_alone = false;  ///< The value only decides.
};

Placeholder parse_hole(std::string_view text) {
  Placeholder placeholder;
  if (const auto bar = text.find('|'); bar != std::string_view::npos) {
    placeholder.has_prefix = true;
    placeholder.prefix = text.substr(0, bar);
    text.remove_prefix(bar + 1);
  }
  text = strip(text);
  placeholder.prefix_alone = placeholder.has_prefix && text.ends_with('!');
  placeholder.optional = placeholder.prefix_alone || text.ends_with('?');
  if (placeholder.optional)
    text.remove_suffix(1);
  placeholder.names = split_names(text, "*");
  if (placeholder.names.empty())
    placeholder.names.emplace_back();
  return placeholder;
}

const std::string& value_of(const std::string& name, const TemplateVariables& variables,
                            const Place& place) {
  const auto value = variables.find(name);
  if (value != variables.end())
    return value->second;
  throw Error(Id::unknown_name, fmt::format("unknown template variable '{}'", name),
              suggestion(name, keys_of(variables)), place);
}

/// The value of a name, or the product of those of several that are not empty.
std::string value_of(const Placeholder& placeholder, const TemplateVariables& variables,
                     const Place& place) {
  if (placeholder.names.size() == 1)
    return value_of(placeholder.names.front(), variables, place);
  std::optional<long long> product;
  for (const std::string& name : placeholder.names) {
    const std::string& value = value_of(name, variables, place);
    if (value.empty())
      continue;
    const auto factor = parse_integer(value);
    if (!factor)
      throw Error(Id::invalid_value,
                  fmt::format("'{}' of the template variable '{}' is not an integer", value, name),
                  "", place);
    product = product.value_or(1) * *factor;
  }
  return product ? std::to_string(*product) : "";
}

std::string text_of(const Placeholder& placeholder, const std::string& value) {
  if (value.empty())
    return "";
  return placeholder.prefix_alone ? placeholder.prefix : placeholder.prefix + value;
}

/// One line of a template, filled. Sets `dropped` if an optional variable was empty.
std::string fill_line(const std::string& line, const TemplateVariables& variables,
                      const Place& line_place, bool& dropped) {
  std::string filled;
  std::size_t from = 0;
  for (auto open = line.find("{{"); open != std::string::npos; open = line.find("{{", from)) {
    Place place = line_place;
    place.column = static_cast<int>(open) + 1;
    const auto close = line.find("}}", open);
    if (close == std::string::npos)
      throw Error(Id::invalid_value, "this template variable has no end", "write {{name}}", place);
    const Placeholder placeholder =
        parse_hole(std::string_view(line).substr(open + 2, close - open - 2));
    const std::string value = value_of(placeholder, variables, place);
    const std::string name = join(placeholder.names, "*");
    if (value.empty() && !placeholder.optional)
      throw Error(Id::missing_key, fmt::format("template variable '{}' has no value here", name),
                  "write {{" + name + "?}} to drop the line if there is no value", place);
    if (line.starts_with('#') && value.find('\n') != std::string::npos)
      throw Error(
          Id::invalid_value,
          fmt::format("the value of '{}' has a newline, which is not allowed in a directive", name),
          "", place);
    dropped |= value.empty() && !placeholder.has_prefix;
    filled += line.substr(from, open - from) + text_of(placeholder, value);
    from = close + 2;
  }
  return filled + line.substr(from);
}

}  // namespace

JobTemplates::Template read_job_template(const std::string& name,
                                         const std::vector<std::filesystem::path>& directories) {
  std::vector<std::filesystem::path> places = directories;
  for (const std::filesystem::path& directory : data_directories())
    places.push_back(directory / "templates");
  std::vector<std::string> looked;
  for (const std::filesystem::path& place : places) {
    const std::filesystem::path found = place / name;
    std::error_code failure;
    if (std::filesystem::is_regular_file(found, failure))
      return {.text = read_file(found), .file = found};
    // Another template of this name must not take the place of one that cannot be looked for.
    const Error error =
        Error::of_system(fmt::format("cannot look for {}", found.string()), failure.value());
    if (failure && failure != std::errc::permission_denied && error.may_pass())
      throw error;
    looked.push_back(place.string());
  }
  throw Error(Id::unknown_name, fmt::format("unknown job template '{}'", name),
              "looked in " + join(looked, ", "));
}

const JobTemplates::Template& JobTemplates::read(
    const std::string& name, const std::vector<std::filesystem::path>& directories) const {
  const auto key = std::make_pair(name, directories);
  auto known = known_.find(key);
  if (known == known_.end())
    known = known_.emplace(key, read_job_template(name, directories)).first;
  return known->second;
}

std::set<std::string> variables_in(const std::string& text) {
  std::set<std::string> names;
  for (auto open = text.find("{{"); open != std::string::npos; open = text.find("{{", open)) {
    open += 2;
    const auto close = text.find("}}", open);
    if (close == std::string::npos)
      break;
    for (std::string& name : parse_hole(std::string_view(text).substr(open, close - open)).names)
      names.insert(std::move(name));
  }
  return names;
}

std::string fill(const std::string& text, const std::string& name,
                 const TemplateVariables& variables) {
  std::string filled;
  Place place{.file = name};
  const auto lines = split(text, "\n");
  for (std::size_t k = 0; k < lines.size(); ++k) {
    place.line = static_cast<int>(k) + 1;
    bool dropped = false;
    const std::string line = fill_line(lines[k], variables, place, dropped);
    if (!dropped)
      filled += line + (k + 1 < lines.size() ? "\n" : "");
  }
  return filled;
}

}  // namespace bench::machine
