#pragma once

namespace bench::dataset {

/// `dataset tokens OPTIONS`: writes a corpus from plain text.
/// @returns an exit code
/// @throws steps::UsageError, steps::DataError
int write_tokens(int argc, char** argv);

}  // namespace bench::dataset
