#include "ap2/data.hpp"

#include "ap2/network.hpp"
#include "data/array_fields.hpp"
#include "data/field_files.hpp"
#include "data/field_samples.hpp"
#include "data/field_transforms.hpp"
#include "data/fields.hpp"
#include "data/files.hpp"
#include "data/random.hpp"
#include "harness/loader_options.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <fmt/core.h>

namespace bench::ap2 {
namespace {

/// @param name of the data set, for messages
/// @throws steps::DataError if a token is not in the vocabulary, or the label is none
void check_sample(const std::string& name, std::int64_t vocabulary, std::uint64_t sample,
                  const steps::FieldMemory& memory) {
  const std::span<const std::int64_t> tokens = steps::integers(memory[0]);
  const std::int64_t label = steps::integers(memory[1])[0];
  const auto wrong = std::ranges::find_if(
      tokens, [&](std::int64_t token) { return token < 0 || token >= vocabulary; });
  if (wrong != tokens.end())
    throw steps::DataError(
        name, fmt::format("variable 'input_ids' at ({}, {}): token {} is not in a vocabulary of {}",
                          sample, wrong - tokens.begin(), *wrong, vocabulary));
  if (label < 0 || label >= label_count)
    throw steps::DataError(
        name, fmt::format("variable 'label' at ({}): {} is not 0 or 1", sample, label));
}

}  // namespace

std::vector<steps::Field> fields(const Sizes& sizes) {
  return {{.name = "input_ids", .type = steps::FieldType::int64, .shape = {sizes.sequence}},
          {.name = "label", .type = steps::FieldType::int64, .shape = {}}};
}

void generate_sample(steps::Random random, const steps::FieldMemory& sample, const Sizes& sizes) {
  const std::span<std::int64_t> tokens = steps::integers(sample[0]);
  const std::int64_t shortest = std::min(shortest_sequence, sizes.sequence);
  const std::int64_t length =
      shortest + random.below(static_cast<std::uint32_t>(sizes.sequence - shortest + 1));
  std::ranges::fill(tokens, padding_token);
  std::ranges::generate(tokens.first(static_cast<std::size_t>(length)), [&] {
    return 1 + std::int64_t{random.below(static_cast<std::uint32_t>(sizes.vocabulary - 1))};
  });
  steps::integers(sample[1])[0] = tokens[0] > sizes.vocabulary / 2 ? 1 : 0;
}

std::unique_ptr<steps::FieldSource> open_dataset(const std::vector<std::string>& files,
                                                 const Sizes& sizes) {
  steps::ArrayLayout layout;
  for (const steps::Field& field : fields(sizes))
    layout.fields.push_back({.name = field.name, .axes = {steps::Axis::sample}});
  // Samples are numbered over all files.
  const std::string name = files.size() == 1
                               ? files.front()
                               : fmt::format("{} and {} more", files.front(), files.size() - 1);
  return steps::checked_fields(steps::open_array_files(files, layout, fields(sizes)),
                               [name, vocabulary = sizes.vocabulary](
                                   std::uint64_t sample, const steps::FieldMemory& memory) {
                                 check_sample(name, vocabulary, sample, memory);
                               });
}

steps::SampleFormat sample_format(const Sizes& sizes) {
  return {.synthetic = steps::generated_samples(
              fields(sizes),
              [sizes](steps::Random random, const steps::FieldMemory& sample) {
                generate_sample(random, sample, sizes);
              }),
          .endings = steps::array_endings(),
          .open = [sizes](const std::vector<std::string>& files, int) {
            return open_dataset(files, sizes);
          }};
}

}  // namespace bench::ap2
