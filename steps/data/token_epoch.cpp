#include "data/random.hpp"
#include "data/token_dataset.hpp"
#include "data/token_samples.hpp"
#include "data/token_split.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bench::steps {

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

}  // namespace bench::steps
