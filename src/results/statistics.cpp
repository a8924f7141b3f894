#include "statistics.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <bench/base/value.hpp>
#include <bench/numbers/statistics.hpp>
#include <bench/results/group.hpp>

namespace bench::results {
namespace {

using numbers::OfDefault;
using numbers::Statistic;

class Adder {
 public:
  Adder(const Described& described, FoundValues& findings)
      : described_(described), findings_(findings) {}

  /// The statistics to add. Without a numeric type, statistics of numbers are on demand.
  std::vector<const Statistic*> statistics(bool numeric) const {
    std::vector<const Statistic*> chosen;
    for (const Statistic& one : numbers::statistics())
      if ((!one.on_demand && (numeric || !one.of_numbers)) ||
          described_.is_looked_up(described_.name + std::string(one.suffix)))
        chosen.push_back(&one);
    return chosen;
  }

  void add(const Statistic& statistic, Value value) const {
    std::string name = described_.name;
    name += statistic.suffix;
    findings_.insert_or_assign(
        std::move(name), FoundValue{std::move(value), statistic.has_unit ? described_.unit : "",
                                    described_.estimated, ""});
  }

  void add_absent(const Statistic& statistic, const std::string& reason) const {
    add(statistic, "");
    findings_.find(described_.name + std::string(statistic.suffix))->second.absent_reason = reason;
  }

 private:
  const Described& described_;
  FoundValues& findings_;
};

}  // namespace

void add_statistics(const Described& described, std::span<const Value> values, bool numeric,
                    FoundValues& findings) {
  const Adder adder(described, findings);
  const auto chosen = adder.statistics(numeric);
  std::vector<Value> typed;
  std::string not_a_number;
  if (!numeric && std::ranges::any_of(chosen, &Statistic::of_numbers)) {
    for (const Value& value : values)
      if (auto number = numbers::numeric_value(value))
        typed.push_back(*std::move(number));
      else if (not_a_number.empty())
        not_a_number = fmt::format("'{}' is not a number", to_text(value));
  }
  const std::span<const Value> numbers = numeric ? values : typed;
  std::optional<numbers::Numbers> common;
  if (!numbers.empty() && not_a_number.empty())
    common = numbers::numbers_of(numbers);
  for (const Statistic* statistic : chosen)
    if (!statistic->of_numbers)
      adder.add(*statistic, statistic->compute(values, nullptr));
    else if (common)
      adder.add(*statistic, statistic->compute(numbers, &*common));
    else
      adder.add_absent(*statistic, not_a_number);
}

void add_default(const Described& described, const Value& value, bool numeric,
                 FoundValues& findings) {
  const Adder adder(described, findings);
  for (const Statistic* statistic : adder.statistics(numeric))
    if (statistic->of_default != OfDefault::absent)
      adder.add(*statistic, statistic->of_default == OfDefault::zero ? Value(0LL) : value);
}

void add_absent(const Described& described, const std::string& reason, FoundValues& findings) {
  const Adder adder(described, findings);
  for (const Statistic* statistic : adder.statistics(true))
    adder.add_absent(*statistic, reason);
}

}  // namespace bench::results
