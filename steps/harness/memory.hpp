#pragma once

namespace bench::steps {

/// Makes malloc keep what is freed, and lets its first 2 GiB lie in huge pages. Must stand first in
/// `main`.
///
/// By default every large temporary tensor is mapped, touched page by page and unmapped again; on
/// two cores that made a ResNet-18 step 1.5 times longer. Warns on stderr where malloc refuses.
/// Where the kernel gives huge pages to who asks (`madvise`, the default of Debian and Ubuntu), a
/// tensor larger than the caches is read twice as fast from them, and a step of ResNet-50 takes 3 %
/// less time (docs/background/performance.md). Elsewhere asking changes nothing.
void keep_freed_memory();

}  // namespace bench::steps
