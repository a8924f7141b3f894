#pragma once

#include "harness/torch_all.hpp"

#include <any>
#include <cstddef>
#include <functional>
#include <memory>
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

}  // namespace bench::steps
