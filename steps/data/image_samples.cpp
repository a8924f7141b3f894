#include "data/image_samples.hpp"

#include "data/data_error.hpp"
#include "harness/program.hpp"

#include <optional>

namespace bench::steps {
namespace {

class ImageMaker : public SampleMaker {
 public:
  ImageMaker(const ImageSource& source, std::shared_ptr<EpochOrder> order,
             const ImageSampleOptions& options)
      : reader_(source.reader()), order_(std::move(order)), options_(options) {}

  std::int64_t make(std::uint64_t sample, std::span<float> values) override {
    const EncodedImage encoded = reader_->at(order_->item(sample));
    const std::int64_t label = encoded.label + options_.first_label;
    if (label >= options_.classes)
      throw DataError(encoded.name,
                      fmt::format("label {}, but there are {} classes", label, options_.classes));
    decoder_.decode(encoded.jpeg, encoded.name, image_);
    if (options_.part == ImagePart::validation) {
      resize_part(image_, middle_part(image_.width, image_.height), /*mirrored=*/false,
                  options_.size, values, options_.order);
      return label;
    }
    Random random = EpochOrder::stream(options_.seed, sample);
    const Rectangle part = random_part(image_.width, image_.height, random);
    const bool mirrored = random.below(2) == 1;
    resize_part(image_, part, mirrored, options_.size, values, options_.order);
    return label;
  }

 private:
  std::unique_ptr<ImageSource::Reader> reader_;
  std::shared_ptr<EpochOrder> order_;  ///< Of all threads.
  ImageSampleOptions options_;
  JpegDecoder decoder_;
  Image image_;
};

}  // namespace

SampleMakers image_makers(const ImageSource& source, const ImageSampleOptions& options,
                          int threads) {
  if (source.classes() && *source.classes() + options.first_label > options.classes)
    throw UsageError(fmt::format("the data set has {} classes, of which {} have a place",
                                 *source.classes(), options.classes - options.first_label),
                     fmt::format("use --classes {}", *source.classes() + options.first_label));
  std::optional<std::uint64_t> seed;
  if (options.part == ImagePart::train)
    seed = options.seed;
  const auto order = std::make_shared<EpochOrder>(source.images(), seed);
  SampleMakers makers;
  for (int i = 0; i < threads; ++i)
    makers.push_back(std::make_unique<ImageMaker>(source, order, options));
  return makers;
}

}  // namespace bench::steps
