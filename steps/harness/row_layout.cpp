#include "harness/row_layout.hpp"

#include "harness/flat_parameters.hpp"
#include "harness/program.hpp"
#include "harness/random_state.hpp"
#include "harness/saved_state.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>  // join, since fmt 11

namespace bench::steps {
namespace {

using Range = FlatParameters::Range;
using Parameter = RowLayout::Parameter;

std::int64_t length(const Range& range) {
  return range.end - range.begin;
}

/// A parameter's part of a row, (stacked, rows of one, ...).
torch::Tensor part_of(const torch::Tensor& row, const Parameter& parameter) {
  std::vector<std::int64_t> shape = parameter.shape;
  shape.front() /= parameter.split.stacked;
  shape.insert(shape.begin(), parameter.split.stacked);
  return row.narrow(0, parameter.range.begin, length(parameter.range)).view(shape);
}

/// A parameter's range of the split dimension.
Range place_of(const Parameter& parameter) {
  const Split& split = parameter.split;
  std::int64_t size = parameter.shape.at(static_cast<std::size_t>(split.dimension));
  if (split.dimension == 0)
    size /= split.stacked;
  return {size * split.part, size * (split.part + 1)};
}

/// The names of the rows in a state.
std::vector<std::string> row_names(const SavedState& state) {
  std::vector<std::string> rows;
  const torch::Tensor& weights = state.tensor(saved_weights);
  for (const std::string& name : state.names())
    if (state.tensor(name).sizes() == weights.sizes() &&
        state.tensor(name).scalar_type() == weights.scalar_type())
      rows.push_back(name);
  return rows;
}

/// The rows of a rank under construction.
class Rows {
 public:
  explicit Rows(const RowLayout& layout) : layout_(layout), found_(layout.parameters.size()) {}

  /// Takes the needed parts from the shares of a row.
  void take(const RowLayout& saved, const std::vector<SavedState>& shares) {
    for (const std::string& name : row_names(shares.front())) {
      std::vector<torch::Tensor> parts;
      for (const SavedState& share : shares)
        parts.push_back(share.tensor(name));
      const torch::Tensor row = torch::cat(parts);
      if (row.numel() != saved.numbers)
        throw std::runtime_error(fmt::format("the row '{}' of a checkpoint has {} numbers, not {}",
                                             name, row.numel(), saved.numbers));
      torch::Tensor& own = rows_[name];
      if (!own.defined())
        own = torch::zeros({layout_.numbers}, row.options());
      for (std::size_t i = 0; i < layout_.parameters.size(); ++i)
        for (const Parameter& parameter : saved.parameters)
          if (parameter.name == layout_.parameters[i].name)
            copy(parameter, row, i, own);
    }
  }

  /// Adds this rank's share of each row.
  void add_to(SavedState& state) const {
    for (std::size_t i = 0; i < found_.size(); ++i) {
      std::int64_t sum = 0;
      for (const auto& [part, count] : found_[i])
        sum += count;
      if (sum != length(layout_.parameters[i].range))
        throw HintedError(
            fmt::format("the checkpoint has {} of {} numbers of '{}'", sum,
                        length(layout_.parameters[i].range), layout_.parameters[i].name),
            "continue with the layout that it was saved with");
    }
    for (const auto& [name, row] : rows_)
      state.set(name, row.narrow(0, layout_.share.begin, length(layout_.share)).clone());
  }

 private:
  /// Copies the part of one of this rank's parameters that `from`, in a saved row, contains.
  void copy(const Parameter& from, const torch::Tensor& row, std::size_t own_index,
            const torch::Tensor& own_row) {
    const Parameter& to = layout_.parameters[own_index];
    const Range there = place_of(from);
    const Range here = place_of(to);
    const std::int64_t begin = std::max(there.begin, here.begin);
    const std::int64_t size = std::min(there.end, here.end) - begin;
    if (size <= 0)
      return;
    const std::int64_t dimension = to.split.dimension + 1;  // after the stack dimension
    const torch::Tensor target = part_of(own_row, to).narrow(dimension, begin - here.begin, size);
    target.copy_(part_of(row, from).narrow(dimension, begin - there.begin, size));
    found_[own_index][from.split.part] = target.numel();
  }

  const RowLayout& layout_;
  std::map<std::string, torch::Tensor> rows_;
  /// For each parameter, how many numbers were found in each part.
  std::vector<std::map<std::int64_t, std::int64_t>> found_;
};

}  // namespace

std::string RowLayout::text() const {
  std::string text =
      fmt::format("{} {} {}\n{}\n", numbers, share.begin, share.end, fmt::join(ranks, " "));
  for (const Parameter& p : parameters)
    text += fmt::format("{} {} {} {} {} {} {} {}\n", p.name, p.range.begin, p.range.end,
                        p.split.dimension, p.split.stacked, p.split.part, p.split.parts,
                        fmt::join(p.shape, " "));
  return text;
}

RowLayout RowLayout::parse(const std::string& text) {
  RowLayout layout;
  std::istringstream lines(text);
  std::string line;
  const auto next = [&] { return std::istringstream(std::getline(lines, line) ? line : ""); };
  auto first = next();
  if (!(first >> layout.numbers >> layout.share.begin >> layout.share.end))
    throw std::runtime_error("the checkpoint does not describe its rows");
  auto ranks = next();
  for (int rank = 0; ranks >> rank;)
    layout.ranks.push_back(rank);
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    Parameter p;
    words >> p.name >> p.range.begin >> p.range.end >> p.split.dimension >> p.split.stacked >>
        p.split.part >> p.split.parts;
    for (std::int64_t size = 0; words >> size;)
      p.shape.push_back(size);
    layout.parameters.push_back(std::move(p));
  }
  return layout;
}

SavedState rearranged(const RowLayout& wanted, int saved_ranks,
                      const std::function<SavedState(int rank)>& read) {
  SavedState result;
  Rows rows(wanted);
  std::set<int> taken;
  for (int rank = 0; rank < saved_ranks; ++rank) {
    if (taken.contains(rank))
      continue;
    std::vector<SavedState> shares{read(rank)};
    const RowLayout saved = RowLayout::parse(shares.front().text(saved_row_layout));
    if (saved.ranks.empty() || saved.ranks.front() != rank)
      continue;  // another rank saves its row
    for (std::size_t i = 1; i < saved.ranks.size(); ++i)
      shares.push_back(read(saved.ranks[i]));
    taken.insert(saved.ranks.begin(), saved.ranks.end());
    rows.take(saved, shares);
    if (rank > 0)
      continue;
    const std::vector<std::string> in_rows = row_names(shares.front());
    for (const std::string& name : shares.front().names())
      if (std::ranges::find(in_rows, name) == in_rows.end() && name != saved_random_state)
        result.set(name, shares.front().tensor(name));
  }
  rows.add_to(result);
  return result;
}

}  // namespace bench::steps
