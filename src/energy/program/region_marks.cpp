#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include <bench/energy/core/channel_meter.hpp>
#include <bench/energy/core/measurement.hpp>
#include <bench/energy/core/region_book.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/region_marks.hpp>
#include <bench/energy/program/run_record.hpp>
#include <bench/energy/program/sampler.hpp>

namespace bench::energy {

RegionMarks::RegionMarks(const std::filesystem::path& file, Sampler& sampler,
                         std::shared_ptr<RunRecord> record)
    : file_(file), sampler_(sampler), record_(std::move(record)) {}

void RegionMarks::begin(Clock::time_point time) {
  begin_ = time;
  file_.listen([this](std::string_view line, Clock::time_point received) { take(line, received); });
}

void RegionMarks::take(std::string_view line, Clock::time_point received) {
  const auto mark = parse_region_mark(line);
  if (!mark)
    return book_.note_nonsense(line);
  // Nobody knows more of the future than we.
  const Clock::time_point told{std::chrono::nanoseconds(mark->monotonic_ns.value_or(0))};
  const std::chrono::duration<double> after =
      (mark->monotonic_ns ? std::min(told, received) : received) - begin_;
  if (record_ && !mark->monotonic_ns)  // the others' times stand in the file
    record_->add_mark(after.count());
  if (const auto edge = book_.take(*mark, after.count()))
    sampler_.cut(*edge);
}

void RegionMarks::end(Clock::time_point time) {
  file_.stop();
  const std::chrono::duration<double> after = time - begin_;
  for (const RegionEdge& edge : book_.close(after.count()))
    sampler_.cut(edge);
}

void RegionMarks::complete(Measurement& measurement) const {
  measurement.regions = book_.regions();
  std::ranges::copy(book_.warnings(), std::back_inserter(measurement.warnings));
}

}  // namespace bench::energy
