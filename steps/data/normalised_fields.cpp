#include "data/normalised_fields.hpp"

#include "data/fields.hpp"
#include "data/moments.hpp"
#include "data/transformed_fields.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace bench::steps {
namespace {

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
  const std::vector<std::size_t> whole(fields.size(), 1);
  const auto moments = moments_of(*stored, samples, whole);
  return transformed_fields(
      std::move(stored), fields, [fields, moments](const FieldMemory& from, const FieldMemory& to) {
        for (std::size_t field = 0; field < fields.size(); ++field)
          if (fields[field].type == FieldType::float32)
            normalise(floats(from[field]), floats(to[field]), moments[field].front());
          else
            std::ranges::copy(from[field], to[field].begin());
      });
}

}  // namespace bench::steps
