#include <algorithm>
#include <optional>
#include <span>

#include <bench/model/benchmark.hpp>
#include <bench/run/search.hpp>

namespace bench::sweep {
namespace {

std::optional<long long> smallest_misfit(std::span<const Probe> probes) {
  std::optional<long long> smallest;
  for (const Probe& probe : probes)
    if (!probe.fits)
      smallest = std::min(smallest.value_or(probe.value), probe.value);
  return smallest;
}

}  // namespace

std::optional<long long> largest_fit(std::span<const Probe> probes) {
  const auto misfit = smallest_misfit(probes);
  std::optional<long long> largest;
  for (const Probe& probe : probes)
    if (probe.fits && (!misfit || probe.value < *misfit))
      largest = std::max(largest.value_or(probe.value), probe.value);
  return largest;
}

bool is_contradictory(std::span<const Probe> probes) {
  const auto misfit = smallest_misfit(probes);
  return misfit && std::ranges::any_of(probes, [&](const Probe& probe) {
           return probe.fits && probe.value > *misfit;
         });
}

int most_values(const model::Search& search) {
  const auto halvings = [](long long of, long long by) {
    int count = 0;
    for (; by < of; by *= 2)
      ++count;
    return count;
  };
  return 1 + halvings(search.to, search.from) + halvings(search.to, 2 * search.multiple_of);
}

std::optional<long long> next_value(const model::Search& search, std::span<const Probe> probes) {
  if (probes.empty())
    return search.from;
  const auto fit = largest_fit(probes);
  if (!fit)
    return std::nullopt;
  const auto misfit = smallest_misfit(probes);
  if (!misfit && *fit >= search.to)
    return std::nullopt;
  const long long wanted = misfit ? *fit + (*misfit - *fit) / 2 : std::min(2 * *fit, search.to);
  const long long next = wanted - wanted % search.multiple_of;
  return next > *fit ? std::optional(next) : std::nullopt;
}

}  // namespace bench::sweep
