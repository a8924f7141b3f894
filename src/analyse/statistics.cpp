#include "statistics.hpp"

#include "exact_sums.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <bench/base/integer.hpp>
#include <bench/base/text.hpp>

namespace bench::analyse {
namespace {

struct Numbers {
  Value min, max, sum, sum2, avg, std;
};

double to_real(const Value& value) {
  struct Reader {
    double operator()(long long integer) const { return static_cast<double>(integer); }
    double operator()(double real) const { return real; }
    double operator()(const std::string& digits) const {
      return parse_number(digits).value_or(std::numeric_limits<double>::infinity());
    }
  };
  return std::visit(Reader{}, value);
}

/// Integers beyond 64 bits are strings of digits.
bool is_less(const Value& a, const Value& b) {
  if (std::holds_alternative<double>(a) || std::holds_alternative<double>(b))
    return to_real(a) < to_real(b);
  const auto* small_a = std::get_if<long long>(&a);
  const auto* small_b = std::get_if<long long>(&b);
  return small_a && small_b ? *small_a < *small_b : compare_integers(to_text(a), to_text(b)) < 0;
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

Numbers numbers_of(std::span<const Value> values) {
  std::vector<double> reals;
  Sums sums;
  for (const Value& value : values) {
    const double real = reals.emplace_back(to_real(value));
    sums.sum += real;
    sums.sum2 += real * real;
  }
  sums.avg = sums.sum / static_cast<double>(reals.size());
  Numbers numbers{sums.sum2, sums.sum2, sums.sum, sums.sum2, sums.avg, 0LL};
  if (!std::isnan(sums.sum2)) {
    const auto [min, max] = std::minmax_element(values.begin(), values.end(), is_less);
    numbers.min = *min;
    numbers.max = *max;
  }
  if (const auto exact = exact_sums(values)) {
    numbers.sum = exact->sum;
    numbers.sum2 = exact->sum2;
    numbers.avg = exact->avg;
    if (!std::holds_alternative<double>(exact->sum))
      sums = {to_real(exact->sum), to_real(exact->sum2), exact->avg};
  }
  if (reals.size() > 1)
    numbers.std = deviation(reals, sums);
  return numbers;
}

class Adder {
 public:
  Adder(const Described& described, Findings& findings)
      : described_(described), findings_(findings) {}

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
  adder.add("_min", numbers.min);
  adder.add("_max", numbers.max);
  adder.add("_sum", numbers.sum);
  adder.add("_sum2", numbers.sum2);
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
  adder.add("_std", 0LL);
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
