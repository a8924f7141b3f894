#include "data/field_samples.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "steps_data/field_buffers.hpp"
#include "steps_data/numbered_source.hpp"
#include "support/message_of.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace bench::steps {
namespace {

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
  EXPECT_EQ(support::message_of<DataError>([&] { read(*reader, cache, 10); }),
            "numbers: no sample 10");
  EXPECT_EQ(cache.cached_samples(), 0U);
}

}  // namespace
}  // namespace bench::steps
