#include <optional>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/keys.hpp>
#include <bench/base/text.hpp>
#include <bench/platform/job_template.hpp>
#include <bench/platform/platform.hpp>

namespace bench::platform {
namespace {

/// The text between the braces of a template variable.
struct Hole {
  std::string prefix;  ///< Written before a value; it makes an empty one leave the line.
  bool has_prefix = false;
  std::vector<std::string> names;  ///< Several: their product.
  bool optional = false;
  bool prefix_alone = false;  ///< The value only decides.
};

Hole parse_hole(std::string_view text) {
  Hole hole;
  if (const auto bar = text.find('|'); bar != std::string_view::npos) {
    hole.has_prefix = true;
    hole.prefix = text.substr(0, bar);
    text.remove_prefix(bar + 1);
  }
  text = strip(text);
  hole.prefix_alone = hole.has_prefix && text.ends_with('!');
  hole.optional = hole.prefix_alone || text.ends_with('?');
  if (hole.optional)
    text.remove_suffix(1);
  hole.names = split_names(text, "*");
  if (hole.names.empty())
    hole.names.emplace_back();
  return hole;
}

const std::string& value_of(const std::string& name, const Holes& holes, const Place& place) {
  const auto value = holes.find(name);
  if (value != holes.end())
    return value->second;
  throw Error(fmt::format("unknown template variable '{}'", name), suggestion(name, keys_of(holes)),
              place);
}

/// The value of a name, or the product of those of several that are not empty.
std::string value_of(const Hole& hole, const Holes& holes, const Place& place) {
  if (hole.names.size() == 1)
    return value_of(hole.names.front(), holes, place);
  std::optional<long long> product;
  for (const std::string& name : hole.names) {
    const std::string& value = value_of(name, holes, place);
    if (value.empty())
      continue;
    const auto factor = parse_integer(value);
    if (!factor)
      throw Error(fmt::format("'{}' of the template variable '{}' is not an integer", value, name),
                  "", place);
    product = product.value_or(1) * *factor;
  }
  return product ? std::to_string(*product) : "";
}

std::string filled_hole(const Hole& hole, const std::string& value) {
  if (value.empty())
    return "";
  return hole.prefix_alone ? hole.prefix : hole.prefix + value;
}

/// One line of a template, filled. Sets `dropped` if an optional hole was empty.
std::string fill_line(const std::string& line, const Holes& holes, const Place& line_place,
                      bool& dropped) {
  std::string filled;
  std::size_t from = 0;
  for (auto open = line.find("{{"); open != std::string::npos; open = line.find("{{", from)) {
    Place place = line_place;
    place.column = static_cast<int>(open) + 1;
    const auto close = line.find("}}", open);
    if (close == std::string::npos)
      throw Error("this template variable has no end", "write {{name}}", place);
    const Hole hole = parse_hole(std::string_view(line).substr(open + 2, close - open - 2));
    const std::string value = value_of(hole, holes, place);
    const std::string name = join(hole.names, "*");
    if (value.empty() && !hole.optional)
      throw Error(fmt::format("template variable '{}' has no value here", name),
                  "write {{" + name + "?}} to drop the line if there is no value", place);
    if (line.starts_with('#') && value.find('\n') != std::string::npos)
      throw Error(
          fmt::format("the value of '{}' has a newline, which is not allowed in a directive", name),
          "", place);
    dropped |= value.empty() && !hole.has_prefix;
    filled += line.substr(from, open - from) + filled_hole(hole, value);
    from = close + 2;
  }
  return filled + line.substr(from);
}

}  // namespace

std::string read_job_template(const std::string& name,
                              const std::vector<std::filesystem::path>& directories,
                              std::filesystem::path& found) {
  std::vector<std::filesystem::path> places = directories;
  for (const std::filesystem::path& directory : data_directories())
    places.push_back(directory / "templates");
  std::error_code absent;
  std::vector<std::string> looked;
  for (const std::filesystem::path& place : places) {
    found = place / name;
    if (std::filesystem::is_regular_file(found, absent))
      return read_file(found);
    looked.push_back(place.string());
  }
  throw Error(fmt::format("unknown job template '{}'", name), "looked in " + join(looked, ", "));
}

const JobTemplates::Template& JobTemplates::read(
    const std::string& name, const std::vector<std::filesystem::path>& directories) const {
  const auto key = std::make_pair(name, directories);
  auto known = known_.find(key);
  if (known == known_.end()) {
    Template read;
    read.text = read_job_template(name, directories, read.file);
    known = known_.emplace(key, std::move(read)).first;
  }
  return known->second;
}

std::string fill(const std::string& text, const std::string& name, const Holes& holes) {
  std::string filled;
  Place place{.file = name};
  const auto lines = split(text, "\n");
  for (std::size_t k = 0; k < lines.size(); ++k) {
    place.line = static_cast<int>(k) + 1;
    bool dropped = false;
    const std::string line = fill_line(lines[k], holes, place, dropped);
    if (!dropped)
      filled += line + (k + 1 < lines.size() ? "\n" : "");
  }
  return filled;
}

}  // namespace bench::platform
