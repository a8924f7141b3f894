#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace bench::analyse {
namespace {

__extension__ using Wide = __int128;  // Not in ISO C++, but in both compilers that we build with.

using Number = std::variant<long long, double>;

struct Numbers {
  Number min, max, sum, sum2;
  double avg = 0;
  double std = 0;
};

double to_real(const Value& value) {
  const auto* integer = std::get_if<long long>(&value);
  return integer ? static_cast<double>(*integer) : std::get<double>(value);
}

double to_real(const Number& number) {
  return std::visit([](auto value) { return static_cast<double>(value); }, number);
}

Number narrowed(Wide wide) {
  if (wide >= std::numeric_limits<long long>::min() &&
      wide <= std::numeric_limits<long long>::max())
    return static_cast<long long>(wide);
  return static_cast<double>(wide);
}

/// What deviations are computed from.
struct Sums {
  double sum = 0;
  double sum2 = 0;
  double avg = 0;
};

/// Sample deviation with n-1. As JUBE computes it, sqrt(|sum2 - sum^2/n| / (n-1)), so that tables
/// agree to the last digit; where that difference would cancel six digits or more, in two passes.
/// Source of both: Chan, Golub, LeVeque, The American Statistician 37 (1983) 242, eq. 1.1, 1.2.
double deviation(std::span<const double> values, const Sums& sums) {
  if (values.size() < 2)
    return 0;
  constexpr double least_share = 1e-6;
  const auto count = static_cast<double>(values.size());
  double squares = std::fabs(sums.sum2 - sums.sum * sums.sum / count);
  if (!(squares > least_share * sums.sum2)) {
    squares = 0;
    for (const double value : values)
      squares += (value - sums.avg) * (value - sums.avg);
  }
  return std::sqrt(squares / (count - 1));
}

Numbers numbers_of(std::span<const double> values) {
  Numbers numbers;
  double sum = 0;
  double sum2 = 0;
  for (const double value : values) {
    sum += value;
    sum2 += value * value;
  }
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  numbers.min = std::isnan(sum2) ? sum2 : *min;
  numbers.max = std::isnan(sum2) ? sum2 : *max;
  numbers.sum = sum;
  numbers.sum2 = sum2;
  numbers.avg = sum / static_cast<double>(values.size());
  numbers.std = deviation(values, {sum, sum2, numbers.avg});
  return numbers;
}

/// The integer statistics, or nothing where a sum does not even fit into 128 bits.
std::optional<Numbers> exact_numbers_of(std::span<const long long> values) {
  Wide sum = 0;
  Wide sum2 = 0;
  for (const long long value : values) {
    sum += value;
    if (__builtin_add_overflow(sum2, static_cast<Wide>(value) * value, &sum2))
      return std::nullopt;
  }
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  return Numbers{*min,
                 *max,
                 narrowed(sum),
                 narrowed(sum2),
                 static_cast<double>(sum) / static_cast<double>(values.size()),
                 0};
}

Numbers numbers_of(std::span<const Value> values) {
  std::vector<double> reals;
  std::vector<long long> integers;
  for (const Value& value : values) {
    reals.push_back(to_real(value));
    if (const auto* integer = std::get_if<long long>(&value))
      integers.push_back(*integer);
  }
  if (integers.size() == values.size())
    if (auto exact = exact_numbers_of(integers)) {
      exact->std = deviation(reals, {to_real(exact->sum), to_real(exact->sum2), exact->avg});
      return *exact;
    }
  return numbers_of(std::span<const double>(reals));
}

class Adder {
 public:
  Adder(const Described& described, Findings& findings)
      : described_(described), findings_(findings) {}

  void add_number(std::string_view suffix, Number number) const {
    std::visit([&](auto value) { add(suffix, value); }, number);
  }

  void add(std::string_view suffix, Value value) const {
    std::string name = described_.name;
    name += suffix;
    const bool has_unit = suffix != "_cnt" && suffix != "_sum2";
    findings_.insert_or_assign(
        std::move(name),
        Finding{std::move(value), has_unit ? described_.unit : "", described_.estimated, ""});
  }

 private:
  const Described& described_;
  Findings& findings_;
};

}  // namespace

std::string_view without_suffix(std::string_view name) {
  const auto cut = [&](const auto& suffixes) {
    for (const std::string_view suffix : suffixes)
      if (name.ends_with(suffix)) {
        name.remove_suffix(suffix.size());
        return;
      }
  };
  const std::size_t size = name.size();
  cut(text_suffixes);
  if (name.size() == size)
    cut(number_suffixes);
  return name;
}

void add_statistics(const Described& described, std::span<const Value> values, bool numeric,
                    Findings& findings) {
  const Adder adder(described, findings);
  adder.add("", values.front());
  adder.add("_first", values.front());
  adder.add("_last", values.back());
  adder.add("_cnt", static_cast<long long>(values.size()));
  if (!numeric)
    return;
  const Numbers numbers = numbers_of(values);
  adder.add_number("_min", numbers.min);
  adder.add_number("_max", numbers.max);
  adder.add_number("_sum", numbers.sum);
  adder.add_number("_sum2", numbers.sum2);
  adder.add("_avg", numbers.avg);
  adder.add("_std", numbers.std);
}

void add_default(const Described& described, const Value& value, bool numeric, Findings& findings) {
  const Adder adder(described, findings);
  for (const std::string_view suffix : {"", "_first", "_last"})
    adder.add(suffix, value);
  adder.add("_cnt", 0LL);
  if (!numeric)
    return;
  for (const std::string_view suffix : {"_min", "_max", "_sum", "_avg"})
    adder.add(suffix, value);
  adder.add("_std", 0.0);
}

void add_absent(const Described& described, const std::string& reason, Findings& findings) {
  const Adder adder(described, findings);
  const auto add = [&](std::string_view suffix) {
    adder.add(suffix, "");
    findings.find(described.name + std::string(suffix))->second.absent_reason = reason;
  };
  add("");
  for (const std::string_view suffix : text_suffixes)
    add(suffix);
  for (const std::string_view suffix : number_suffixes)
    add(suffix);
}

}  // namespace bench::analyse
