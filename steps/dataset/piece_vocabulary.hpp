#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace bench::dataset {

/// The model of a SentencePiece tokenizer (Kudo and Richardson, arXiv:1808.06226), such as the file
/// `spm.model` of DeBERTa-v3. Its programs `spm_encode` and `spm_export_vocab` read it: the library
/// brings a protobuf of its own, which does not bear that of LibTorch in one process.
class PieceVocabulary {
 public:
  /// @throws UsageError if there is no such file, or the programs are not on PATH
  /// @throws DataError if it is no model
  explicit PieceVocabulary(const std::string& path);

  const std::vector<std::string>& pieces() const { return pieces_; }
  /// The number of the first of these pieces that there is; -1: there is none.
  std::int64_t number_of(std::initializer_list<std::string_view> names) const;

  /// The pieces of each text, in which ends of line count as blanks.
  /// @param scratch a name for two files, which are gone afterwards
  /// @throws std::runtime_error if that fails
  std::vector<std::vector<std::int64_t>> encode(const std::vector<std::string>& texts,
                                                const std::string& scratch) const;

 private:
  std::string path_;
  std::vector<std::string> pieces_;
};

}  // namespace bench::dataset
