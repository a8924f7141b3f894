#pragma once

namespace bench::dataset {

/// `dataset images`: writes a data set of images in another format, or one of noise.
/// @param argv begins with the subcommand
/// @returns an exit code
int write_images(int argc, char** argv);

}  // namespace bench::dataset
