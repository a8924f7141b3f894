#pragma once

#include "data/output_file.hpp"
#include "data/token_type.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bench::steps {

/// Writes a corpus that `TokenDataset` reads. Keeps 20 bytes per sequence until the end.
class TokenWriter {
 public:
  /// @throws UsageError if a file cannot be opened
  TokenWriter(std::string prefix, TokenType type);

  /// Appends a sequence to the document that is under way.
  /// @throws std::invalid_argument if a token does not fit the type, or there are 2^31 or more
  void add_sequence(std::span<const std::int64_t> tokens);

  /// What follows belongs to the next document.
  void end_document();

  /// Writes the index; nothing may follow.
  /// @throws std::runtime_error if not everything could be written
  /// @throws std::logic_error if the last document was not ended
  void finish();

 private:
  std::string prefix_;
  TokenType type_;
  OutputFile tokens_file_;
  OutputFile index_file_;
  std::vector<std::int32_t> lengths_;
  std::vector<std::int64_t> offsets_;
  std::vector<std::int64_t> first_sequences_{0};
};

}  // namespace bench::steps
