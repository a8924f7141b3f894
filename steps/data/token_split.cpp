#include "data/token_split.hpp"

#include "harness/program.hpp"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {
namespace {

constexpr std::size_t parts = 3;

}  // namespace

std::vector<double> parse_split(const std::string& text) {
  const auto fail = [&] {
    throw UsageError(fmt::format("'{}' is not a split", text),
                     "give the weights of training, validation and test, for example 7,3,1");
  };
  std::vector<double> weights;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    double weight = 0;
    const auto [behind, error] = std::from_chars(at, end, weight);
    if (error != std::errc() || !std::isfinite(weight) || weight < 0)
      fail();
    weights.push_back(weight);
    if (behind == end)
      break;
    if (*behind != ',')
      fail();
    at = behind + 1;
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  if (weights.size() > parts || !(sum > 0) || !std::isfinite(sum))
    fail();
  weights.resize(parts);
  return weights;
}

DocumentRange split(std::uint64_t documents, const std::vector<double>& weights, Part part) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto end_of = [&](std::size_t count) {
    if (count == weights.size())
      return documents;  // whatever rounding says
    const double before =
        std::accumulate(weights.begin(), weights.begin() + static_cast<std::ptrdiff_t>(count), 0.0);
    return static_cast<std::uint64_t>(std::llround(before / sum * static_cast<double>(documents)));
  };
  const auto index = static_cast<std::size_t>(part);
  return {end_of(index), end_of(index + 1)};
}

}  // namespace bench::steps
