#include "harness/copy_stream.hpp"

#include "harness/batch.hpp"

#include <cstddef>
#include <memory>
#include <vector>

#include <c10/core/Event.h>
#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

namespace bench::steps {
namespace {

class GpuCopyStream : public CopyStream {
 public:
  GpuCopyStream(const torch::Device& device, std::size_t slots)
      : device_(device), gpu_(device.type()), stream_(gpu_.getStreamFromGlobalPool(device)) {
    for (std::size_t slot = 0; slot < slots; ++slot) {
      released_.emplace_back(device.type());
      copied_.emplace_back(device.type());
    }
  }

  void copy(std::size_t slot, const Batch& from, Batch& to) override {
    released_.at(slot).block(stream_);
    const c10::StreamGuard guard(stream_);
    to.copy_from(from);
    copied_.at(slot).record(stream_);
    // The slot belongs to the stream of the computation: freed, it must outlast this copy, too.
    for (const Batch::NamedTensor& field : to.tensors())
      field.tensor.record_stream(stream_);
  }

  void wait_for_copy(std::size_t slot) override { copied_.at(slot).block(computation()); }
  void release(std::size_t slot) override { released_.at(slot).record(computation()); }

 private:
  c10::Stream computation() const { return gpu_.getStream(device_); }

  torch::Device device_;
  c10::impl::VirtualGuardImpl gpu_;
  c10::Stream stream_;
  std::vector<c10::Event> released_;
  std::vector<c10::Event> copied_;
};

}  // namespace

std::unique_ptr<CopyStream> make_copy_stream(const torch::Device& device, std::size_t slots) {
  return std::make_unique<GpuCopyStream>(device, slots);
}

}  // namespace bench::steps
