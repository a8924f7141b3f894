#include "statistics.hpp"

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <bench/analyse/group.hpp>
#include <bench/base/value.hpp>
#include <bench/statistics/statistics.hpp>

namespace bench::analyse {
namespace {

using statistics::OfDefault;
using statistics::Statistic;

class Adder {
 public:
  Adder(const Described& described, Findings& findings)
      : described_(described), findings_(findings) {}

  /// The statistics to add, of numbers or of texts.
  std::vector<const Statistic*> statistics(bool numeric) const {
    std::vector<const Statistic*> chosen;
    for (const Statistic& one : statistics::statistics())
      if ((numeric || !one.of_numbers) &&
          (!one.on_demand || described_.is_looked_up(described_.name + std::string(one.suffix))))
        chosen.push_back(&one);
    return chosen;
  }

  void add(const Statistic& statistic, Value value) const {
    std::string name = described_.name;
    name += statistic.suffix;
    findings_.insert_or_assign(std::move(name),
                               Finding{std::move(value), statistic.has_unit ? described_.unit : "",
                                       described_.estimated, ""});
  }

 private:
  const Described& described_;
  Findings& findings_;
};

}  // namespace

void add_statistics(const Described& described, std::span<const Value> values, bool numeric,
                    Findings& findings) {
  const Adder adder(described, findings);
  std::optional<statistics::Numbers> numbers;
  if (numeric)
    numbers = statistics::numbers_of(values);
  for (const Statistic* statistic : adder.statistics(numeric))
    adder.add(*statistic, statistic->compute(values, numbers ? &*numbers : nullptr));
}

void add_default(const Described& described, const Value& value, bool numeric, Findings& findings) {
  const Adder adder(described, findings);
  for (const Statistic* statistic : adder.statistics(numeric))
    if (statistic->of_default != OfDefault::absent)
      adder.add(*statistic, statistic->of_default == OfDefault::zero ? Value(0LL) : value);
}

void add_absent(const Described& described, const std::string& reason, Findings& findings) {
  const Adder adder(described, findings);
  for (const Statistic* statistic : adder.statistics(true)) {
    adder.add(*statistic, "");
    findings.find(described.name + std::string(statistic->suffix))->second.absent_reason = reason;
  }
}

}  // namespace bench::analyse
