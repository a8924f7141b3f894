#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include <bench/numbers/change_points.hpp>
#include <bench/numbers/comparison.hpp>
#include <bench/numbers/reals.hpp>

namespace bench::numbers {
namespace {

using Series = std::span<const Measurement>;

bool matters(const Comparison& change, double margin) {
  return change.absent_reason.empty() && std::fabs(change.change) >= margin;
}

/// Centred ranks of the values, with ties sharing a rank.
std::vector<double> centred_ranks(Series stretch) {
  std::vector<double> ordered;
  for (const Measurement& one : stretch)
    ordered.push_back(one.value);
  std::ranges::sort(ordered);
  const double mean = static_cast<double>(stretch.size() - 1) / 2;
  std::vector<double> ranks;
  for (const Measurement& one : stretch) {
    const auto [first, last] = std::ranges::equal_range(ordered, one.value);
    const double before = static_cast<double>(first - ordered.begin());
    ranks.push_back(before + static_cast<double>(last - first - 1) / 2 - mean);
  }
  return ranks;
}

struct Split {
  std::size_t at = 0;
  double difference = 0;  ///< Between the parts, the larger the farther apart.
};

/// Where the mean ranks of the two parts differ most, measured in their standard deviation.
Split best_split(std::span<const double> ranks) {
  Split best;
  double sum = 0;
  const auto n = static_cast<double>(ranks.size());
  for (std::size_t k = 1; k + fewest_of_level <= ranks.size(); ++k) {
    sum += ranks[k - 1];
    const auto left = static_cast<double>(k);
    const double difference = sum * sum / (left * (n - left));
    if (k >= fewest_of_level && difference > best.difference)
      best = {k, difference};
  }
  return best;
}

/// Permutation test: whether random orders of the values rarely differ as much.
bool is_certain(std::vector<double> ranks, double difference) {
  constexpr int orders = 1999;
  constexpr int most = static_cast<int>((orders + 1) * (1 - verdict_confidence)) - 1;
  std::mt19937_64 random(1);
  int as_much = 0;
  for (int k = 0; k < orders && as_much <= most; ++k) {
    std::ranges::shuffle(ranks, random);
    as_much += best_split(ranks).difference >= difference;
  }
  return as_much <= most;
}

std::optional<std::size_t> split_of(Series stretch, double margin) {
  if (stretch.size() < 2 * fewest_of_level)
    return std::nullopt;
  const std::vector<double> ranks = centred_ranks(stretch);
  const Split best = best_split(ranks);
  if (best.at == 0 || !matters(compare(stretch.first(best.at), stretch.subspan(best.at)), margin) ||
      !is_certain(ranks, best.difference))
    return std::nullopt;
  return best.at;
}

/// Appends the start of each level within a stretch, except `first`, where the stretch begins.
void split(Series series, std::size_t first, std::size_t count, double margin,
           std::vector<std::size_t>& begins) {
  const auto at = split_of(series.subspan(first, count), margin);
  if (!at)
    return;
  split(series, first, *at, margin, begins);
  begins.push_back(first + *at);
  split(series, first + *at, count - *at, margin, begins);
}

double median_of(Series series) {
  std::vector<double> values;
  for (const Measurement& one : series)
    values.push_back(one.value);
  return median(std::move(values));
}

/// Counts the last values that each differ from their level with certainty.
void judge_end(Series level, double margin, Levels& made) {
  constexpr std::size_t most = fewest_of_level - 1;
  if (level.size() < most + fewest_of_level)
    return;
  const Series rest = level.first(level.size() - most);
  while (made.undecided < most) {
    const Comparison end = compare(rest, level.subspan(level.size() - made.undecided - 1, 1));
    if (end.chance > 1 - verdict_confidence || !matters(end, margin))
      break;
    if (made.undecided == 0) {
      made.end = end;
      made.end.shown_change = relative_change(median_of(rest), level.back().value);
    }
    ++made.undecided;
  }
}

}  // namespace

Levels levels_of(Series series, double margin) {
  Levels made;
  if (series.empty())
    return made;
  std::vector<std::size_t> begins{0};
  split(series, 0, series.size(), margin, begins);
  for (std::size_t k = 0; k < begins.size(); ++k) {
    const std::size_t end = k + 1 < begins.size() ? begins[k + 1] : series.size();
    const Series values = series.subspan(begins[k], end - begins[k]);
    Level level{.first = begins[k], .count = values.size(), .middle = median_of(values)};
    if (k > 0) {
      level.change = compare(series.subspan(begins[k - 1], begins[k] - begins[k - 1]), values);
      level.change.shown_change = relative_change(made.all.back().middle, level.middle);
    }
    made.all.push_back(level);
  }
  judge_end(series.subspan(made.all.back().first), margin, made);
  return made;
}

}  // namespace bench::numbers
