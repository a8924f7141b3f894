#include "gpt/layout.hpp"

#include "gpt/architecture.hpp"

#include <cstdint>
#include <string>

#include <fmt/core.h>

namespace bench::gpt {

std::string layout_error(const Architecture& architecture, const Layout& layout) {
  const struct {
    const char* what;
    std::int64_t count;
    std::int64_t parts;
    const char* whom;
  } shares[] = {
      {"heads", architecture.heads, layout.tensor, "tensor-parallel ranks"},
      {"tokens of a sequence", architecture.sequence, layout.tensor, "tensor-parallel ranks"},
      {"tokens of the vocabulary", architecture.vocabulary, layout.tensor, "tensor-parallel ranks"},
      {"layers", architecture.layers, layout.pipeline, "pipeline stages"},
  };
  for (const auto& share : shares)
    if (share.count % share.parts != 0)
      return fmt::format("{} {} cannot be shared by {} {}", share.count, share.what, share.parts,
                         share.whom);
  return "";
}

}  // namespace bench::gpt
