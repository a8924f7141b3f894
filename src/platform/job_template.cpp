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
      throw Error("this hole has no end", "write {{name}}", place);
    std::string name(strip(std::string_view(line).substr(open + 2, close - open - 2)));
    const bool optional = name.ends_with('?');
    if (optional)
      name.pop_back();
    const auto value = holes.find(name);
    if (value == holes.end()) {
      const std::string near = did_you_mean(name, keys_of(holes));
      throw Error(fmt::format("nothing fills the hole '{}'", name),
                  near.empty() ? "known: " + join(keys_of(holes), ", ") : near, place);
    }
    if (value->second.empty() && !optional)
      throw Error(fmt::format("the hole '{}' has no value here", name),
                  "write {{" + name + "?}} if the line may vanish", place);
    if (line.starts_with('#') && value->second.find('\n') != std::string::npos)
      throw Error(
          fmt::format("the value of '{}' has a newline, which a directive cannot hold", name), "",
          place);
    dropped |= value->second.empty();
    filled += line.substr(from, open - from) + value->second;
    from = close + 2;
  }
  return filled + line.substr(from);
}

}  // namespace

std::string read_job_template(const std::string& name, const std::filesystem::path& directory,
                              std::filesystem::path& found) {
  std::error_code absent;
  for (const std::filesystem::path& candidate :
       {directory / name, data_directory() / "templates" / name})
    if (std::filesystem::is_regular_file(candidate, absent)) {
      found = candidate;
      return read_file(candidate);
    }
  throw Error(fmt::format("there is no job template '{}'", name),
              fmt::format("looked in {} and {}", directory.string(),
                          (data_directory() / "templates").string()));
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
