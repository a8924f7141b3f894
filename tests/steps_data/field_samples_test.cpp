#include "data/field_samples.hpp"

#include "data/field_transforms.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "data/sample_loader.hpp"
#include "harness/errors.hpp"
#include "steps_data/numbered_source.hpp"
#include "steps_data/sample_numbers.hpp"
#include "support/message_of.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace bench::steps {
namespace {

using support::message_of;
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

FieldBuffers read(FieldSource::Reader& reader, const FieldSource& source, std::uint64_t sample) {
  FieldBuffers buffers(source.fields());
  reader.read(sample, buffers.memory());
  return buffers;
}

TEST(SampleCache, HasTheSamplesOfItsSourceAndReadsEachOnce) {
  const auto source = std::make_shared<NumberedSource>(10);
  const auto expected = source->reader();
  const SampleCache cache(source);
  const auto reader = cache.reader();
  EXPECT_EQ(cache.fields(), source->fields());
  EXPECT_EQ(cache.samples(), 10U);
  EXPECT_EQ(cache.bytes(), source->bytes());
  for (const std::uint64_t sample : {3U, 9U, 3U, 0U, 3U, 9U})
    EXPECT_EQ(read(*reader, cache, sample), read(*expected, *source, sample)) << sample;
  EXPECT_EQ(source->reads(), 3U + 6U);  // six of them by `expected`
}

TEST(SampleCache, CountsWhatItHolds) {
  const SampleCache cache(std::make_shared<NumberedSource>(10));
  const auto reader = cache.reader();
  EXPECT_EQ(cache.cached_bytes(), 0U);
  for (const std::uint64_t sample : {1U, 2U, 1U})
    read(*reader, cache, sample);
  EXPECT_EQ(cache.cached_samples(), 2U);
  EXPECT_EQ(cache.cached_bytes(), 2 * (2 * 4U + 8U));
}

TEST(SampleCache, KeepsNoMoreThanItMay) {
  const auto source = std::make_shared<NumberedSource>(10);
  const SampleCache cache(source, 3);
  const auto reader = cache.reader();
  for (int epoch = 0; epoch < 2; ++epoch)
    for (std::uint64_t sample = 0; sample < 10; ++sample)
      EXPECT_EQ(read(*reader, cache, sample).integers_of(1).front(),
                -static_cast<std::int64_t>(sample));
  EXPECT_EQ(cache.cached_samples(), 3U);
  EXPECT_EQ(source->reads(), 10U + 7U);
}

TEST(SampleCache, ServesSeveralThreads) {
  const auto source = std::make_shared<NumberedSource>(100);
  const SampleCache cache(source);
  constexpr std::size_t strides[] = {1, 3, 7, 9};  // each thread has an order of its own
  std::vector<std::int64_t> labels[4];
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] {
        const auto reader = cache.reader();
        labels[thread].resize(100);
        for (std::size_t i = 0; i < 1000; ++i) {
          const std::size_t sample = i * strides[thread] % 100;
          labels[thread][sample] = read(*reader, cache, sample).integers_of(1).front();
        }
      });
  }
  for (const std::vector<std::int64_t>& found : labels)
    for (std::size_t sample = 0; sample < 100; ++sample)
      EXPECT_EQ(found[sample], -static_cast<std::int64_t>(sample));
  EXPECT_EQ(cache.cached_samples(), 100U);
}

TEST(SampleCache, PassesOnWhatItsSourceThrows) {
  const SampleCache cache(std::make_shared<NumberedSource>(10));
  const auto reader = cache.reader();
  EXPECT_EQ(message_of<DataError>([&] { read(*reader, cache, 10); }), "numbers: no sample 10");
  EXPECT_EQ(cache.cached_samples(), 0U);
}

std::vector<SyntheticField> some_fields() {
  return {{.field = {"image", FieldType::float32, {5, 7}}},
          {.field = {"noise", FieldType::float32, {13}}, .distribution = Distribution::normal},
          {.field = {"mask", FieldType::int64, {5, 7}}, .bound = 3}};
}

