#include <bench/machine/machine.hpp>
#include <bench/machine/platform.hpp>
#include <bench/machine/words.hpp>

namespace bench::platform {

const Words<Status>& status_words() {
  static const Words<Status> words{
      {"live", Status::live}, {"historic", Status::historic}, {"unknown", Status::unknown}};
  return words;
}

const Words<GpuRequest>& gpu_request_words() {
  static const Words<GpuRequest> words{{"none", GpuRequest::none},
                                       {"gres", GpuRequest::gres},
                                       {"gpus-per-node", GpuRequest::gpus_per_node},
                                       {"gpus-per-task", GpuRequest::gpus_per_task},
                                       {"constraint", GpuRequest::constraint}};
  return words;
}

const Words<Binding::Mode>& binding_words() {
  using Mode = Binding::Mode;
  static const Words<Mode> words{{"none", Mode::none},
                                 {"cores", Mode::cores},
                                 {"sockets", Mode::sockets},
                                 {"mask_cpu", Mode::mask_cpu},
                                 {"map_cpu", Mode::map_cpu}};
  return words;
}

}  // namespace bench::platform
