#include "data/token_samples.hpp"

#include "data/data_error.hpp"
#include "data/random.hpp"
#include "data/token_dataset.hpp"
#include "data/token_split.hpp"
#include "harness/program.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <span>

#include <fmt/core.h>

namespace bench::steps {
namespace {

/// The indices of an epoch keep numbers in 32 bits: half the memory, enough for every known corpus.
void check_count(const TokenDataset& corpus, std::uint64_t count, const char* what) {
  if (count > std::numeric_limits<std::uint32_t>::max())
    throw UsageError(
        fmt::format("{} has {} {}, more than an index keeps", corpus.token_file(), count, what),
        "split the corpus into several");
}

}  // namespace

TokenSamples::TokenSamples(const TokenDataset& corpus, DocumentRange documents,
                           const Options& options)
    : corpus_(corpus), documents_(documents), options_(options) {
  check_count(corpus, documents.last - documents.first, "documents");
  std::uint64_t sequence = corpus.first_sequence(documents.first);
  for (std::uint64_t document = documents.first; document < documents.last; ++document) {
    const std::uint64_t last = corpus.first_sequence(document + 1);
    check_count(corpus, last - sequence, "sequences in a document");
    for (; sequence < last; ++sequence)
      tokens_ += corpus.length(sequence);
  }
  if (tokens_ <= options.sequence)
    throw UsageError(
        fmt::format("{}{} has {} documents with {} tokens, and one sample needs {}",
                    options.part.empty() ? "" : options.part + " of ", corpus.token_file(),
                    documents.last - documents.first, tokens_, options.sequence + 1),
        "give a larger corpus, a larger share of it, or shorter sequences");
  check_count(corpus, samples_per_epoch(), "samples");
}

std::shared_ptr<const TokenEpoch> TokenSamples::order_of(std::uint64_t epoch) {
  const std::lock_guard lock(mutex_);
  Epoch& kept = epochs_[epoch % epochs_.size()];
  if (!kept.order || kept.number != epoch) {
    kept.order.reset();  // before the next one is built: never the memory of three
    kept.order = std::make_shared<const TokenEpoch>(corpus_, documents_, options_.sequence,
                                                    static_cast<std::uint32_t>(samples_per_epoch()),
                                                    mixed(options_.seed ^ mixed(epoch)));
    kept.number = epoch;
  }
  return kept.order;
}

void TokenSamples::read(std::uint64_t index, std::span<std::int64_t> out) {
  const std::shared_ptr<const TokenEpoch> order = order_of(index / samples_per_epoch());
  const std::uint64_t sample = index % samples_per_epoch();
  order->read(sample, out);
  const auto unknown = std::ranges::find_if(
      out, [&](std::int64_t token) { return token < 0 || token >= options_.kinds; });
  if (unknown != out.end())
    throw DataError(corpus_.token_file(),
                    order->byte_offset(sample, static_cast<std::uint64_t>(unknown - out.begin())),
                    fmt::format("token {} is not in a vocabulary of {}", *unknown, options_.kinds),
                    "give a --vocab-size above every token of the corpus");
}

}  // namespace bench::steps
