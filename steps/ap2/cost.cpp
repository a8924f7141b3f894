#include "ap2/cost.hpp"

#include "ap2/sizes.hpp"
#include "harness/cost.hpp"

#include <cstdint>

namespace bench::ap2 {
namespace {

constexpr std::int64_t table_rows = 2 * position_buckets;

void add_layer(steps::Cost& cost, const Sizes& sizes, std::int64_t batch_size) {
  const std::int64_t hidden = sizes.hidden;
  for (int projection = 0; projection < 4; ++projection)
    cost.linear({.in = hidden, .out = hidden, .positions = sizes.sequence});
  const auto attention = [&](std::int64_t keys) {
    cost.attention({.heads = sizes.heads,
                    .head_size = sizes.head_size(),
                    .queries = sizes.sequence,
                    .keys = keys});
  };
  attention(sizes.sequence);
  attention(table_rows);  // position of the key, and of the query
  // Two products of the table with weights that are counted already: as many multiply-adds as those
  // of an attention with h keys.
  cost.attention({.heads = 1,
                  .head_size = hidden,
                  .queries = (table_rows + batch_size - 1) / batch_size,
                  .keys = hidden});
  cost.linear({.in = hidden, .out = sizes.feed_forward(), .positions = sizes.sequence})
      .linear({.in = sizes.feed_forward(), .out = hidden, .positions = sizes.sequence});
  for (int norm = 0; norm < 2; ++norm)
    cost.normalisation({.channels = hidden, .running_statistics = false});
}

}  // namespace

steps::Cost cost(const Sizes& sizes, std::int64_t batch_size) {
  steps::Cost total;
  total.input({sizes.sequence}, sizeof(std::int64_t))
      .embedding({.rows = sizes.vocabulary, .width = sizes.hidden})
      .normalisation({.channels = sizes.hidden, .running_statistics = false})
      .embedding({.rows = table_rows, .width = sizes.hidden})
      .normalisation({.channels = sizes.hidden, .running_statistics = false});
  for (std::int64_t i = 0; i < sizes.layers; ++i)
    add_layer(total, sizes, batch_size);
  return total.linear({.in = sizes.hidden, .out = sizes.hidden})
      .linear({.in = sizes.hidden, .out = label_count});
}

}  // namespace bench::ap2
