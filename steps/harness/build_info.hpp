#pragma once

#include <string>

namespace bench::steps {

/// Prints what the program was built with and sees on this machine, for `--build-info`: compiler,
/// LibTorch, BLAS, communication and devices as `name=value`, then LibTorch's own description.
void log_build_info(const std::string& program);

}  // namespace bench::steps
