#include "data/token_dataset.hpp"

#include "data/files.hpp"
#include "data/sample_loader.hpp"
#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/corpus.hpp"
#include "steps_data/hex.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <ios>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
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

using testing::HasSubstr;

/// Tokens first, first + 1, ...
Tokens counted_tokens(std::int64_t first, std::size_t count) {
  Tokens tokens(count);
  std::iota(tokens.begin(), tokens.end(), first);
  return tokens;
}

/// Document d, of `documents`, has the tokens 100 d to 100 d + 3 + d % 5 in up to three sequences,
/// of which some are empty.
Documents uneven_documents(std::int64_t documents) {
  Documents result;
  for (std::int64_t d = 0; d < documents; ++d) {
    const auto length = static_cast<std::size_t>(4 + d % 5);
    const auto cut = static_cast<std::size_t>(d % 4);
    result.push_back(
        {counted_tokens(100 * d, cut), {}, counted_tokens(100 * d + d % 4, length - cut)});
    if (d % 3 == 0)
      result.push_back({});  // a document without a sequence
  }
  return result;
}

class TokenSamplesTest : public testing::Test {
 protected:
  TokenSamplesTest() {
    write_corpus(folder_.file("c"), TokenType::u16, uneven_documents(30));
    corpus_.emplace(folder_.file("c"));
  }
  TokenSamples samples(std::uint64_t seed = 1, std::uint64_t sequence = 7) const {
    return TokenSamples(*corpus_, {0, corpus_->documents()},
                        {.sequence = sequence, .seed = seed, .kinds = 3000});
  }
  static Tokens read(TokenSamples& samples, std::uint64_t index, std::size_t tokens = 8) {
    Tokens sample(tokens);
    samples.read(index, sample);
    return sample;
  }

  Folder folder_;
  std::optional<TokenDataset> corpus_;
};

TEST_F(TokenSamplesTest, AreAsManyAsTheTokensAllow) {
  EXPECT_EQ(corpus_->tokens(), 180U);  // 6 on average
  EXPECT_EQ(samples().samples_per_epoch(), 179U / 7);
  EXPECT_EQ(samples(1, 179).samples_per_epoch(), 1U);
}

// Laid end to end, by the token that neighbours share, the samples are the documents, each whole.
TEST_F(TokenSamplesTest, OfAnEpochAreAllDocumentsEndToEnd) {
  TokenSamples all = samples();
  std::vector<Tokens> left;
  for (std::uint64_t i = 0; i < all.samples_per_epoch(); ++i)
    left.push_back(read(all, i));
  // The first is the one that continues no other.
  const auto continues = [&](const Tokens& sample) {
    return std::ranges::any_of(left, [&](const Tokens& s) { return s.back() == sample.front(); });
  };
  const auto first = std::ranges::find_if_not(left, continues);
  ASSERT_NE(first, left.end());
  Tokens row = *first;
  for (std::size_t count = 1; count < left.size(); ++count) {
    const auto next =
        std::ranges::find_if(left, [&](const Tokens& s) { return s.front() == row.back(); });
    ASSERT_NE(next, left.end());
    row.insert(row.end(), next->begin() + 1, next->end());
  }
  EXPECT_EQ(row.size(), 25U * 7 + 1);
  EXPECT_EQ(std::set<std::int64_t>(row.begin(), row.end()).size(), row.size());
  for (std::size_t i = 1; i < row.size(); ++i)
    EXPECT_TRUE(row[i] == row[i - 1] + 1 || row[i] % 100 == 0) << row[i - 1] << ' ' << row[i];
}

TEST_F(TokenSamplesTest, DoNotDependOnWhoAsksForThemWhen) {
  TokenSamples forward = samples();
  TokenSamples backward = samples();
  std::vector<Tokens> one;
  std::vector<Tokens> other;
  const std::uint64_t count = 2 * forward.samples_per_epoch() + 3;
  for (std::uint64_t i = 0; i < count; ++i) {
    one.push_back(read(forward, i));
    other.push_back(read(backward, count - 1 - i));
  }
  std::ranges::reverse(other);
  EXPECT_EQ(one, other);
}

