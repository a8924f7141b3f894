#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fmt/core.h>

#include <bench/base/outage.hpp>
#include <bench/base/text.hpp>
#include <bench/base/time.hpp>

namespace bench {

using std::chrono::milliseconds;

double outage_patience_s() {
  constexpr double usual_s = 60;
  const char* const wanted = std::getenv("BENCH_PATIENCE_S");
  if (!wanted || !*wanted)
    return usual_s;
  const auto seconds = parse_number(wanted);
  if (!seconds || !(*seconds >= 0))
    throw Error(Id::invalid_value, fmt::format("BENCH_PATIENCE_S is '{}'", wanted),
                "give the seconds that bench waits for a machine that refuses something");
  return std::min(*seconds, longest_duration_s);
}

bool is_fault_of_machine(const Error& error, const std::filesystem::path& directory) {
  std::error_code failure;
  return error.may_pass() || dynamic_cast<const MachineError*>(&error) ||
         (!directory.empty() && !std::filesystem::exists(directory, failure));
}

bool Outage::try_again() {
  constexpr milliseconds first_pause{100};
  constexpr milliseconds longest_pause{5000};
  const Clock::time_point now = now_();
  if (!since_)
    since_ = now;
  const std::chrono::duration<double> left =
      *since_ + std::chrono::duration<double>(outage_patience_s()) - now;
  if (left.count() <= 0) {
    next_.reset();
    return false;
  }
  pause_ = pause_.count() == 0 ? first_pause : std::min(pause_ * 2, longest_pause);
  next_ = now + std::min(pause_, std::chrono::ceil<milliseconds>(left));
  return true;
}

void Outage::end() {
  *this = Outage(now_);
}

double Outage::seconds_to_retry() const {
  if (!next_)
    return 0;
  return std::max(0.0, std::chrono::duration<double>(*next_ - now_()).count());
}

}  // namespace bench
