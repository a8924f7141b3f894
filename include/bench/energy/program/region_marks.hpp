#pragma once

#include <filesystem>
#include <memory>
#include <string_view>

#include <bench/energy/core/measurement.hpp>
#include <bench/energy/core/region_book.hpp>
#include <bench/energy/core/ticks.hpp>
#include <bench/energy/program/sampler.hpp>

namespace bench::energy {

/// Takes the marks of a program and has the sampler cut the energy there.
class RegionMarks {
 public:
  /// @param record of the run; may be null
  /// @throws bench::Error as RegionFile
  RegionMarks(const std::filesystem::path& file, Sampler& sampler,
              std::shared_ptr<RunRecord> record = nullptr);

  /// Where the program is to make them, which the variable of region.hpp tells it.
  const std::filesystem::path& path() const { return file_.path(); }
  /// The program was started at `time`.
  void begin(Clock::time_point time);
  /// The program has ended at `time`.
  void end(Clock::time_point time);
  /// Adds what is known of the regions, but for their energies.
  void complete(Measurement& measurement) const;

 private:
  void take(std::string_view line, Clock::time_point received);

  RegionFile file_;
  Sampler& sampler_;
  std::shared_ptr<RunRecord> record_;
  RegionBook book_;
  Clock::time_point begin_;
};

}  // namespace bench::energy
