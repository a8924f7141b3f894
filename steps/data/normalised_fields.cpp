#include "data/normalised_fields.hpp"

#include "data/field_source.hpp"
#include "data/fields.hpp"
#include "data/moments.hpp"
#include "data/transformed_fields.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace bench::steps {
std::unique_ptr<FieldSource> normalised_fields(std::shared_ptr<const FieldSource> stored,
                                               std::uint64_t samples, FieldMoments& moments) {
  const std::vector<Field> fields = stored->fields();
  if (moments.empty())
    moments = moments_of(*stored, samples, std::vector<Channels>(fields.size()));
  return transformed_fields(
      std::move(stored), fields, [fields, moments](const FieldMemory& from, const FieldMemory& to) {
        for (std::size_t field = 0; field < fields.size(); ++field)
          if (fields[field].type == FieldType::float32)
            normalise(floats(from[field]), moments[field].front(), floats(to[field]));
          else
            std::ranges::copy(from[field], to[field].begin());
      });
}

}  // namespace bench::steps
