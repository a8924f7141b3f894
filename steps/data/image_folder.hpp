#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bench::steps {

/// JPEG and PNG files sorted into one folder per class: `FOLDER/CLASS/IMAGE.jpg`.
struct ImageFolder {
  struct File {
    std::string path;
    std::int64_t label;  ///< Of `classes`.
  };

  std::vector<std::string> classes;  ///< Names of the folders, sorted by their bytes.
  std::vector<File> files;           ///< By class, then name.
};

/// Names of the class folders, sorted by their bytes.
/// @throws UsageError if the folder cannot be read
std::vector<std::string> find_classes(const std::string& folder);

/// Finds the images; reads none. Files that end neither in .jpg nor in .jpeg nor in .png, in
/// capitals or not, and what lies deeper or higher is passed over.
/// @throws UsageError if the folder cannot be read, has no images, or one is a link to nothing
ImageFolder find_images(const std::string& folder);

}  // namespace bench::steps
