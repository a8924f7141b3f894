#pragma once

#include <vector>

namespace bench::vision {

/// Learning rate over the epochs trained on, of a fraction of one: rises linearly from 0, and is a
/// tenth of what it was from each of some epochs on. Goyal et al., Accurate, Large Minibatch SGD
/// (arXiv:1706.02677), sections 2.2 and 5.1.
struct Schedule {
  double highest = 0.1;
  double warmup_epochs = 0;
  std::vector<double> decay_epochs = {};

  bool is_constant() const { return warmup_epochs == 0 && decay_epochs.empty(); }
  double learning_rate(double epochs) const;
};

}  // namespace bench::vision
