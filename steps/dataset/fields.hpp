#pragma once

namespace bench::dataset {

/// `dataset fields`: writes a data set of random fields.
/// @param argv begins with the subcommand
/// @returns an exit code
int write_fields(int argc, char** argv);

}  // namespace bench::dataset
