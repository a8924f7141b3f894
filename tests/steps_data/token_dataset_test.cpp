#include "data/token_dataset.hpp"

#include "data/files.hpp"
#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/corpus.hpp"
#include "steps_data/hex.hpp"
#include "support/message_of.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <ios>
#include <numeric>
#include <stdexcept>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::HasSubstr;

Tokens sequence_of(const TokenDataset& corpus, std::uint64_t sequence) {
  Tokens tokens(corpus.length(sequence));
  corpus.read(sequence, 0, tokens);
  return tokens;
}

// The index of CARAML's OSCAR sample: 790 documents with 2,340,256 tokens. Its first four lengths
// and offsets are known, the others here share what is left.
TEST(TokenDataset, IsTheFormatOfCaramlsCorpus) {
  std::vector<std::size_t> lengths(790, 2'960);
  lengths[0] = 1278;
  lengths[1] = 1704;
  lengths[2] = 1123;
  lengths[3] = 8693;
  lengths[789] += 2'340'256 - std::accumulate(lengths.begin(), lengths.end(), std::size_t{0});
  Documents documents;
  for (const std::size_t length : lengths)
    documents.push_back({Tokens(length, 50'000)});
  const Folder folder;
  write_corpus(folder.file("oscar"), TokenType::u16, documents);

  const std::string index = read_text(folder.file("oscar.idx"));
  EXPECT_EQ(index.size(), 15'842U);
  EXPECT_EQ(hex(index.substr(0, 34)),
            "4d4d494449445800000100000000000000081603000000000000"
            "1703000000000000");
  EXPECT_EQ(read_text(folder.file("oscar.bin")).size(), 4'680'512U);
  const TokenDataset corpus(folder.file("oscar"));
  EXPECT_EQ(corpus.sequences(), 790U);
  EXPECT_EQ(corpus.documents(), 790U);
  EXPECT_EQ(corpus.tokens(), 2'340'256U);
  EXPECT_EQ(corpus.length(3), 8693U);
  EXPECT_EQ(corpus.byte_offset(1, 0), 2556U);
  EXPECT_EQ(corpus.byte_offset(2, 0), 5964U);
  EXPECT_EQ(corpus.byte_offset(3, 0), 8210U);
}

TEST(TokenDataset, KeepsSequencesOfDocumentsApart) {
  const Folder folder;
  write_corpus(folder.file("c"), TokenType::i32, {{{1, 2}, {3}}, {}, {{4, 5, 6}}});
  const TokenDataset corpus(folder.file("c"));
  EXPECT_EQ(corpus.documents(), 3U);
  EXPECT_EQ(corpus.first_sequence(1), 2U);
  EXPECT_EQ(corpus.first_sequence(2), 2U);
  EXPECT_EQ(corpus.first_sequence(3), 3U);
  EXPECT_EQ(sequence_of(corpus, 1), Tokens{3});
  EXPECT_EQ(sequence_of(corpus, 2), (Tokens{4, 5, 6}));
}

TEST(TokenDataset, ReadsPartOfASequence) {
  const Folder folder;
  write_corpus(folder.file("c"), TokenType::u16, {{{1, 2, 3, 4}}});
  Tokens tokens(2);
  TokenDataset(folder.file("c")).read(0, 1, tokens);
  EXPECT_EQ(tokens, (Tokens{2, 3}));
}

TEST(TokenDataset, ReadsNothingBehindASequence) {
  const Folder folder;
  write_corpus(folder.file("c"), TokenType::u16, {{{1, 2}, {3}}});
  const TokenDataset corpus(folder.file("c"));
  Tokens tokens(2);
  EXPECT_THROW(corpus.read(0, 1, tokens), std::out_of_range);
  EXPECT_THROW(corpus.read(0, 3, {}), std::out_of_range);
  EXPECT_THROW(corpus.read(2, 0, {}), std::out_of_range);
}

TEST(TokenDataset, MayBeEmpty) {
  const Folder folder;
  write_corpus(folder.file("c"), TokenType::u16, {});
  EXPECT_EQ(TokenDataset(folder.file("c")).tokens(), 0U);
}

TEST(TokenDataset, LooksNotAtTheModesOfMultimodalData) {
  const Folder folder;
  write_corpus(folder.file("c"), TokenType::u16, {{{1, 2}}, {{3}}});
  std::ofstream(folder.file("c.idx"), std::ios::app) << "ab";
  EXPECT_EQ(TokenDataset(folder.file("c")).tokens(), 3U);
}

struct TypeCase {
  std::string name;
  TokenType type;
  Tokens tokens;
};
TEST(TokenType, KeepsItsLowestAndHighest) {
  const TypeCase cases[] = {{"U8", TokenType::u8, {0, 1, 255}},
                            {"I8", TokenType::i8, {-128, 0, 127}},
                            {"I16", TokenType::i16, {-32768, 0, 32767}},
                            {"U16", TokenType::u16, {0, 50257, 65535}},
                            {"I32", TokenType::i32, {-2147483648, 0, 2147483647}},
                            {"I64", TokenType::i64, {INT64_MIN, 0, INT64_MAX}}};
  for (const TypeCase& row : cases) {
    SCOPED_TRACE(row.name);
    const Folder folder;
    write_corpus(folder.file("c"), row.type, {{row.tokens}});
    EXPECT_EQ(sequence_of(TokenDataset(folder.file("c")), 0), row.tokens);
  }
}

TEST(TokenWriter, RefusesATokenThatDoesNotFit) {
  const Folder folder;
  TokenWriter writer(folder.file("c"), TokenType::u16);
  EXPECT_THROW(writer.add_sequence(Tokens{65'536}), std::invalid_argument);
  EXPECT_THROW(writer.add_sequence(Tokens{-1}), std::invalid_argument);
}

TEST(TokenWriter, RefusesADocumentWithoutEnd) {
  const Folder folder;
  TokenWriter writer(folder.file("c"), TokenType::u16);
  writer.add_sequence(Tokens{1});
  EXPECT_THROW(writer.finish(), std::logic_error);
}

TEST(TokenDataset, SaysWhichFileIsMissing) {
  EXPECT_EQ(support::message_of<UsageError>([] { TokenDataset("/nowhere/corpus"); }),
            "cannot read /nowhere/corpus.idx: No such file or directory");
}

/// What is wrong with the files of a corpus of two documents, [1 2 3] and [4 5], in u16.
struct DamageCase {
  std::string name;
  std::function<void(std::string& index, std::string& tokens)> damage;
  std::string message;
};
template <typename Number>
auto put(std::size_t offset, Number number) {
  return [=](std::string& index, std::string&) {
    index.replace(offset, sizeof(number), reinterpret_cast<const char*>(&number), sizeof(number));
  };
}

auto cut_index(std::size_t size) {
  return [=](std::string& index, std::string&) { index.resize(size); };
}

TEST(TokenDamage, IsToldWithItsPlace) {
  // Offsets: lengths at 34 and 38, byte offsets at 42 and 50, documents at 58, 66 and 74; 82 bytes.
  const DamageCase cases[] = {
      {"Magic", put(0, 'X'), "byte 0: not the index of a corpus"},
      {"NoIndex", cut_index(0), "byte 0: not the index of a corpus"},
      {"HalfHeader", cut_index(20), "byte 20: the file ends inside its header of 34"},
      {"Version", put(9, std::uint64_t{2}), "byte 9: version 2, but only 1 is known"},
      {"FloatTokens", put(17, std::uint8_t{6}),
       "byte 17: tokens of type 6, which is none of integers"},
      {"Type", put(17, std::uint8_t{0}), "byte 17: tokens of type 0"},
      {"Cut", cut_index(81),
       "byte 18: 2 sequences and 2 documents need more than the 81 bytes of this file"},
      {"SequencesOverflow", put(18, ~std::uint64_t{0} / 12 + 2), "byte 18: "},
      {"DocumentsOverflow", put(26, ~std::uint64_t{0} / 8 + 2), "byte 18: "},
      {"NoDocumentIndex", put(26, std::uint64_t{0}), "byte 26: there is no end"},
      {"TooLong", cut_index(83), "byte 82: 1 byte too many"},
      {"NegativeLength", put(38, std::int32_t{-1}), "byte 38: sequence 1 has -1 tokens"},
      {"NegativeOffset", put(50, std::int64_t{-2}), "byte 50: sequence 1 with 2 tokens"},
      {"OffsetBehindTokens", put(50, std::int64_t{11}), "byte 50: sequence 1 with"},
      {"LengthBehindTokens", put(34, std::int32_t{6}), "byte 42: sequence 0 with 6"},
      {"OffsetInsideAToken", put(50, std::int64_t{3}),
       "byte 50: sequence 1 at byte 3 begins inside a token of 2 bytes"},
      {"OffsetOverflow", put(50, INT64_MAX), "byte 50: sequence 1 with 2 tokens"},
      {"CutTokens", [](std::string&, std::string& tokens) { tokens.resize(9); },
       "byte 50: sequence 1 with 2 tokens at byte 6 reaches behind the end of"},
      {"FirstDocument", put(58, std::int64_t{1}),
       "byte 58: document 0 cannot begin with sequence 1 of 2"},
      {"DocumentsFall", put(66, std::int64_t{3}),
       "byte 66: document 1 cannot begin with sequence 3 of 2"},
      {"LastDocument", put(74, std::int64_t{1}),
       "byte 74: document 2 cannot begin with sequence 1 of 2"}};
  for (const DamageCase& row : cases) {
    SCOPED_TRACE(row.name);
    const Folder folder;
    write_corpus(folder.file("c"), TokenType::u16, {{{1, 2, 3}}, {{4, 5}}});
    std::string index = read_text(folder.file("c.idx"));
    std::string tokens = read_text(folder.file("c.bin"));
    row.damage(index, tokens);
    std::ofstream(folder.file("c.idx"), std::ios::binary) << index;
    std::ofstream(folder.file("c.bin"), std::ios::binary) << tokens;
    EXPECT_THAT(support::message_of<DataError>([&] { TokenDataset(folder.file("c")); }),
                HasSubstr(folder.file("c.idx") + ": " + row.message));
  }
}

}  // namespace
}  // namespace bench::steps
