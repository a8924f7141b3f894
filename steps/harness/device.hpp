#pragma once

#include "harness/ranks.hpp"
#include "harness/torch_all.hpp"

#include <any>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace bench::steps {

/// Work for a device that is recorded once and then done again and again, without the host taking
/// it apart into kernels each time.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  virtual ~Graph() = default;

  /// From now on work for the device is recorded, and not done.
  virtual void begin() = 0;
  virtual void end() = 0;
  /// Does what was recorded, with the memory that it was recorded with.
  virtual void replay() = 0;
};

/// Makes graphs whose temporary memory is one, so that they are to be replayed in the order in
/// which they were recorded.
class GraphMaker {
 public:
  GraphMaker() = default;
  GraphMaker(const GraphMaker&) = delete;
  GraphMaker& operator=(const GraphMaker&) = delete;
  virtual ~GraphMaker() = default;

  virtual std::unique_ptr<Graph> make() = 0;
};

/// The parts of a training step, which are recorded in the first step behind the warm ones and from
/// then on replayed. It saves the launches, some microseconds for each kernel, which count where
/// the kernels are as short: in small batches.
///
///     Replay replay(trainer.graphs());
///     for (...) {
///       const torch::Tensor loss = replay.part([&] { return forward(); });
///       replay.part([&] { loss.backward(); });
///       losses.push_back(replay.kept(loss));
///       replay.end_step();
///     }
///
/// A part has to do the same in every step, with the same tensors, and may not wait for the device.
/// Behind the recording it is not called any more; it then returns what it returned when it was
/// recorded: tensors that hold the values of the latest step.
class Replay {
 public:
  /// So many steps are done before the recording, since in the first ones LibTorch looks for
  /// algorithms and makes what it then keeps.
  static constexpr int warm_steps = 3;

  /// @param maker must outlive this object; null: all steps are done part by part, as they are
  /// without this class
  explicit Replay(GraphMaker* maker) : maker_(maker) {}

  /// The next part of a step.
  template <typename Work>
  auto part(const Work& work) {
    using Result = std::invoke_result_t<Work>;
    if (!maker_ || steps_ < warm_steps)
      return work();
    if (steps_ == warm_steps)
      record([&] {
        if constexpr (std::is_void_v<Result>)
          work();
        else
          parts_.back().result = work();
      });
    const Part& part = parts_.at(next_part_++);
    part.graph->replay();
    if constexpr (!std::is_void_v<Result>)
      return std::any_cast<Result>(part.result);
  }
  void end_step() {
    ++steps_;
    next_part_ = 0;
  }

  /// For use after the step: a copy of what the next step overwrites.
  torch::Tensor kept(const torch::Tensor& result) const {
    return maker_ ? result.detach().clone() : result.detach();
  }

 private:
  struct Part {
    std::unique_ptr<Graph> graph;
    std::any result;
  };

  void record(const std::function<void()>& work) {
    Part& part = parts_.emplace_back();
    part.graph = maker_->make();
    part.graph->begin();
    work();
    part.graph->end();
  }

  GraphMaker* maker_;
  std::vector<Part> parts_;
  std::size_t next_part_ = 0;
  int steps_ = 0;
};

/// A device's time line. A mark may be taken while the device still works; its time is known when
/// the device has reached it.
class Clock {
 public:
  using Mark = std::uint64_t;  ///< Marks are numbered from 0 on.

  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  virtual Mark mark() = 0;
  /// Returns when the device has reached all marks.
  virtual void wait() = 0;
  virtual bool has_reached(Mark mark) const = 0;
  /// The time of the oldest mark that was not taken yet, in seconds since an origin that stays the
  /// same. The device must have reached it.
  virtual double take_oldest() = 0;
};

/// The steady clock of the host on the CPU, events of the current stream on a GPU.
std::unique_ptr<Clock> make_clock(const torch::Device& device);

// What needs the headers of the CUDA toolkit, or of ROCm, whose GPUs LibTorch calls CUDA devices.
// Everything here exists without them too, so that nothing else needs an #ifdef; but select_device
// never hands out a GPU then.

/// Whether LibTorch had CUDA or ROCm when this program was built.
bool built_with_cuda();

std::string cuda_device_name(const torch::Device& device);

/// Whether it is a GPU of NVIDIA's that can round the factors of products to tf32.
bool cuda_has_tf32(const torch::Device& device);

/// CUDA graphs, or HIP's. As long as it lives, this thread gives its work to its own stream,
/// since the one that all share cannot be recorded; wait for the device before it goes.
std::unique_ptr<GraphMaker> make_cuda_graphs(const torch::Device& device);

/// `auto` (the first GPU, else the CPU), `cpu`, `cuda` or `cuda:N`.
/// @throws UsageError if the name is none of these or the device is not there
torch::Device select_device(const std::string& name);

/// The device of one of several ranks, see `device_of_rank`.
/// @throws UsageError as both
torch::Device select_device(const std::string& name, const Ranks& ranks);

/// The maker's name of the device, for example `NVIDIA H100 80GB HBM3`.
std::string device_name(const torch::Device& device);

/// The numbers of a tensor on any device, for which it waits.
std::vector<double> numbers_of(const torch::Tensor& numbers);

/// Starts to bring numbers, (N) on this or that device, to the host. The function that is returned
/// waits until they are there; on a GPU it waits for nothing that was launched later.
std::function<std::vector<double>()> numbers_on_host(const torch::Tensor& numbers);

/// Of the GPU; or what each of that many processes that share the host may have, by its memory and
/// the limits of control groups (Slurm's, a container's) and of this process (`ulimit`).
std::int64_t device_memory_bytes(const torch::Device& device, int processes = 1);

/// The most memory that was in use since the last reset, in bytes: of tensors on the GPU, or on the
/// CPU the resident set of this process. Empty where it cannot be measured.
std::optional<std::int64_t> peak_memory_bytes(const torch::Device& device);
/// Of the CPU, no effect where /proc cannot be written.
void reset_peak_memory(const torch::Device& device);

/// Brings a few numbers of each training step to the host, without keeping a GPU waiting.
///
/// On the CPU they are known at once. A GPU copies them to the host behind the step that made them,
/// and the host reads the copy some steps later, while the GPU works on the newer ones. It is
/// always the same number of steps, so that ranks that see the same numbers end with the same step.
class LaggedNumbers {
 public:
  /// With one the GPU would have a single step to do while the host wakes up and launches the next.
  static constexpr std::size_t lag_on_gpu = 2;

  explicit LaggedNumbers(const torch::Device& device)
      : LaggedNumbers(device.is_cpu() ? 0 : lag_on_gpu) {}
  /// @param lag numbers are read when that many newer steps have come
  explicit LaggedNumbers(std::size_t lag) : lag_(lag) {}

  /// @param numbers (N), which this step does not change any more
  /// @returns those of the step `lag` steps ago, if there was one, for which it waits
  std::optional<std::vector<double>> add(const torch::Tensor& numbers);

  /// The oldest that were not returned yet, if there are any, for which it waits.
  std::optional<std::vector<double>> take();

 private:
  std::size_t lag_;
  std::deque<std::function<std::vector<double>()>> under_way_;
};

}  // namespace bench::steps
