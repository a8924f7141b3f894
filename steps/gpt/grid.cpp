#include "gpt/grid.hpp"

#include <stdexcept>

namespace bench::gpt {
namespace {

constexpr std::int64_t nobody_else = -1;

/// @param color the same for the ranks of a group, of which each has `size`
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
    throw std::invalid_argument("a layout of another number of ranks");
  const std::int64_t in_tensor = all.rank() % layout.tensor;
  const std::int64_t in_data = all.rank() / layout.tensor % layout.data;
  const std::int64_t in_stage = in_tensor + layout.tensor * in_data;
  tensor_ = group(all, layout.tensor, in_data + layout.data * stage_);
  data_ = group(all, layout.data, in_tensor + layout.tensor * stage_);
  if (stages_ == 1)
    return;
  const bool at_an_end = is_first_stage() || is_last_stage();
  ends_ = all.split(static_cast<int>(at_an_end ? in_stage : nobody_else), all.rank());
  onward_ = all.split(static_cast<int>(in_stage), all.rank());
  back_ = all.split(static_cast<int>(in_stage), all.rank());
}

}  // namespace bench::gpt
