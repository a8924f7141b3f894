#include <algorithm>
#include <optional>

#include <bench/energy/core/apparent_power.hpp>
#include <bench/energy/core/coverage.hpp>

namespace bench::energy {

void ApparentPower::add(double time_s, double apparent_va) {
  integral_.add(time_s, apparent_va);
  coverage_.add(time_s);
  max_va_ = std::max(max_va_.value_or(0), apparent_va);
}

void ApparentPower::close(double end_s) {
  integral_.close(end_s);
  end_s_ = end_s;
}

bool ApparentPower::is_known() const {
  return max_va_ && end_s_ > 0 && is_covered(coverage_.missing_until_s(end_s_), end_s_);
}

std::optional<double> ApparentPower::mean_va() const {
  const auto sum = integral_.energy_j();  // volt-ampere seconds
  return is_known() && sum ? std::optional(*sum / end_s_) : std::nullopt;
}

std::optional<double> ApparentPower::max_va() const {
  return is_known() ? max_va_ : std::nullopt;
}

}  // namespace bench::energy
