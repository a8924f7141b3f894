#include "data/token_makers.hpp"

#include "data/fields.hpp"
#include "data/random.hpp"
#include "data/sample_maker.hpp"
#include "data/token_dataset.hpp"
#include "data/token_samples.hpp"
#include "data/token_split.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

namespace bench::steps {
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

class TokenMaker : public SampleMaker {
 public:
  explicit TokenMaker(std::shared_ptr<TokenSamples> samples)
      : fields_(token_fields(static_cast<std::int64_t>(samples->sequence()))),
        samples_(std::move(samples)) {}

  const std::vector<Field>& fields() const override { return fields_; }
  std::optional<std::uint64_t> samples_per_epoch() const override {
    return samples_->samples_per_epoch();
  }

  void make(std::uint64_t sample, const FieldMemory& memory) override {
    samples_->read(sample, integers(memory[0]));
  }

 private:
  std::vector<Field> fields_;
  std::shared_ptr<TokenSamples> samples_;  ///< Of all threads.
};

class SyntheticTokenMaker : public SampleMaker {
 public:
  SyntheticTokenMaker(std::uint64_t seed, std::int64_t vocabulary, std::int64_t sequence)
      : fields_(token_fields(sequence)),
        seed_(seed),
        vocabulary_(static_cast<std::uint64_t>(vocabulary)) {}

  const std::vector<Field>& fields() const override { return fields_; }

  void make(std::uint64_t sample, const FieldMemory& memory) override {
    std::uint64_t place = mixed(seed_ ^ mixed(sample));
    for (std::int64_t& token : integers(memory[0]))
      token = static_cast<std::int64_t>(mixed(place++) % vocabulary_);
  }

 private:
  std::vector<Field> fields_;
  std::uint64_t seed_;
  std::uint64_t vocabulary_;
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
  SampleMakers makers;
  for (int i = 0; i < threads; ++i)
    makers.push_back(std::make_unique<TokenMaker>(samples));
  return makers;
}

SampleMakers synthetic_token_makers(std::uint64_t seed, std::int64_t vocabulary,
                                    std::int64_t sequence, int threads) {
  SampleMakers makers;
  for (int i = 0; i < threads; ++i)
    makers.push_back(std::make_unique<SyntheticTokenMaker>(seed, vocabulary, sequence));
  return makers;
}

}  // namespace bench::steps
