#include "invariant.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <bench/base/error.hpp>
#include <bench/share/mlperf.hpp>

namespace bench::fuzz {
namespace {

void check(std::string_view text) {
  const mlperf::Log log = mlperf::parse_log(text);
  for (std::size_t k = 1; k < log.events.size(); ++k)
    require(log.events[k - 1].line < log.events[k].line, "lines are in the order of the log");
  for (const mlperf::Violation& violation : mlperf::violations_of(log))
    require(!violation.message.empty(), "a violation says what is wrong");
  try {
    const std::array logs{log, log};
    for (const mlperf::Result& result : mlperf::results_of(logs)) {
      require(mlperf::score_of(result).counted.size() <= logs.size(), "no training counts twice");
      require(mlperf::throughput_of(result).counted.size() <= logs.size(),
              "no training counts twice");
    }
  } catch (const Error& error) {
    require(!error.message().empty(), "an error says what is wrong");
  }
}

}  // namespace
}  // namespace bench::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bench;
  fuzz::check(fuzz::text_of(data, size));
  return 0;
}
