#include "cosmoflow/sample.hpp"

#include "data/example_fields.hpp"
#include "data/field_source.hpp"
#include "data/fields.hpp"
#include "data/number_type.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace bench::cosmoflow {

std::vector<steps::Field> fields(std::int64_t size) {
  return {{.name = "x", .shape = {size, size, size, redshift_count}},
          {.name = "y", .shape = {target_count}}};
}

std::unique_ptr<steps::FieldSource> open_samples(const std::vector<std::string>& files,
                                                 std::int64_t size, int threads) {
  const std::vector<steps::Field> all = fields(size);
  const std::vector<steps::ExampleField> features{
      {.field = all[0], .feature = "x", .raw = steps::NumberType::int16},
      {.field = all[1], .feature = "y", .raw = {}}};
  constexpr std::uint64_t records_per_file = 1;
  return steps::open_example_fields(files, features, threads, records_per_file);
}

}  // namespace bench::cosmoflow
