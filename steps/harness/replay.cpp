#include "harness/replay.hpp"

#include <functional>

namespace bench::steps {

void Replay::record(const std::function<void()>& work) {
  Part& part = parts_.emplace_back();
  part.graph = maker_->make();
  part.graph->begin();
  work();
  part.graph->end();
}

void Replay::end_step() {
  ++steps_;
  next_part_ = 0;
}

}  // namespace bench::steps
