#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/process.hpp>
#include <bench/base/text.hpp>
#include <bench/machine/platform.hpp>
#include <bench/pages/report_page.hpp>

namespace bench::pages {
namespace {

namespace fs = std::filesystem;

constexpr const char* vega_file = "vega.js";
constexpr const char* licenses_file = "THIRD_PARTY_LICENSES";

/// @throws Error with what the program says
void run(std::vector<std::string> arguments, const std::string& input = "") {
  constexpr double limit_s = 300;
  const std::string program = arguments.front();
  const CommandOutput output = [&] {
    try {
      return run_command({.arguments = std::move(arguments)}, limit_s, input);
    } catch (const Error& error) {
      throw Error(Id::program_failed,
                  fmt::format("{} failed to draw the figures: {}", program, error.message()));
    }
  }();
  if (!output.status.success())
    throw Error(
        Id::program_failed,
        fmt::format("{} failed to draw the figures: {}", program, output.status.description()),
        std::string(strip(output.standard_error)));
}

}  // namespace

fs::path path_of(const std::string& name) {
  const std::vector<fs::path> directories = machine::data_directories();
  std::error_code absent;
  for (const fs::path& directory : directories)
    if (fs::is_regular_file(directory / "report" / name, absent))
      return directory / "report" / name;
  if (name != vega_file && name != licenses_file)
    throw Error(Id::missing_file, fmt::format("cannot find {}, which pages need", name),
                "install bench again: the file belongs in share/bench/report");
  throw Error(Id::missing_program,
              "reports need Vega and Vega-Lite, which this installation of bench lacks",
              fmt::format("build bench on a machine with npm and network access, or copy {} and {} "
                          "from share/bench/report of such a build to {}",
                          vega_file, licenses_file, (directories.front() / "report").string()));
}

std::string script_with(const char* page_script) {
  return read_file(path_of("figure.js")) + read_file(path_of("cards.js")) +
         read_file(path_of(page_script));
}

Library load_library() {
  return {.page = read_file(path_of("page.html")),
          .style = read_file(path_of("page.css")),
          .script = script_with("report.js"),
          .vega = read_file(path_of(vega_file)),
          .licenses = read_file(path_of(licenses_file))};
}

std::vector<fs::path> draw_figures(const std::string& content, const fs::path& directory) {
  const fs::path node = find_program("node");
  if (node.empty())
    throw Error(Id::missing_program,
                "--figures needs Node.js, but the program `node` was not found",
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

}  // namespace bench::pages
