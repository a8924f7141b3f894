#pragma once

#include "harness/flat_parameters.hpp"
#include "harness/torch_all.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace bench::steps {

/// Name of it in a saved state.
inline constexpr const char* saved_random_state = "random_state";

/// Where the random numbers of LibTorch's functions on this device stand: bytes, on the CPU.
torch::Tensor random_state(const torch::Device& device);
void set_random_state(const torch::Device& device, const torch::Tensor& state);

/// What a program needs to go on where it stopped: named tensors and numbers, in a file of
/// LibTorch's format (`torch.jit.load` of Python reads it too). Behind it stands a checksum of it
/// all, for LibTorch compares none.
class SavedState {
 public:
  void set(const std::string& name, const torch::Tensor& value);
  void set_number(const std::string& name, double value);
  void set_text(const std::string& name, const std::string& value);

  bool has(const std::string& name) const { return tensors_.contains(name); }
  std::vector<std::string> names() const;  ///< Sorted.

  /// @throws std::runtime_error if there is none of this name, or it is not a number or text
  const torch::Tensor& tensor(const std::string& name) const;
  double number(const std::string& name) const;
  std::string text(const std::string& name) const;

  /// Overwrites `tensor` with the one of that name.
  /// @throws std::runtime_error if there is none, or it has another shape
  void copy_to(const std::string& name, const torch::Tensor& tensor) const;

  /// Returns when the file is on the disk.
  /// @returns bytes
  /// @throws std::runtime_error if it cannot be written
  std::uint64_t write(const std::string& file) const;

  /// @throws UsageError if it cannot be opened
  /// @throws HintedError if it is no such file, not whole or damaged
  static SavedState read(const std::string& file);

 private:
  [[noreturn]] void fail(const std::string& message) const;

  std::string file_;  ///< Where it was read from.
  std::map<std::string, torch::Tensor> tensors_;
};

/// How one parameter is split among the ranks that share a model.
struct Split {
  std::int64_t dimension = 0;  ///< The dimension that is split into equal parts.
  std::int64_t stacked = 1;  ///< Number of stacked matrices of equal shape, each of which is split.
  std::int64_t part = 0;     ///< Of this rank.
  std::int64_t parts = 1;    ///< 1: every rank has the whole parameter.

  bool operator==(const Split&) const = default;
};

/// Layout of a rank's row of parameters and of the rows of its optimizer's state, so that they can
/// be rearranged for a different parallel layout.
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
  FlatParameters::Range share{};  ///< The part of the row that this rank saves.
  std::vector<int> ranks;         ///< Ranks whose shares make up the row, in order.

  std::string text() const;
  /// @throws std::runtime_error if `text` was not written by `text()`
  static RowLayout parse(const std::string& text);

  bool operator==(const RowLayout&) const = default;
};

/// Names of the layout and of the row of weights in a saved state. All other rows have the same
/// length.
inline constexpr const char* saved_row_layout = "row_layout";
inline constexpr const char* saved_weights = "weights";

/// Builds the state of a rank from the states that other ranks saved, whose number and parallel
/// layout may differ. Random states are left out, since they belong to a rank.
/// @param wanted layout of the rank
/// @param saved_ranks number of ranks that saved
/// @param read reads the state of one of these. As many states are in memory at a time as a row has
/// shares.
/// @throws HintedError if the saved states lack a part of a parameter
SavedState rearranged(const RowLayout& wanted, int saved_ranks,
                      const std::function<SavedState(int rank)>& read);

}  // namespace bench::steps
