#pragma once

#include "data/field_samples.hpp"
#include "data/image_decoder.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace bench::dataset {

/// Removes what a failed run has written, so that the corrected command finds its output free.
class UnfinishedOutput {
 public:
  UnfinishedOutput() = default;
  UnfinishedOutput(const UnfinishedOutput&) = delete;
  UnfinishedOutput& operator=(const UnfinishedOutput&) = delete;
  ~UnfinishedOutput() {
    std::error_code ignored;
    for (auto path = paths_.rbegin(); path != paths_.rend(); ++path)
      std::filesystem::remove(*path, ignored);  // a folder only if it is empty
  }

  /// A file or folder that did not exist, before it is made.
  void add(std::string path) { paths_.push_back(std::move(path)); }

  /// Everything is written.
  void keep() { paths_.clear(); }

 private:
  std::vector<std::string> paths_;
};

/// The field of an option `--field NAME:TYPE:SHAPE[:VALUES]`.
///
///     climate/data:float32:768x1152x16:normal   N(0, 1); without `normal` uniform in 0 <= x < 1
///     climate/labels:int64:768x1152:3           0, 1 or 2; without a number 0 or 1
///     year:int64:                               one number
///
/// @throws UsageError that shows the option, if it has another form
steps::SyntheticField parse_field(const std::string& option);

/// `dataset fields`: writes a data set of random fields.
/// @param argv begins with the subcommand
/// @returns an exit code
int write_fields(int argc, char** argv);

/// An image that costs a JPEG decoder what a photograph of its size costs: colours that change over
/// 8 pixels, and noise upon them, drawn for this number. At 500 x 375 pixels and quality 90 the
/// file has about 95,000 bytes; ImageNet's have 110,000 at about as many pixels.
steps::Image noise_image(std::size_t width, std::size_t height, std::uint64_t seed,
                         std::uint64_t number);

/// `dataset images`: writes a data set of images in another format, or one of noise.
/// @param argv begins with the subcommand
/// @returns an exit code
int write_images(int argc, char** argv);

/// `dataset texts`: labelled texts of csv files as tokens in netCDF or HDF5, for `ap2`.
int write_texts(int argc, char** argv);

/// `dataset tokens OPTIONS`: writes a corpus from plain text.
/// @returns an exit code
/// @throws steps::UsageError, steps::DataError
int write_tokens(int argc, char** argv);

}  // namespace bench::dataset
