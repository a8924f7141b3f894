#include "transformer/layout.hpp"

#include "transformer/decoder_sizes.hpp"

#include <cstdint>
#include <string>

#include <fmt/core.h>

namespace bench::transformer {

std::string layout_error(const DecoderSizes& sizes, const Layout& layout) {
  const struct {
    const char* what;
    std::int64_t count;
    std::int64_t shares;
    const char* sharers;
  } divisions[] = {
      {"heads", sizes.heads, layout.tensor, "tensor-parallel ranks"},
      {"key/value heads", sizes.key_value_heads, layout.tensor, "tensor-parallel ranks"},
      {"columns of the MLP", sizes.mlp, layout.tensor, "tensor-parallel ranks"},
      {"tokens of a sequence", sizes.sequence, layout.tensor, "tensor-parallel ranks"},
      {"tokens of the vocabulary", sizes.vocabulary, layout.tensor, "tensor-parallel ranks"},
      {"layers", sizes.layers, layout.pipeline, "pipeline stages"},
  };
  for (const auto& [what, count, shares, sharers] : divisions)
    if (count % shares != 0)
      return fmt::format("{} {} cannot be shared by {} {}", count, what, shares, sharers);
  return "";
}

}  // namespace bench::transformer
