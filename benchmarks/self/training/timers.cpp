// What timing costs a step of a step program: timers [DEVICE], the CPU if none. Between the steps,
// which have the regions of `vision` and nothing in them, other memory goes through the caches, as
// that of a training step does. With BENCH_ENERGY_REGIONS set to a file the marks for the meter are
// written too, as under `bench-energy --regions`.

#include "harness/timers.hpp"

#include "harness/device.hpp"
#include "harness/log.hpp"

#include <chrono>
#include <cstddef>
#include <vector>

#include <bench/energy/regions/region.hpp>

namespace {

using namespace bench;
using steps::Region;

constexpr int steps_of_epoch = 300;
constexpr std::size_t more_than_caches = 64 << 20;

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void empty_step(steps::Timers& timers) {
  timers.begin_batch();
  for (const Region part :
       {Region::io, Region::forward, Region::backward, Region::comm, Region::optimizer})
    timers.timed(part, [] {});
  timers.end_batch();
}

}  // namespace

int main(int argc, char** argv) {
  steps::Timers timers(steps::make_clock(steps::select_device(argc > 1 ? argv[1] : "cpu")));
  std::vector<char> other_memory(more_than_caches);
  std::vector<double> step_s;
  timers.begin_epoch();
  for (int step = 0; step < steps_of_epoch; ++step) {
    for (char& byte : other_memory)
      ++byte;
    const auto begin = std::chrono::steady_clock::now();
    empty_step(timers);
    step_s.push_back(seconds_since(begin));
  }
  const auto begin = std::chrono::steady_clock::now();
  timers.end_epoch();
  const double after_epoch_s = seconds_since(begin);

  steps::log_statistics("timers_per_step", "s", step_s);
  steps::log_value("after_epoch_per_step_s", after_epoch_s / steps_of_epoch);
  steps::log_value("marks_for_meter", energy::region_file() >= 0 ? "written" : "none");
}