Moments measured(const std::vector<float>& numbers) {
  Moments moments;
  for (const float number : numbers)
    moments.add(static_cast<double>(number));
  return moments;
}

/// Of one sample of a field of 100,000 numbers.
std::vector<float> drawn(Distribution distribution) {
  const SampleMakers makers = synthetic_field_makers(
      {{.field = {"x", FieldType::float32, {100, 1000}}, .distribution = distribution}}, 1, 1);
  return made(*makers[0], 5).floats_of(0);
}

TEST(SyntheticFields, HaveTheFieldsThatWereAskedForWithoutEnd) {
  const SampleMakers makers = synthetic_field_makers(some_fields(), 1, 2);
  ASSERT_EQ(makers.size(), 2U);
  const std::vector<Field> expected = {{"image", FieldType::float32, {5, 7}},
                                       {"noise", FieldType::float32, {13}},
                                       {"mask", FieldType::int64, {5, 7}}};
  EXPECT_EQ(makers[1]->fields(), expected);
  EXPECT_FALSE(makers[1]->samples_per_epoch());
}

TEST(SyntheticFields, FollowSeedAndNumberAlone) {
  const SampleMakers two = synthetic_field_makers(some_fields(), 1, 2);
  const SampleMakers other = synthetic_field_makers(some_fields(), 2, 1);
  const FieldBuffers expected = made(*two[0], 9);
  made(*two[1], 3);
  EXPECT_EQ(made(*two[1], 9), expected);
  EXPECT_NE(made(*two[0], 10), expected);
  EXPECT_NE(made(*other[0], 9), expected);
}

TEST(SyntheticFields, AreUniformBelowOne) {
  const std::vector<float> numbers = drawn(Distribution::uniform);
  const auto [least, most] = std::ranges::minmax(numbers);
  EXPECT_GE(least, 0);
  EXPECT_LT(most, 1);
  const Moments moments = measured(numbers);
  EXPECT_NEAR(moments.mean, 0.5, 0.005);
  EXPECT_NEAR(moments.deviation(), std::sqrt(1.0 / 12), 0.005);
}

TEST(SyntheticFields, AreNormal) {
  const std::vector<float> numbers = drawn(Distribution::normal);
  const Moments moments = measured(numbers);
  EXPECT_NEAR(moments.mean, 0, 0.02);
  EXPECT_NEAR(moments.deviation(), 1, 0.02);
  const auto beyond_two =
      std::ranges::count_if(numbers, [](float number) { return std::abs(number) > 2; });
  EXPECT_NEAR(static_cast<double>(beyond_two) / 1e5, 0.0455, 0.005);
}

TEST(SyntheticFields, HaveEachIntegerBelowTheBound) {
  const SampleMakers makers = synthetic_field_makers(some_fields(), 1, 1);
  std::set<std::int64_t> seen;
  for (std::uint64_t sample = 0; sample < 20; ++sample)
    for (const std::int64_t number : made(*makers[0], sample).integers_of(2))
      seen.insert(number);
  EXPECT_THAT(seen, testing::ElementsAre(0, 1, 2));
}

// Written down so that a change of the generator is noticed: losses would no longer compare.
TEST(SyntheticFields, AreTheSameOnEveryMachine) {
  const SampleMakers makers = synthetic_field_makers(some_fields(), 7, 1);
  FieldBuffers sample = made(*makers[0], 2);
  EXPECT_EQ(sample.floats_of(0)[34], 16'348'808 * 0x1p-24F);
  EXPECT_NEAR(sample.floats_of(1)[12], 0.0996095687F, 1e-7F);  // the quantile of 2210.5 / 4096
  EXPECT_EQ(sample.integers_of(2)[34], 2);
}

TEST(SyntheticFields, NeedABoundForIntegers) {
  EXPECT_EQ(message_of<std::invalid_argument>([] {
              synthetic_field_makers({{.field = {"mask", FieldType::int64, {}}, .bound = 0}}, 1, 1);
            }),
            "the bound of field 'mask' is 0");
}

}  // namespace
}  // namespace bench::steps
