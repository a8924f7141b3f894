#pragma once

// Corpora for tests.

#include "data/token_dataset.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bench::steps {

using Tokens = std::vector<std::int64_t>;
using Documents = std::vector<std::vector<Tokens>>;  ///< Documents of sequences of tokens.

inline void write_corpus(const std::string& prefix, TokenType type, const Documents& documents) {
  TokenWriter writer(prefix, type);
  for (const auto& document : documents) {
    for (const Tokens& sequence : document)
      writer.add_sequence(sequence);
    writer.end_document();
  }
  writer.finish();
}

}  // namespace bench::steps
