#include "data/generated_samples.hpp"

#include "data/epoch_order.hpp"
#include "data/fields.hpp"
#include "data/sample_maker.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

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

std::function<SampleMakers(std::uint64_t seed, int threads)> generated_samples(
    std::vector<Field> fields, GenerateSample generate) {
  return [fields = std::move(fields), generate = std::move(generate)](std::uint64_t seed,
                                                                      int threads) {
    return generated_makers(fields, seed, threads, generate);
  };
}

}  // namespace bench::steps
