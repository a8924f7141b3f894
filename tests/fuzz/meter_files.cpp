#include "../support/temp_directory.hpp"
#include "invariant.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <bench/base/error.hpp>
#include <bench/energy/program/energy_table.hpp>
#include <bench/energy/program/recover.hpp>
#include <bench/energy/program/report.hpp>
#include <bench/energy/program/run_record.hpp>

namespace bench::fuzz {
namespace {

/// Up to the next line `==`, which is taken, too.
std::string take_part(std::string_view& text) {
  constexpr std::string_view mark = "==\n";
  const auto end = text.find(mark);
  const std::string part(text.substr(0, end));
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + mark.size());
  return part;
}

template <class Read>
void may_refuse(Read read) {
  try {
    read();
  } catch (const Error& error) {
    require(!error.message().empty(), "an error says what is wrong");
  }
}

void check(std::string_view text) {
  static const support::TempDirectory directory;
  const std::string table = take_part(text);
  const auto file = directory.write("energy.node.1.csv", table);
  may_refuse([&] {
    require(!energy::read_energy_file(file).node.empty(), "an energy file tells its node");
  });
  const std::string record = take_part(text);
  may_refuse([&] {
    const energy::RecoveredRun run = energy::recover_run(
        file, record.empty() ? std::nullopt : std::optional(energy::parse_run_record(record)),
        take_part(text));
    require(std::isfinite(run.measurement.duration_s), "a run has a duration");
    require(!energy::render_regions_csv(run.measurement).empty(), "a table has a first line");
  });
}

}  // namespace
}  // namespace bench::fuzz

/// `power.csv`, the record beside it, and the marks of regions, each but the last ended by `==`.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bench;
  fuzz::check(fuzz::text_of(data, size));
  return 0;
}
