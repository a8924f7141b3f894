#include "transformer/grid.hpp"

#include "harness/communicator.hpp"
#include "transformer/layers.hpp"

#include <cstdint>
#include <stdexcept>
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

namespace {

/// Color of a rank that joins no group of a split.
constexpr std::int64_t no_group = -1;

/// @param size ranks per group
/// @param color the same for all ranks of a group
steps::Communicator group(steps::Communicator& all, std::int64_t size, std::int64_t color) {
  if (size == 1)
    return {};
  if (size == all.size())
    return all;
  return all.split(static_cast<int>(color), all.rank());
}

}  // namespace

Grid::Grid(steps::Communicator& all, const Layout& layout)
    : all_(all), stage_(all.rank() / (layout.tensor * layout.data)), stages_(layout.pipeline) {
  if (layout.devices() != all.size())
    throw std::invalid_argument("the layout has another number of devices than there are ranks");
  const std::int64_t tensor_index = all.rank() % layout.tensor;
  const std::int64_t data_index = all.rank() / layout.tensor % layout.data;
  const std::int64_t rank_in_stage = tensor_index + layout.tensor * data_index;
  tensor_ = group(all, layout.tensor, data_index + layout.data * stage_);
  data_ = group(all, layout.data, tensor_index + layout.tensor * stage_);
  if (stages_ == 1)
    return;
  const bool at_an_end = is_first_stage() || is_last_stage();
  ends_ = all.split(static_cast<int>(at_an_end ? rank_in_stage : no_group), all.rank());
  to_next_stage_ = all.split(static_cast<int>(rank_in_stage), all.rank());
  to_previous_stage_ = all.split(static_cast<int>(rank_in_stage), all.rank());
}

}  // namespace bench::transformer
