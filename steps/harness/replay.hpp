#pragma once

#include "harness/torch_all.hpp"

#include <cstddef>
#include <functional>
#include <memory>
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
///     Replay replay(make_cuda_graphs(device));
///     torch::Tensor loss;
///     for (...) {
///       replay.part(0, [&] { loss = forward(); });
///       replay.part(1, [&] { loss.backward(); });
///       losses.push_back(replay.kept(loss));
///       replay.end_step();
///     }
///
/// A part has to do the same in every step, with the same tensors, and may not wait for the device.
/// Behind the recording it is not called any more; tensors that it made then hold the values of the
/// latest step, as long as they are kept.
class Replay {
 public:
  /// So many steps are done before the recording, since in the first ones LibTorch looks for
  /// algorithms and makes what it then keeps.
  static constexpr int warm_steps = 3;

  /// @param maker none: all steps are done part by part, as they are without this class
  explicit Replay(std::unique_ptr<GraphMaker> maker) : maker_(std::move(maker)) {}

  /// @param number parts are counted from 0 in each step, in order
  void part(std::size_t number, const std::function<void()>& work);
  void end_step() { ++steps_; }

  /// All steps from now on are replayed.
  bool has_recorded() const { return !parts_.empty(); }

  /// What a part has made, for use behind the step.
  torch::Tensor kept(const torch::Tensor& result) const {
    return maker_ ? result.detach().clone() : result.detach();
  }

 private:
  std::unique_ptr<GraphMaker> maker_;  // before the graphs, which go first
  std::vector<std::unique_ptr<Graph>> parts_;
  int steps_ = 0;
};

}  // namespace bench::steps
