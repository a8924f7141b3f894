#include "data/files.hpp"
#include "data/sample_loader.hpp"
#include "data/token_dataset.hpp"
#include "data/token_samples.hpp"
#include "step_programs/program_runner.hpp"
#include "steps_data/corpus.hpp"
#include "steps_data/field_buffers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

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
