#include "data/generated_samples.hpp"

#include "data/epoch_order.hpp"

#include <memory>

namespace bench::steps {
namespace {

class GeneratedSamples : public SampleMaker {
 public:
  GeneratedSamples(std::vector<Field> fields, std::uint64_t seed, GenerateSample generate)
      : fields_(std::move(fields)), seed_(seed), generate_(std::move(generate)) {}

  const std::vector<Field>& fields() const override { return fields_; }
  void make(std::uint64_t sample, const FieldMemory& memory) override {
    generate_(EpochOrder::stream(seed_, sample), memory);
  }

 private:
  std::vector<Field> fields_;
  std::uint64_t seed_;
  GenerateSample generate_;
};

}  // namespace

SampleMakers generated_makers(const std::vector<Field>& fields, std::uint64_t seed, int threads,
                              const GenerateSample& generate) {
  SampleMakers makers;
  for (int thread = 0; thread < threads; ++thread)
    makers.push_back(std::make_unique<GeneratedSamples>(fields, seed, generate));
  return makers;
}

}  // namespace bench::steps
