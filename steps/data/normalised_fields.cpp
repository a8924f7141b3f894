#include "data/normalised_fields.hpp"

#include "data/fields.hpp"
#include "data/transformed_fields.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace bench::steps {
namespace {

/// Of the numbers of a field.
struct Moments {
  double count = 0;
  double mean = 0;
  double squares = 0;  ///< Sum of the squared differences from the mean.

  /// Welford, Note on a Method for Calculating Corrected Sums of Squares and Products
  /// (Technometrics 4, 1962): a geopotential would lose its digits in a sum of its squares.
  void add(double number) {
    ++count;
    const double difference = number - mean;
    mean += difference / count;
    squares += difference * (number - mean);
  }

  double deviation() const { return std::sqrt(squares / count); }
};

std::vector<Moments> moments_of(const FieldSource& source, std::uint64_t samples) {
  const std::vector<Field>& fields = source.fields();
  std::vector<std::vector<std::byte>> buffers;
  for (const Field& field : fields)
    buffers.emplace_back(field.bytes());
  const FieldMemory memory(buffers.begin(), buffers.end());
  std::vector<Moments> moments(fields.size());
  const auto reader = source.reader();
  for (std::uint64_t i = 0; i < samples; ++i) {
    reader->read(i * source.samples() / samples, memory);
    for (std::size_t field = 0; field < fields.size(); ++field)
      if (fields[field].type == FieldType::float32)
        for (const float number : floats(memory[field]))
          moments[field].add(static_cast<double>(number));
  }
  return moments;
}

void normalise(std::span<const float> from, std::span<float> to, const Moments& moments) {
  const double deviation = moments.deviation();
  const double factor = deviation > 0 ? 1 / deviation : 0;
  std::ranges::transform(from, to.begin(), [&](float number) {
    return static_cast<float>((static_cast<double>(number) - moments.mean) * factor);
  });
}

}  // namespace

std::unique_ptr<FieldSource> normalised_fields(std::shared_ptr<const FieldSource> stored,
                                               std::uint64_t samples) {
  const std::vector<Field> fields = stored->fields();
  const std::vector<Moments> moments =
      moments_of(*stored, std::min<std::uint64_t>(samples, stored->samples()));
  return transformed_fields(std::move(stored), fields,
                            [fields, moments](const FieldMemory& from, const FieldMemory& to) {
                              for (std::size_t field = 0; field < fields.size(); ++field)
                                if (fields[field].type == FieldType::float32)
                                  normalise(floats(from[field]), floats(to[field]), moments[field]);
                                else
                                  std::ranges::copy(from[field], to[field].begin());
                            });
}

}  // namespace bench::steps
