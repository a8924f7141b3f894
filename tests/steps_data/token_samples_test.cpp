#include "data/token_samples.hpp"

#include "data/files.hpp"
#include "data/sample_loader.hpp"
#include "data/token_dataset.hpp"
#include "harness/errors.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/corpus.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

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
