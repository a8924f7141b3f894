#pragma once

#include "harness/flat_parameters.hpp"
#include "harness/saved_state.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench::steps {

/// How the ranks that share a model divide one of its parameters.
struct Split {
  std::int64_t dimension = 0;  ///< Of which each rank has an equal part.
  std::int64_t stacked = 1;    ///< Equal matrices on top of each other; each of them is divided.
  std::int64_t part = 0;       ///< Of this rank.
  std::int64_t parts = 1;      ///< 1: the rank has the whole parameter.

  bool operator==(const Split&) const = default;
};

/// What lies where in a rank's row of parameters, and in the rows of its optimizer's state, so that
/// they can be put together for ranks that share the model in another way.
struct RowLayout {
  struct Parameter {
    std::string name;                 ///< In the model, without spaces.
    std::vector<std::int64_t> shape;  ///< Of this rank's part.
    Split split;
    FlatParameters::Range range;

    bool operator==(const Parameter&) const = default;
  };

  std::vector<Parameter> parameters;
  std::int64_t numbers = 0;       ///< Of the row.
  FlatParameters::Range share{};  ///< Of the row, that the rank saves.
  std::vector<int> ranks;         ///< Ranks whose shares are the row, in their order.

  std::string text() const;
  /// @throws std::runtime_error if `text` is not from `text()`
  static RowLayout parse(const std::string& text);

  bool operator==(const RowLayout&) const = default;
};

/// Name of the layout in a saved state, and of the row of weights. Each other row has as many
/// numbers.
inline constexpr const char* saved_row_layout = "row_layout";
inline constexpr const char* saved_weights = "weights";

/// The state that a rank would have saved, of states that other ranks have saved: they may be more
/// or fewer, and may have shared the model in another way. Without random numbers, which belong to
/// a rank.
/// @param wanted layout of the rank
/// @param saved_ranks number of ranks that have saved
/// @param read state of one of these. At a time there are as many in memory as a row has shares.
/// @throws HintedError if the saved ranks do not have all of a parameter
SavedState rearranged(const RowLayout& wanted, int saved_ranks,
                      const std::function<SavedState(int rank)>& read);

}  // namespace bench::steps
