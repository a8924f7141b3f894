#include "data/moments.hpp"

#include "data/field_source.hpp"
#include "data/fields.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bench::steps {

void Moments::add(double number) {
  ++count;
  const double difference = number - mean;
  mean += difference / count;
  squares += difference * (number - mean);
}

double Moments::deviation() const {
  return std::sqrt(squares / count);
}

void normalise(std::span<const float> numbers, const Moments& moments, std::span<float> to) {
  const double deviation = moments.deviation();
  const double factor = deviation > 0 ? 1 / deviation : 0;
  std::ranges::transform(numbers, to.begin(), [&](float number) {
    return static_cast<float>((static_cast<double>(number) - moments.mean) * factor);
  });
}

FieldMoments moments_of(const FieldSource& source, std::uint64_t samples,
                        const std::vector<Channels>& channels) {
  FieldMoments moments;
  for (const Channels& of_field : channels)
    moments.emplace_back(of_field.count);
  const SampleBuffer sample(source.fields());
  const auto reader = source.reader();
  const std::uint64_t read = std::min(samples, source.samples());
  for (std::uint64_t i = 0; i < read; ++i) {
    reader->read(i * source.samples() / read, sample.memory());
    for (std::size_t field = 0; field < moments.size(); ++field) {
      if (source.fields()[field].type != FieldType::float32)
        continue;
      const auto [count, run] = channels[field];
      const std::span<const float> numbers = floats(sample.memory()[field]);
      for (std::size_t k = 0; k * run < numbers.size(); ++k)
        for (const float number : numbers.subspan(k * run, run))
          moments[field][k % count].add(static_cast<double>(number));
    }
  }
  return moments;
}

}  // namespace bench::steps
