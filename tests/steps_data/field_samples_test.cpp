#include "data/field_samples.hpp"

#include "data/files.hpp"
#include "data/sample_loader.hpp"
#include "harness/program.hpp"
#include "steps_data/field_buffers.hpp"
#include "steps_data/numbered_source.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <gmock/gmock.h>

namespace bench::steps {
namespace {

using testing::ElementsAre;
using Numbers = std::vector<float>;

SampleMakers makers_of(std::uint64_t samples, std::optional<std::uint64_t> seed, int threads = 1) {
  return field_makers(std::make_shared<NumberedSource>(samples), seed, threads);
}

/// The numbers of the source's samples.
Numbers numbers_of(SampleMaker& maker, std::uint64_t first, std::uint64_t last) {
  Numbers numbers;
  for (std::uint64_t sample = first; sample < last; ++sample)
    numbers.push_back(made(maker, sample).floats_of(0).front());
  return numbers;
}

TEST(FieldSamples, AreThoseOfTheSource) {
  const SampleMakers makers = makers_of(5, std::nullopt);
  EXPECT_EQ(makers[0]->fields(), NumberedSource(5).fields());
  EXPECT_EQ(makers[0]->samples_per_epoch(), 5U);
  FieldBuffers sample = made(*makers[0], 3);
  EXPECT_THAT(sample.floats_of(0), ElementsAre(3, 1.5F));
  EXPECT_THAT(sample.integers_of(1), ElementsAre(-3));
}

TEST(FieldSamples, ComeInTheOrderOfTheSourceWithoutASeed) {
  const SampleMakers makers = makers_of(4, std::nullopt);
  EXPECT_EQ(numbers_of(*makers[0], 2, 9), (Numbers{2, 3, 0, 1, 2, 3, 0}));
}

TEST(FieldSamples, ComeInAnotherOrderInEachEpoch) {
  const SampleMakers makers = makers_of(50, 3);
  const Numbers first = numbers_of(*makers[0], 0, 50);
  const Numbers second = numbers_of(*makers[0], 50, 100);
  EXPECT_NE(first, second);
  EXPECT_THAT(first, testing::UnorderedElementsAreArray(second));
  EXPECT_THAT(first, testing::UnorderedElementsAreArray(
                         numbers_of(*makers_of(50, std::nullopt)[0], 0, 50)));
}

TEST(FieldSamples, AreTheSameOnEveryThread) {
  const SampleMakers makers = makers_of(20, 3, 3);
  ASSERT_EQ(makers.size(), 3U);
  const Numbers expected = numbers_of(*makers[0], 0, 40);
  EXPECT_EQ(numbers_of(*makers[1], 0, 40), expected);
  EXPECT_EQ(numbers_of(*makers[2], 0, 40), expected);
}

/// What a rank of two sees, whose steps have batches of three.
Numbers numbers_of_shard(std::uint64_t samples, std::uint64_t rank, std::uint64_t steps,
                         std::optional<std::uint64_t> seed = 3) {
  const SampleMakers makers = field_makers(std::make_shared<NumberedSource>(samples), seed, 1,
                                           {.rank = rank, .ranks = 2, .batch = 3});
  Numbers numbers;
  for (std::uint64_t step = 0; step < steps; ++step)
    for (const float number : numbers_of(*makers[0], 6 * step + 3 * rank, 6 * step + 3 * rank + 3))
      numbers.push_back(number);
  return numbers;
}

TEST(FieldShards, AreThePartsOfTheDataSet) {
  EXPECT_EQ(numbers_of_shard(12, 0, 2, std::nullopt), (Numbers{0, 2, 4, 6, 8, 10}));
  EXPECT_EQ(numbers_of_shard(12, 1, 2, std::nullopt), (Numbers{1, 3, 5, 7, 9, 11}));
}

TEST(FieldShards, StayTheSameInAllEpochs) {
  const Numbers numbers = numbers_of_shard(13, 1, 8);  // four epochs of 6
  for (std::size_t epoch = 0; epoch < 4; ++epoch) {
    const auto begin = numbers.begin() + static_cast<std::ptrdiff_t>(6 * epoch);
    EXPECT_THAT(Numbers(begin, begin + 6), testing::UnorderedElementsAre(1, 3, 5, 7, 9, 11));
  }
  EXPECT_NE(Numbers(numbers.begin(), numbers.begin() + 6),
            Numbers(numbers.begin() + 6, numbers.begin() + 12));
}

TEST(FieldShards, NeedASample) {
  EXPECT_THROW(numbers_of_shard(1, 1, 1), UsageError);
}

TEST(FieldSamples, NeedASample) {
  EXPECT_THROW(makers_of(0, std::nullopt), UsageError);
}

}  // namespace
}  // namespace bench::steps
