#include "data/example.hpp"
#include "data/example_fields.hpp"
#include "data/field_writer.hpp"
#include "data/fields.hpp"
#include "data/tfrecord.hpp"
#include "data/zlib.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace bench::steps {
namespace {

class ExampleWriter : public FieldWriter {
 public:
  ExampleWriter(const std::string& path, const std::vector<Field>& fields, int compression)
      : fields_(fields),
        writer_(path, compression > 0 ? Compression::gzip : Compression::none, compression) {}

  void add(const FieldMemory& sample) override {
    Example example;
    for (std::size_t i = 0; i < fields_.size(); ++i)
      example[fields_[i].name] = feature_of(fields_[i].type, sample[i]);
    writer_.add(write_example(example));
  }

  void finish() override { writer_.finish(); }

 private:
  static Feature feature_of(FieldType type, std::span<std::byte> memory) {
    if (type == FieldType::float32) {
      const std::span<float> numbers = floats(memory);
      return FloatList(numbers.begin(), numbers.end());
    }
    const std::span<std::int64_t> numbers = integers(memory);
    return Int64List(numbers.begin(), numbers.end());
  }

  std::vector<Field> fields_;
  TfRecordWriter writer_;
};

}  // namespace

std::unique_ptr<FieldWriter> make_example_writer(const std::string& path,
                                                 const std::vector<Field>& fields,
                                                 int compression) {
  return std::make_unique<ExampleWriter>(path, fields, compression);
}

}  // namespace bench::steps
