#include <algorithm>
#include <string_view>
#include <vector>

#include <bench/share/formats.hpp>

namespace bench::formats {

const std::vector<Format>& formats() {
  static const std::vector<Format> all{
      {"junit", "JUnit XML for the test report of a CI system", false, junit},
      {"summary", "markdown for the summary of a CI job", true, summary},
      {"influx", "InfluxDB line protocol", false, influx},
      {"openmetrics", "OpenMetrics for Prometheus, such as the textfile collector", false,
       openmetrics}};
  return all;
}

const Format* find_format(std::string_view name) {
  const auto found = std::ranges::find(formats(), name, &Format::name);
  return found == formats().end() ? nullptr : &*found;
}

}  // namespace bench::formats
