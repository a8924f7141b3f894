#pragma once

// Samples of ap3, for tests that write data sets.

namespace bench::steps {

/// What `dataset fields` writes, as its options.
inline constexpr const char* ap3_columns =
    " --format tfrecord --field sca_inputs:float32:17 --field col_inputs:float32:137x27"
    " --field hl_inputs:float32:138x2 --field inter_inputs:float32:136x1"
    " --field pressure_hl:float32:138x1 --field sw:float32:138x2 --field hr_sw:float32:137x1";

}  // namespace bench::steps
