#pragma once

namespace bench::support {

/// Names a test after the `name` of its parameter, for `INSTANTIATE_TEST_SUITE_P`.
inline constexpr auto case_name = [](const auto& info) { return info.param.name; };

}  // namespace bench::support
