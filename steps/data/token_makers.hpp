#pragma once

#include "data/sample_maker.hpp"
#include "data/token_samples.hpp"
#include "data/token_split.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace bench::steps {

/// Opens one part of the corpus PREFIX.
/// @param weights of training, validation and test documents (token_split.hpp)
/// @throws UsageError, DataError as TokenDataset, `parse_split` and TokenSamples
std::shared_ptr<TokenSamples> open_token_samples(const std::string& prefix,
                                                 const std::string& weights, Part part,
                                                 TokenSamples::Options options);

/// Samples of a corpus: one field `tokens`, int64 (S + 1), where S is the length of a sequence.
/// They throw DataError for a token outside the vocabulary.
SampleMakers token_makers(const std::shared_ptr<TokenSamples>& samples, int threads);

/// Samples of the same form whose tokens are uniform in 0 <= token < `vocabulary`, from the seed
/// and the number of the sample alone. So the loss begins and stays near ln(vocabulary).
/// @param sequence S, the tokens that the model sees
SampleMakers synthetic_token_makers(std::uint64_t seed, std::int64_t vocabulary,
                                    std::int64_t sequence, int threads);

}  // namespace bench::steps
