#include "harness/batch_ring.hpp"

#include "harness/batch.hpp"
#include "harness/copy_stream.hpp"

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace bench::steps {

BatchRing::BatchRing(std::vector<Batch> slots, std::unique_ptr<CopyStream> stream)
    : slots_(std::move(slots)), stream_(std::move(stream)) {
  if (slots_.size() < 2)
    throw std::invalid_argument("a ring of fewer than two batches");
  // Earlier computation may still use memory that the slots were given.
  for (std::size_t slot = 0; slot < slots_.size(); ++slot)
    stream_->release(slot);
}

void BatchRing::copy(const Batch& batch) {
  if (has_next())
    throw std::logic_error("a batch was copied that nobody took");
  const std::size_t slot = slot_of(copied_++);
  stream_->copy(slot, batch, slots_[slot]);
}

const Batch& BatchRing::next() {
  if (!has_next())
    throw std::logic_error("a batch that nobody copied");
  const std::size_t valid = slots_.size() - 1;
  if (returned_ >= valid)
    stream_->release(slot_of(returned_ - valid));
  const std::size_t slot = slot_of(returned_++);
  stream_->wait_for_copy(slot);
  return slots_[slot];
}

}  // namespace bench::steps
