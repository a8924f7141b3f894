#include "../support/temp_directory.hpp"
#include "invariant.hpp"
#include "pages/meter_files.hpp"
#include "pages/run_files.hpp"
#include "pages/visitor.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include <sys/stat.h>

#include <bench/base/error.hpp>
#include <bench/base/files.hpp>
#include <bench/base/text.hpp>
#include <bench/base/unique_fd.hpp>

namespace bench::fuzz {
namespace {

namespace fs = std::filesystem;

/// A run directory with links that lead out of it, and what is outside.
const fs::path& run_directory() {
  static const support::TempDirectory directory;
  static const fs::path run = [] {
    directory.write("secret/file", "secret");
    directory.write("run/file", "text");
    directory.write("run/work/file", "text");
    const fs::path made = directory.path() / "run";
    fs::create_directory_symlink("../secret", made / "linked");
    fs::create_symlink("../secret/file", made / "link");
    fs::create_symlink("work/file", made / "inside");
    ::mkfifo((made / "pipe").c_str(), 0600);
    return made;
  }();
  return run;
}

void check_path(const std::string& path) {
  const UniqueFd file = pages::open_in_run(run_directory(), path);
  if (!file.valid())
    return;
  const fs::path opened = fs::read_symlink("/proc/self/fd/" + std::to_string(file.get()));
  require(is_written_below(run_directory(), opened), "a file of a run is below its directory");
  require(pages::tail_of(file, 3).text.size() <= 3, "a tail is no longer than was asked for");
}

void check_header(const std::string& header) {
  const std::string cookie = pages::cookie_of(header, "bench_serve");
  require(header.find(cookie) != std::string::npos, "a cookie is a part of its header");
  require(!pages::is_loopback_name(header) || header.size() < 100 ||
              header.find(':') != std::string::npos,
          "names of loopback are short");
}

void check_curve(const std::string& text) {
  static const support::TempDirectory directory;
  const fs::path file = directory.write("power.csv", text);
  const pages::PowerCurve curve = pages::read_power_curve(open_regular_file(file), "power.csv");
  for (const auto& channel : curve.channels)
    require(channel.samples.points().size() <= pages::most_power_points,
            "a curve has a bounded number of points");
  try {
    for (const pages::RegionVisit& visit : pages::region_visits(text, "region_times.csv"))
      require(to_valid_utf8(visit.region) == visit.region, "a page is UTF-8");
  } catch (const Error&) {  // not CSV
  }
}

}  // namespace
}  // namespace bench::fuzz

/// The first line is a path and a header, the rest the files of a meter.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bench;
  const std::string_view text = fuzz::text_of(data, size);
  const auto end = std::min(text.find('\n'), text.size());
  const std::string first(text.substr(0, end));
  fuzz::check_path(first);
  fuzz::check_header(first);
  fuzz::check_curve(std::string(text.substr(std::min(end + 1, text.size()))));
  return 0;
}