TEST_F(TokenSamplesTest, ComeInAnotherOrderInTheNextEpoch) {
  TokenSamples all = samples();
  std::vector<Tokens> first;
  std::vector<Tokens> second;
  for (std::uint64_t i = 0; i < all.samples_per_epoch(); ++i) {
    first.push_back(read(all, i));
    second.push_back(read(all, i + all.samples_per_epoch()));
  }
  EXPECT_NE(first, second);
  // The documents too are in another order, so that the samples are other ones.
  std::ranges::sort(first);
  std::ranges::sort(second);
  EXPECT_NE(first, second);
}

TEST_F(TokenSamplesTest, FollowTheSeed) {
  TokenSamples one = samples(1);
  TokenSamples same = samples(1);
  TokenSamples other = samples(2);
  EXPECT_EQ(read(one, 0), read(same, 0));
  EXPECT_NE(read(one, 0), read(other, 0));
}

// Written down so that a change of the generator is noticed: results would no longer compare.
TEST_F(TokenSamplesTest, AreTheSameOnEveryMachine) {
  TokenSamples all = samples(42);
  EXPECT_EQ(read(all, 0), (Tokens{2704, 2705, 1600, 1601, 1602, 1603, 1604, 800}));
}

TEST_F(TokenSamplesTest, ComeFromTheirDocumentsAlone) {
  TokenSamples some(*corpus_, {10, 20}, {.sequence = 3, .seed = 1, .kinds = 3000});
  const auto from = static_cast<std::int64_t>(corpus_->first_sequence(10) / 3 * 100);
  const auto to = static_cast<std::int64_t>(corpus_->first_sequence(20) / 3 * 100);
  for (std::uint64_t i = 0; i < 3 * some.samples_per_epoch(); ++i)
    for (const std::int64_t token : read(some, i, 4))
      EXPECT_TRUE(token >= from && token < to) << token;
}

TEST_F(TokenSamplesTest, NameATokenOutsideTheVocabulary) {
  write_corpus(folder_.file("d"), TokenType::u16, {{{1, 2, 500, 4}}});
  const TokenDataset corpus(folder_.file("d"));
  TokenSamples all(corpus, {0, 1}, {.sequence = 3, .seed = 1, .kinds = 500});
  EXPECT_EQ(support::message_of<DataError>([&] { read(all, 0, 4); }),
            folder_.file("d.bin") + ": byte 4: token 500 is not in a vocabulary of 500");
}

TEST_F(TokenSamplesTest, NeedOneTokenMoreThanASequence) {
  EXPECT_NO_THROW(samples(1, 179));
  EXPECT_THAT(support::message_of<UsageError>([&] { samples(1, 180); }),
              HasSubstr(" with 180 tokens, and one sample needs 181"));
}

struct SplitCase {
  std::string name;
  std::string weights;
  std::uint64_t documents;
  std::vector<std::uint64_t> ends;  ///< Of training, validation, test.
};
TEST(Split, SharesDocumentsByWeight) {
  const SplitCase cases[] = {
      {"Even", "7,3,1", 11, {7, 10, 11}},           {"Rounded", "7,3,1", 790, {503, 718, 790}},
      {"TrainingOnly", "1", 5, {5, 5, 5}},          {"NoTest", "90,10", 20, {18, 20, 20}},
      {"Fractions", "0.5,0.25,0.25", 4, {2, 3, 4}}, {"FewDocuments", "1,1,1", 1, {0, 1, 1}},
      {"NoDocuments", "7,3,1", 0, {0, 0, 0}}};
  for (const SplitCase& c : cases) {
    SCOPED_TRACE(c.name);
    std::uint64_t first = 0;
    for (const Part part : {Part::train, Part::validation, Part::test}) {
      const DocumentRange range = split(c.documents, parse_split(c.weights), part);
      EXPECT_EQ(range.first, first);
      EXPECT_EQ(range.last, c.ends[static_cast<std::size_t>(part)]);
      first = range.last;
    }
  }
}

TEST(Split, RefusesWhatIsNone) {
  for (const char* text : {"", "7,", ",1", "7,3,1,1", "-1,2", "0,0,0", "7;3", "nan", "inf", "a"})
    EXPECT_THROW(parse_split(text), UsageError) << text;
}

using testing::ElementsAre;

Tokens tokens_of(SampleMaker& maker, std::uint64_t sample) {
  return made(maker, sample).integers_of(0);
}

