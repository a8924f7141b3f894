#include "data/token_samples.hpp"

#include "data/fields.hpp"
#include "data/files.hpp"
#include "data/random.hpp"
#include "data/sample_loader.hpp"
#include "data/token_dataset.hpp"
#include "harness/errors.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

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

TokenEpoch::TokenEpoch(const TokenDataset& corpus, DocumentRange documents, std::uint64_t sequence,
                       std::uint32_t samples, std::uint64_t stream)
    : corpus_(corpus), range_(documents) {
  documents_ =
      permutation(static_cast<std::uint32_t>(documents.last - documents.first), Random(stream));
  find_starts(sequence, samples);
  order_ = permutation(samples, Random(stream + 1));
}

void TokenEpoch::find_starts(std::uint64_t sequence, std::uint32_t samples) {
  starts_.reserve(samples);
  std::uint64_t begin = 0;       // of the current sequence in the row of all tokens
  std::uint64_t next_start = 0;  // of a sample in that row
  for (std::uint32_t position = 0; starts_.size() < samples; ++position) {
    const std::uint64_t document = range_.first + documents_[position];
    const std::uint64_t first = corpus_.first_sequence(document);
    const std::uint64_t last = corpus_.first_sequence(document + 1);
    for (std::uint64_t i = first; i < last; ++i) {
      const std::uint64_t end = begin + corpus_.length(i);
      for (; next_start < end && starts_.size() < samples; next_start += sequence)
        starts_.push_back({position, static_cast<std::uint32_t>(i - first),
                           static_cast<std::uint32_t>(next_start - begin)});
      begin = end;
    }
  }
}

template <typename Use>
void TokenEpoch::for_pieces(std::uint64_t sample, std::uint64_t count, Use&& use) const {
  const Start& start = starts_[order_[sample]];
  std::uint64_t token = start.token;
  std::uint64_t skipped = start.sequence;
  for (std::size_t position = start.document; count > 0; ++position) {
    const std::uint64_t document = range_.first + documents_[position];
    const std::uint64_t last = corpus_.first_sequence(document + 1);
    for (std::uint64_t i = corpus_.first_sequence(document) + skipped; i < last && count > 0; ++i) {
      const std::uint64_t here = std::min<std::uint64_t>(count, corpus_.length(i) - token);
      use(i, token, here);
      count -= here;
      token = 0;
    }
    skipped = 0;
  }
}

void TokenEpoch::read(std::uint64_t sample, std::span<std::int64_t> out) const {
  for_pieces(sample, out.size(), [&](std::uint64_t i, std::uint64_t first, std::uint64_t count) {
    corpus_.read(i, first, out.first(count));
    out = out.subspan(count);
  });
}

std::uint64_t TokenEpoch::byte_offset(std::uint64_t sample, std::uint64_t token) const {
  std::uint64_t offset = 0;
  for_pieces(sample, token + 1, [&](std::uint64_t i, std::uint64_t first, std::uint64_t count) {
    if (count > 0)
      offset = corpus_.byte_offset(i, first + count - 1);
  });
  return offset;
}

namespace {

std::vector<Field> token_fields(std::int64_t sequence) {
  return {{.name = "tokens", .type = FieldType::int64, .shape = {sequence + 1}}};
}

/// A corpus, and samples that refer to it.
struct Corpus {
  TokenDataset dataset;
  TokenSamples samples;

  Corpus(const std::string& prefix, const std::vector<double>& weights, Part part,
         const TokenSamples::Options& options)
      : dataset(prefix), samples(dataset, split(dataset.documents(), weights, part), options) {}
};

}  // namespace

std::shared_ptr<TokenSamples> open_token_samples(const std::string& prefix,
                                                 const std::string& weights, Part part,
                                                 TokenSamples::Options options) {
  constexpr const char* names[] = {"training", "validation", "test"};
  options.part =
      fmt::format("the {} part (--split {})", names[static_cast<std::size_t>(part)], weights);
  const auto corpus = std::make_shared<Corpus>(prefix, parse_split(weights), part, options);
  return {corpus, &corpus->samples};
}

SampleMakers token_makers(const std::shared_ptr<TokenSamples>& samples, int threads) {
  const FillSample make = [samples](std::uint64_t sample, const FieldMemory& memory) {
    samples->read(sample, integers(memory[0]));
  };
  return sample_makers(
      token_fields(static_cast<std::int64_t>(samples->sequence())), threads, [&] { return make; },
      samples->samples_per_epoch());
}

SampleMakers synthetic_token_makers(std::uint64_t seed, std::int64_t vocabulary,
                                    std::int64_t sequence, int threads) {
  const FillSample make = [seed, kinds = static_cast<std::uint64_t>(vocabulary)](
                              std::uint64_t sample, const FieldMemory& memory) {
    std::uint64_t place = mixed(seed ^ mixed(sample));
    for (std::int64_t& token : integers(memory[0]))
      token = static_cast<std::int64_t>(mixed(place++) % kinds);
  };
  return sample_makers(token_fields(sequence), threads, [&] { return make; });
}

}  // namespace bench::steps
