#include "gpt/plan.hpp"

#include "gpt/architecture.hpp"
#include "gpt/options.hpp"
#include "transformer/plan.hpp"

namespace bench::gpt {

transformer::PlannedModel planned_model(const Options& options) {
  const Architecture& a = options.architecture;
  const double h = real(a.hidden);
  const bool is_rotary = a.positions == Positions::rotary;
  const double numbers = (is_rotary ? 19 : 17) * h;
  const double masks = options.hidden_dropout > 0 ? 2 * h : 0;
  return {.program = "gpt",
          .name = a.name,
          .parameters = Counts(a).parameters(),
          .sizes = a.sizes(),
          .split_parameters = 12 * h * h + 7 * h,  // matrices, biases of the split
          .whole_parameters = 6 * h,               // normalisations, biases behind the sums
          .end_parameters = (is_rotary ? 0 : real(a.sequence) * h) + 2 * h,
          .kept_bytes_per_token = numbers * (transformer::is_half(options) ? 2 : 4) + masks,
          .has_attention_dropout = options.attention_dropout > 0};
}

}  // namespace bench::gpt
