#pragma once

#include "harness/batch.hpp"
#include "harness/torch_all.hpp"

#include <cstddef>
#include <memory>

namespace bench::steps {

/// Copies batches to a GPU beside the computation, into slots: memory that is overwritten when the
/// computation has read it.
class CopyStream {
 public:
  CopyStream() = default;
  CopyStream(const CopyStream&) = delete;
  CopyStream& operator=(const CopyStream&) = delete;
  virtual ~CopyStream() = default;

  /// Starts to copy a batch, after all computation that was launched before the last `release` of
  /// the slot.
  /// @param from in pinned memory, which may be freed at once
  /// @param to the memory of the slot
  virtual void copy(std::size_t slot, const Batch& from, Batch& to) = 0;

  /// Makes the computation that is launched from now on wait for the last copy to the slot.
  virtual void wait_for_copy(std::size_t slot) = 0;

  /// Lets the slot be overwritten after all computation that was launched so far.
  virtual void release(std::size_t slot) = 0;
};

/// A stream of the GPU with two events for each slot. The computation is that on the current
/// stream.
std::unique_ptr<CopyStream> make_copy_stream(const torch::Device& device, std::size_t slots);

}  // namespace bench::steps
