#include "repetition.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include <fmt/core.h>

#include <bench/model/benchmark.hpp>
#include <bench/numbers/reals.hpp>

namespace bench::sweep {
namespace {

/// `2.3 %`, or `0.4` in the unit of the value.
std::string width_text(const model::Repetition& repetition, double width) {
  constexpr double percent = 100;
  return repetition.relative ? fmt::format("{:.2g} %", width * percent)
                             : fmt::format("{:.3g}", width);
}

double width_of(const model::Repetition& repetition, const Repeated& repeated) {
  const double half = statistics::mean_halfwidth(repeated.values);
  if (!repetition.relative)
    return half;
  return half == 0 ? 0 : half / std::fabs(statistics::mean(repeated.values));
}

/// The width of the interval falls with the square root of the number of values.
int expected_more(const Repeated& repeated, double width, double limit) {
  const auto count = static_cast<double>(repeated.values.size());
  const double needed = count * (width / limit) * (width / limit);
  return static_cast<int>(
      std::clamp(std::ceil(needed - count), 1.0, std::max(1.0, std::floor(count))));
}

}  // namespace

RepetitionDecision decide(const model::Repetition& repetition, const Repeated& repeated,
                          bool by_estimate) {
  if (repeated.values.empty())
    return {.reason = fmt::format("no iteration has a value of {}", repetition.value)};
  if (!std::ranges::all_of(repeated.values, [](double value) { return std::isfinite(value); }))
    return {.reason = fmt::format("{} is not finite in all iterations", repetition.value)};
  const double width = width_of(repetition, repeated);
  if (width < repetition.limit)
    return {.known = true};
  if (repeated.dominated)
    return {};
  const std::string state =
      fmt::format("{} after {} iterations", width_text(repetition, width), repeated.iterations);
  if (2 * repeated.failed >= repeated.iterations)
    return {.reason = fmt::format("{}, of which {} failed", state, repeated.failed)};
  if (repeated.next >= repetition.most)
    return {.reason = state + ", the maximum"};
  if (repeated.affordable < 1)
    return {.reason = state + ", and the budget is used up"};
  const int wanted = by_estimate ? expected_more(repeated, width, repetition.limit) : 1;
  return {.more = std::min({wanted, repetition.most - repeated.next, repeated.affordable})};
}

}  // namespace bench::sweep
