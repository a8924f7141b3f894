#include "llama/plan.hpp"

#include "llama/architecture.hpp"
#include "llama/options.hpp"
#include "transformer/plan.hpp"

#include <cstdint>

namespace bench::llama {

transformer::PlannedModel planned_model(const Options& options) {
  const auto real = [](std::int64_t number) { return static_cast<double>(number); };
  const Architecture& a = options.architecture;
  const double h = real(a.hidden);
  const double k = real(a.key_value_heads * a.sizes().head_size());
  const double mlps = a.experts == 0 ? 1 : real(a.experts);
  const double used = a.experts == 0 ? 1 : real(a.experts_per_token);
  constexpr double fp32_bytes = 4;
  const double bytes = transformer::is_half(options) ? 2 : fp32_bytes;
  const double numbers = 4 * h + 2 * h + 2 * k + 4 * used * real(a.mlp) +  // without norms' inputs
                         (a.experts == 0 ? 0 : 3 * used * h);
  return {.program = "llama",
          .name = a.name,
          .parameters = Counts(a).parameters(),
          .sizes = a.sizes(),
          .split_parameters = 2 * h * h + 2 * h * k + 3 * mlps * h * real(a.mlp),
          .whole_parameters = 2 * h + real(a.experts) * h,
          .tables = a.tied_embedding ? 1.0 : 2.0,
          .end_parameters = h,
          .kept_bytes_per_token = numbers * bytes + 2 * h * fp32_bytes,
          .experts = a.experts};
}

}  // namespace bench::llama
