// Prints when the meter shall sample, in seconds from its start: deadlines INTERVAL_NS SECONDS
#include <cstdio>
#include <cstdlib>

#include <bench/energy/core/ticks.hpp>

int main(int count, char** arguments) {
  if (count != 3)
    return 2;
  const bench::energy::Clock::time_point start;
  bench::energy::Ticks ticks(start, std::chrono::nanoseconds(std::atoll(arguments[1])));
  const std::chrono::duration<double> end(std::atof(arguments[2]));
  for (auto tick = start; tick - start < end; tick = ticks.next(tick))
    std::printf("%.9f\n", std::chrono::duration<double>(tick - start).count());
}
