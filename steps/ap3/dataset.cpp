#include "ap3/dataset.hpp"

#include "ap3/column.hpp"
#include "ap3/synthetic.hpp"
#include "data/example_fields.hpp"
#include "data/field_source.hpp"
#include "data/fields.hpp"
#include "data/generated_samples.hpp"
#include "harness/loader_options.hpp"

#include <memory>
#include <string>
#include <vector>

namespace bench::ap3 {

std::unique_ptr<steps::FieldSource> open_dataset(const std::vector<std::string>& files,
                                                 int threads) {
  std::vector<steps::ExampleField> examples;
  for (const steps::Field& field : fields())
    examples.push_back({.field = field, .feature = field.name, .raw = {}});
  return steps::open_example_fields(files, examples, threads);
}

steps::SampleFormat sample_format() {
  return {.synthetic = steps::generated_samples(fields(), generate_sample),
          .endings = {steps::tfrecord_endings.begin(), steps::tfrecord_endings.end()},
          .open = open_dataset};
}

}  // namespace bench::ap3
