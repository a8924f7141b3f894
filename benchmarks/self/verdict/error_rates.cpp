// How often bench's verdict on two series is wrong: draws pairs of series with known noise and a
// known change between them, and counts the words.
//
//   c++ -std=c++20 -O2 -Iinclude benchmarks/self/verdict/error_rates.cpp
//     src/numbers/{change_points,comparison,reals}.cpp -lfmt
//   ./a.out NOISE RUNS CV_PERCENT CHANGE_PERCENT [PAIRS [SEED]]

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string_view>
#include <vector>

#include <bench/numbers/comparison.hpp>

namespace {

using bench::numbers::Sample;
using bench::numbers::Word;
using Random = std::mt19937_64;

double normal(Random& random) {
  return std::normal_distribution<double>()(random);
}

bool with_probability(double share, Random& random) {
  return std::bernoulli_distribution(share)(random);
}

/// Two narrow modes with a standard deviation of 1 over all.
double bimodal(double upper_share, Random& random) {
  constexpr double within = 0.3;
  const double apart = std::sqrt((1 - within * within) / (upper_share * (1 - upper_share)));
  const bool upper = with_probability(upper_share, random);
  return apart * ((upper ? 1 : 0) - upper_share) + within * normal(random);
}

/// Normal noise of deviation 1, of which a tenth is 10 slower.
double with_outliers(Random& random) {
  return normal(random) + (with_probability(0.1, random) ? 10 : 0);
}

enum class Order { a_then_b, in_turn };

/// The deviations of 2 n values, in the order in which they are measured.
using Noise = std::vector<double> (*)(std::size_t runs, Random& random);

template <double (*draw)(Random&)>
std::vector<double> independent(std::size_t runs, Random& random) {
  std::vector<double> noise;
  for (std::size_t k = 0; k < 2 * runs; ++k)
    noise.push_back(draw(random));
  return noise;
}

/// A linear drift, up or down, over `length` values and again from its beginning. It makes half of
/// the variance of each series, which is 1; between two of its values it goes on by `steps`.
std::vector<double> drifting(std::size_t runs, std::size_t length, double steps, Random& random) {
  const auto n = static_cast<double>(runs);
  const double step =
      std::sqrt(0.5 * 12 / (n * (n + 1))) / steps * (with_probability(0.5, random) ? 1 : -1);
  std::vector<double> noise;
  for (std::size_t k = 0; k < 2 * runs; ++k)
    noise.push_back(std::sqrt(0.5) * normal(random) + step * static_cast<double>(k % length));
  return noise;
}

/// Each value keeps half of the one before.
std::vector<double> correlated(std::size_t runs, Random& random) {
  constexpr double kept = 0.5;
  std::vector<double> noise{normal(random)};
  while (noise.size() < 2 * runs)
    noise.push_back(kept * noise.back() + std::sqrt(1 - kept * kept) * normal(random));
  return noise;
}

/// Normal noise, and ten times less of it on one side.
std::vector<double> unequal(std::size_t runs, Random& random) {
  std::vector<double> noise = independent<normal>(runs, random);
  const std::size_t first = with_probability(0.5, random) ? 0 : runs;
  for (std::size_t k = 0; k < runs; ++k)
    noise[first + k] /= 10;
  return noise;
}

double bimodal_equal(Random& random) {
  return bimodal(0.5, random);
}
double bimodal_unequal(Random& random) {
  return bimodal(0.2, random);
}

struct Case {
  std::string_view name;
  Order order;
  Noise noise;
};

constexpr std::array cases{
    Case{"normal", Order::a_then_b, independent<normal>},
    Case{"bimodal", Order::a_then_b, independent<bimodal_equal>},
    Case{"bimodal_20_80", Order::a_then_b, independent<bimodal_unequal>},
    Case{"outliers", Order::a_then_b, independent<with_outliers>},
    Case{"unequal", Order::a_then_b, unequal},
    Case{"drift_in_turn", Order::in_turn,
         [](std::size_t n, Random& r) { return drifting(n, 2 * n, 2, r); }},
    Case{"drift_a_then_b", Order::a_then_b,
         [](std::size_t n, Random& r) { return drifting(n, 2 * n, 1, r); }},
    Case{"drift_of_each", Order::a_then_b,
         [](std::size_t n, Random& r) { return drifting(n, n, 1, r); }},
    Case{"correlated_in_turn", Order::in_turn, correlated},
    Case{"correlated_a_then_b", Order::a_then_b, correlated},
};

struct Counts {
  std::size_t right = 0;  ///< Called a change, of the sign that it has.
  std::size_t wrong = 0;
  std::size_t drift = 0;
  std::size_t equal = 0;
  std::size_t too_few = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5)
    return 2;
  const auto number = [&](int k, double otherwise) {
    return argc > k ? std::atof(argv[k]) : otherwise;
  };
  const Case* chosen = nullptr;
  for (const Case& one : cases)
    if (one.name == argv[1])
      chosen = &one;
  if (!chosen)
    return 2;
  const auto runs = static_cast<std::size_t>(number(2, 10));
  const double cv = number(3, 1) / 100;
  const double change = number(4, 3) / 100;
  const auto pairs = static_cast<std::size_t>(number(5, 10'000));
  Random random(static_cast<std::uint64_t>(number(6, 1)));
  Counts counts;
  for (std::size_t pair = 0; pair < pairs; ++pair) {
    const bool up = with_probability(0.5, random);
    const double factor = 1 + (up ? change : -change);
    const std::vector<double> noise = chosen->noise(runs, random);
    Sample a;
    Sample b;
    for (std::size_t k = 0; k < noise.size(); ++k) {
      const bool of_a = chosen->order == Order::in_turn ? k % 2 == 0 : k < runs;
      const double value = 100 * (1 + cv * noise[k]) * (of_a ? 1 : factor);
      (of_a ? a : b).push_back({.value = value, .start_unix_s = static_cast<double>(k)});
    }
    const std::array comparisons{bench::numbers::compare(a, b)};
    const auto verdict = bench::numbers::decide(comparisons, 0.01).front();
    const bool called = verdict.word == Word::higher || verdict.word == Word::lower;
    const bool is_right = change != 0 && verdict.word == (up ? Word::higher : Word::lower);
    counts.right += is_right;
    counts.wrong += called && !is_right;
    counts.drift += verdict.objection == bench::numbers::Objection::drift;
    counts.equal += verdict.word == Word::equal;
    counts.too_few += verdict.word == Word::too_few_runs;
  }
  const auto percent = [&](std::size_t count) {
    return 100 * static_cast<double>(count) / static_cast<double>(pairs);
  };
  std::printf("pairs=%zu found=%.2f wrong=%.2f drift=%.2f equal=%.2f too_few=%.2f\n", pairs,
              percent(counts.right), percent(counts.wrong), percent(counts.drift),
              percent(counts.equal), percent(counts.too_few));
}