/// Eight documents of ten tokens, of which five are training data by the split 5,2,1. Document d
/// has the tokens 10 d to 10 d + 9.
class TokenMakersTest : public testing::Test {
 protected:
  TokenMakersTest() {
    Documents documents;
    for (std::int64_t d = 0; d < 8; ++d) {
      Tokens tokens;
      for (std::int64_t token = 0; token < 10; ++token)
        tokens.push_back(10 * d + token);
      documents.push_back({tokens});
    }
    write_corpus(folder_.file("c"), TokenType::u16, documents);
  }

  std::shared_ptr<TokenSamples> open(std::int64_t vocabulary = 80, Part part = Part::train) const {
    return open_token_samples(folder_.file("c"), "5,2,1", part,
                              {.sequence = 7, .seed = 1, .kinds = vocabulary});
  }

  Folder folder_;
};

TEST_F(TokenMakersTest, MakeTheSamplesOfAPartOfTheCorpus) {
  const SampleMakers makers = token_makers(open(), 2);
  ASSERT_EQ(makers.size(), 2U);
  EXPECT_THAT(makers[0]->fields(), ElementsAre(Field{"tokens", FieldType::int64, {8}}));
  EXPECT_EQ(makers[0]->samples_per_epoch(), 49U / 7);
  const auto samples = open();
  for (const std::uint64_t sample : {0U, 3U, 8U}) {
    Tokens expected(8);
    samples->read(sample, expected);
    EXPECT_EQ(tokens_of(*makers[1], sample), expected);
  }
  for (const std::int64_t token : tokens_of(*token_makers(open(80, Part::validation), 1)[0], 0))
    EXPECT_TRUE(token >= 50 && token < 70) << token;
}

TEST_F(TokenMakersTest, MakeTheSameSamplesOnSeveralThreads) {
  constexpr std::size_t count = 200;  // 28 epochs
  const SampleMakers one = token_makers(open(), 1);
  const SampleMakers makers = token_makers(open(), 4);
  std::vector<Tokens> found(count);
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < makers.size(); ++thread)
      threads.emplace_back([&, thread] {
        for (std::size_t sample = thread; sample < count; sample += makers.size())
          found[sample] = tokens_of(*makers[thread], sample);
      });
  }
  for (std::size_t sample = 0; sample < count; ++sample)
    EXPECT_EQ(found[sample], tokens_of(*one[0], sample)) << sample;
}

TEST_F(TokenMakersTest, RefuseATokenOutsideTheVocabulary) {
  const SampleMakers makers = token_makers(open(1), 1);
  EXPECT_THROW(tokens_of(*makers[0], 0), DataError);
}

TEST(SyntheticTokenMakers, FollowSeedAndNumberAlone) {
  const SampleMakers two = synthetic_token_makers(5, 50257, 32, 2);
  EXPECT_THAT(two[0]->fields(), ElementsAre(Field{"tokens", FieldType::int64, {33}}));
  EXPECT_FALSE(two[0]->samples_per_epoch());
  EXPECT_EQ(tokens_of(*two[0], 10), tokens_of(*two[1], 10));
  EXPECT_NE(tokens_of(*two[0], 10), tokens_of(*two[0], 11));
  EXPECT_NE(tokens_of(*two[0], 10), tokens_of(*synthetic_token_makers(6, 50257, 32, 1)[0], 10));
}

TEST(SyntheticTokenMakers, DrawUniformly) {
  const Tokens tokens = tokens_of(*synthetic_token_makers(5, 10, 99'999, 1)[0], 0);
  double chi_squared = 0;
  for (std::int64_t token = 0; token < 10; ++token) {
    const auto count = static_cast<double>(std::ranges::count(tokens, token));
    chi_squared += (count - 1e4) * (count - 1e4) / 1e4;
  }
  EXPECT_LT(chi_squared, 27.9);  // p = 0.001 with 9 degrees of freedom
}

// Written down so that a change of the generator is noticed: losses would no longer compare.
TEST(SyntheticTokenMakers, AreTheSameOnEveryMachine) {
  EXPECT_THAT(tokens_of(*synthetic_token_makers(5, 50257, 4, 1)[0], 10),
              ElementsAre(8544, 24021, 28220, 10400, 2783));
  EXPECT_THAT(tokens_of(*synthetic_token_makers(1, 512, 4, 1)[0], 0),
              ElementsAre(432, 275, 0, 219, 255));
}

}  // namespace

}  // namespace bench::steps
