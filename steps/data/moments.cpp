#include "data/moments.hpp"

#include "data/fields.hpp"

#include <algorithm>
#include <cmath>
#include <span>

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

std::vector<std::vector<Moments>> moments_of(const FieldSource& source, std::uint64_t samples,
                                             const std::vector<std::size_t>& channels) {
  std::vector<std::vector<Moments>> moments;
  for (const std::size_t count : channels)
    moments.emplace_back(count);
  const SampleBuffer sample(source.fields());
  const auto reader = source.reader();
  const std::uint64_t read = std::min(samples, source.samples());
  for (std::uint64_t i = 0; i < read; ++i) {
    reader->read(i * source.samples() / read, sample.memory());
    for (std::size_t field = 0; field < moments.size(); ++field) {
      if (source.fields()[field].type != FieldType::float32)
        continue;
      const std::span<const float> numbers = floats(sample.memory()[field]);
      for (std::size_t k = 0; k < numbers.size(); ++k)
        moments[field][k % channels[field]].add(static_cast<double>(numbers[k]));
    }
  }
  return moments;
}

}  // namespace bench::steps
