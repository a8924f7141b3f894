#include "harness/replay.hpp"

#include <stdexcept>

namespace bench::steps {

void Replay::part(std::size_t number, const std::function<void()>& work) {
  if (!maker_ || steps_ < warm_steps)
    return work();
  if (steps_ == warm_steps) {
    if (number != parts_.size())
      throw std::logic_error("the parts of a step are recorded in order");
    const std::unique_ptr<Graph>& graph = parts_.emplace_back(maker_->make());
    graph->begin();
    work();
    graph->end();
  }
  parts_.at(number)->replay();
}

}  // namespace bench::steps
