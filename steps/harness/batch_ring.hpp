#pragma once

#include "harness/batch.hpp"
#include "harness/copy_stream.hpp"

#include <cstddef>
#include <memory>
#include <vector>

namespace bench::steps {

/// Memory of a GPU for the batches that the computation reads, and for the one after them, which is
/// copied meanwhile.
class BatchRing {
 public:
  /// @param slots at least two batches of the same form; all but one are valid at a time
  /// @param stream with as many slots
  BatchRing(std::vector<Batch> slots, std::unique_ptr<CopyStream> stream);

  /// Returns true if a batch was copied that `next` has not returned.
  bool has_next() const { return copied_ > returned_; }

  /// Starts to copy the next batch.
  /// @param batch in pinned memory
  /// @throws std::logic_error if there is one already
  void copy(const Batch& batch);

  /// The batch that was copied, for the computation that is launched from now on. Ends the
  /// validity of the oldest batch if all other slots are in use.
  /// @throws std::logic_error if there is none
  const Batch& next();

 private:
  std::size_t slot_of(std::size_t batch) const { return batch % slots_.size(); }

  std::vector<Batch> slots_;
  std::unique_ptr<CopyStream> stream_;
  std::size_t copied_ = 0;    ///< Batches so far.
  std::size_t returned_ = 0;  ///< Batches so far.
};

}  // namespace bench::steps
