#include "harness/loss_watch.hpp"

#include "harness/device.hpp"

#include <cmath>

namespace bench::steps {

void LossWatch::add(const torch::Tensor& loss) {
  under_way_.push_back(number_on_host(loss));
  if (under_way_.size() <= lag_)
    return;
  has_diverged_ = has_diverged_ || !std::isfinite(under_way_.front()());
  under_way_.pop_front();
}

}  // namespace bench::steps
