// Needs no other file of this module: the step programs have it, too.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/format.h>
#include <fmt/ranges.h>  // join, since fmt 11

#include <bench/base/text.hpp>

namespace bench {
namespace {

bool are_same(unsigned char a, unsigned char b) {
  return std::tolower(a) == std::tolower(b);
}

/// Optimal string alignment: insertions, deletions, substitutions and swaps of neighbours. Upper
/// and lower case are the same.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j)
    d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i)
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t cost = are_same(a[i - 1], b[j - 1]) ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + cost});
      if (i > 1 && j > 1 && are_same(a[i - 1], b[j - 2]) && are_same(a[i - 2], b[j - 1]))
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

std::optional<std::string> closest(std::string_view word, std::span<const std::string> known) {
  if (word.size() < 2)
    return std::nullopt;  // every other letter is as near
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(1, (word.size() + 1) / 3) + 1;
  for (const std::string& candidate : known)
    if (const auto d = distance(word, candidate); d < best_distance) {
      best = candidate;
      best_distance = d;
    }
  return best;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  const std::optional<std::string> best = closest(word, known);
  return best ? fmt::format("did you mean '{}'?", *best) : "";
}

std::string suggestion(std::string_view word, std::span<const std::string> known,
                       std::string_view introduction) {
  const std::string near = did_you_mean(word, known);
  return near.empty() && !known.empty() ? fmt::format("{}{}", introduction, fmt::join(known, ", "))
                                        : near;
}

}  // namespace bench
