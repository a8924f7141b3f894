#include "gpt/checkpoint_settings.hpp"

#include "gpt/architecture.hpp"
#include "gpt/options.hpp"
#include "harness/checkpoints.hpp"
#include "transformer/checkpoint_settings.hpp"

#include <fmt/core.h>

namespace bench::gpt {

steps::CheckpointSettings checkpoint_settings(const Options& options) {
  const Architecture& a = options.architecture;
  return transformer::checkpoint_settings(
      options,
      {.program = "gpt",
       .must_match = fmt::format(
           "layers={}\nhidden={}\nheads={}\nsequence={}\nvocabulary={}\npositions={}\n", a.layers,
           a.hidden, a.heads, a.sequence, a.vocabulary, positions_name(a.positions)),
       .should_match =
           fmt::format("attention_dropout={}\nhidden_dropout={}\ngelu={}\n",
                       options.attention_dropout, options.hidden_dropout, options.gelu)});
}

}  // namespace bench::gpt
