#include <algorithm>
#include <string_view>
#include <vector>

#include <bench/share/export_formats.hpp>
#include <bench/workspace/workpackage.hpp>

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

std::vector<const workspace::Attempt*> attempts_by_row(const Subject& subject) {
  std::vector<const workspace::Attempt*> rows;
  auto attempt = subject.tidy.attempts.begin();
  for (const workspace::Workpackage& one : subject.tidy.workpackages) {
    while (attempt != subject.tidy.attempts.end() && attempt->workpackage < one.id)
      ++attempt;
    const bool found = attempt != subject.tidy.attempts.end() && attempt->workpackage == one.id;
    rows.push_back(found ? &*attempt : nullptr);
  }
  return rows;
}

}  // namespace bench::formats
