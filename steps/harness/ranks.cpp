#include "harness/ranks.hpp"

#include "data/files.hpp"
#include "harness/errors.hpp"
#include "harness/text.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fmt/core.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace bench::steps {
namespace {

/// The names of the variables in which a launcher says its ranks.
struct Launcher {
  const char* name;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
};

constexpr std::array<Launcher, 6> launchers{{
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"openmpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"jsrun", "JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE", "JSM_NAMESPACE_LOCAL_RANK", ""},
    {"pmi", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", ""},
    {"pmix", "PMIX_RANK", "", "", ""},
}};

constexpr const char* ranks_hint =
    "start the program with srun, torchrun or mpirun, or set RANK, WORLD_SIZE, LOCAL_RANK, "
    "MASTER_ADDR and MASTER_PORT; for one rank unset what is named";

/// What one launcher says.
struct Claim {
  Launcher launcher{};
  std::optional<int> rank;
  std::optional<int> size;
  std::optional<int> local_rank;
  std::optional<int> local_size;

  bool complete() const { return rank && size; }
  bool agrees_with(const Claim& other) const { return rank == other.rank && size == other.size; }
};

std::optional<int> number_of(const EnvironmentLookup& environment, const std::string& name) {
  const auto text = name.empty() ? std::nullopt : environment(name);
  if (!text)
    return std::nullopt;
  const auto number = whole_number<std::uint64_t>(*text);
  if (!number || *number > INT32_MAX)
    throw UsageError(fmt::format("{}={} is not a number of ranks", name, *text), ranks_hint);
  return static_cast<int>(*number);
}

/// A job script, and a shell of salloc on a node, are steps with ids above all that srun gives.
bool started_by_srun(const EnvironmentLookup& environment) {
  constexpr std::uint64_t first_special_step = 0xfffffff0;
  const auto step = whole_number<std::uint64_t>(environment("SLURM_STEP_ID").value_or(""));
  return step && *step < first_special_step;
}

Claim claim_of(Launcher launcher, const EnvironmentLookup& environment) {
  const bool slurm = std::string_view(launcher.name) == "slurm";
  if (slurm && !started_by_srun(environment))
    return {.launcher = launcher};
  if (slurm && !environment(launcher.size))
    launcher.size = "SLURM_NTASKS";
  Claim claim{launcher, number_of(environment, launcher.rank),
              number_of(environment, launcher.size), number_of(environment, launcher.local_rank),
              number_of(environment, launcher.local_size)};
  if (slurm)
    claim.local_size = tasks_on_node(environment("SLURM_STEP_TASKS_PER_NODE").value_or(""),
                                     number_of(environment, "SLURM_NODEID").value_or(0));
  return claim;
}

[[noreturn]] void refuse(const std::string& message) {
  throw UsageError(message, ranks_hint);
}

void check(const Claim& claim) {
  const Launcher& names = claim.launcher;
  if (*claim.rank >= *claim.size)
    refuse(fmt::format("{}={} and {}={} contradict each other", names.rank, *claim.rank, names.size,
                       *claim.size));
  if (claim.local_rank && claim.local_size && *claim.local_rank >= *claim.local_size)
    refuse(fmt::format("{}={} is not below the number of ranks of this node, {}", names.local_rank,
                       *claim.local_rank, *claim.local_size));
  if (claim.local_size && *claim.local_size > *claim.size)
    refuse(fmt::format("{} ranks on this node, but {}={}", *claim.local_size, names.size,
                       *claim.size));
}

/// An incomplete claim that would have counted before the one that does must not say otherwise: a
/// script that exports WORLD_SIZE means it.
void check_incomplete(const Claim& incomplete, const Claim& taken) {
  const auto differ = [](std::optional<int> said, std::optional<int> is) {
    return said && said != is;
  };
  if (differ(incomplete.rank, taken.rank))
    refuse(fmt::format("{}={} and {}={} contradict each other", incomplete.launcher.rank,
                       *incomplete.rank, taken.launcher.rank, *taken.rank));
  if (differ(incomplete.size, taken.size))
    refuse(fmt::format("{}={} and {}={} contradict each other", incomplete.launcher.size,
                       *incomplete.size, taken.launcher.size, *taken.size));
}

/// The claim that counts, completed by later ones; empty if there is none.
std::optional<Claim> choose(const std::vector<Claim>& claims) {
  std::optional<Claim> taken;
  for (const Claim& claim : claims) {
    if (!claim.complete())
      continue;
    if (!taken) {
      check(claim);
      taken = claim;
    } else if (claim.agrees_with(*taken)) {
      taken->local_rank = taken->local_rank ? taken->local_rank : claim.local_rank;
      taken->local_size = taken->local_size ? taken->local_size : claim.local_size;
    }
  }
  for (const Claim& claim : claims) {
    if (claim.complete())
      return taken;
    if (taken)
      check_incomplete(claim, *taken);
    else if (claim.rank || claim.size)
      refuse(fmt::format(
          "{} is set, but {}", claim.rank ? claim.launcher.rank : claim.launcher.size,
          *claim.launcher.size
              ? fmt::format("{} is not", claim.rank ? claim.launcher.size : claim.launcher.rank)
              : "nothing says how many ranks there are"));
  }
  return taken;
}

/// Sets the name of this program run. Returns what the port is made from, if anything is.
std::optional<std::uint64_t> name_program(Ranks& ranks, const EnvironmentLookup& environment,
                                          bool is_srun_step) {
  ranks.program = ranks.launcher;
  const auto job = environment("SLURM_JOB_ID");
  const auto job_number = whole_number<std::uint64_t>(job.value_or(""));
  const auto space = environment("PMIX_NAMESPACE");
  if (ranks.launcher == "torchrun") {
    ranks.program += "-" + environment("TORCHELASTIC_RUN_ID").value_or("") + "-" +
                     environment("TORCHELASTIC_RESTART_COUNT").value_or("");
    if (!job_number)
      return std::nullopt;
  }
  if (is_srun_step && job_number) {
    const auto step =
        whole_number<std::uint64_t>(environment("SLURM_STEP_ID").value_or("")).value_or(0);
    ranks.program += fmt::format("-{}.{}", *job_number, step);
    return *job_number + 101 * step;
  }
  if (ranks.launcher == "openmpi" && space) {
    ranks.program += "-" + *space;
    return hash_of(*space);
  }
  if (job_number)
    ranks.program += "-" + *job;
  return job_number;
}

std::string master_address(const Ranks& ranks, const EnvironmentLookup& environment,
                           bool is_srun_step) {
  if (const auto given = environment("MASTER_ADDR"))
    return *given;
  if (ranks.on_one_node())
    return "127.0.0.1";
  const auto step = environment("SLURM_STEP_NODELIST");
  const auto job = environment("SLURM_JOB_NODELIST");
  const auto list = is_srun_step && step ? step : job;
  const std::string host = list ? first_host(*list) : "";
  if (host.empty())
    throw UsageError(fmt::format("{} ranks, but neither MASTER_ADDR nor SLURM_JOB_NODELIST says "
                                 "where rank 0 is",
                                 ranks.size),
                     "set MASTER_ADDR to the host name of rank 0, and MASTER_PORT");
  return host;
}

int master_port(const EnvironmentLookup& environment, std::optional<std::uint64_t> made_from) {
  constexpr std::uint64_t first = 20000;
  constexpr std::uint64_t count = 10000;
  const char* const hint = "set MASTER_PORT to a free port of the node of rank 0, 1024 to 65535";
  if (const auto given = environment("MASTER_PORT")) {
    const auto port = whole_number<std::uint64_t>(*given);
    if (!port || *port == 0 || *port > 65535)
      throw UsageError(fmt::format("MASTER_PORT={} is not a port", *given), hint);
    return static_cast<int>(*port);
  }
  if (!made_from)
    throw UsageError("several ranks, but neither MASTER_PORT nor a job id says where they meet",
                     hint);
  return static_cast<int>(first + *made_from % count);
}

}  // namespace

Ranks find_ranks(const EnvironmentLookup& environment) {
  const EnvironmentLookup lookup = [&](const std::string& name) {
    auto value = environment(name);
    return value && value->empty() ? std::nullopt : value;
  };
  std::vector<Claim> claims;
  for (const Launcher& launcher : launchers)
    claims.push_back(claim_of(launcher, lookup));
  Ranks ranks;
  const auto taken = choose(claims);
  if (!taken)
    return ranks;
  ranks.rank = *taken->rank;
  ranks.size = *taken->size;
  ranks.local_rank = taken->local_rank;
  ranks.local_size = taken->local_size;
  ranks.launcher = taken->launcher.name;
  if (ranks.size == 1)
    return ranks;
  const bool is_srun_step = std::ranges::any_of(claims, [&](const Claim& claim) {
    return std::string_view(claim.launcher.name) == "slurm" && claim.complete() &&
           claim.agrees_with(*taken);
  });
  const auto made_from = name_program(ranks, lookup, is_srun_step);
  ranks.master_address = master_address(ranks, lookup, is_srun_step);
  ranks.master_port = master_port(lookup, made_from);
  ranks.store_is_served =
      ranks.launcher == "torchrun" && lookup("TORCHELASTIC_USE_AGENT_STORE") == "True";
  return ranks;
}

Ranks find_ranks() {
  return find_ranks([](const std::string& name) {
    const char* const value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  });
}

std::string first_host(std::string_view hostlist) {
  std::string host;
  while (!hostlist.empty() && hostlist.front() != ',') {
    if (hostlist.front() != '[') {
      host += hostlist.front();
      hostlist.remove_prefix(1);
      continue;
    }
    // Of `[0001-0004,0010]` the first number; a list may have several brackets, as in r[1-2]n[3,5].
    const std::size_t close = hostlist.find(']');
    if (close == std::string_view::npos)
      return "";
    host += hostlist.substr(1, hostlist.find_first_of("-,]") - 1);
    hostlist.remove_prefix(close + 1);
  }
  return host;
}

std::optional<int> tasks_on_node(std::string_view tasks_per_node, int node) {
  while (!tasks_per_node.empty()) {
    const std::string_view part = tasks_per_node.substr(0, tasks_per_node.find(','));
    const std::size_t open = part.find("(x");
    const auto tasks = whole_number<std::uint64_t>(part.substr(0, open));
    std::optional<std::uint64_t> nodes = 1;
    if (open != std::string_view::npos)
      nodes = part.ends_with(')')
                  ? whole_number<std::uint64_t>(part.substr(open + 2, part.size() - open - 3))
                  : std::nullopt;
    if (!tasks || !nodes)
      return std::nullopt;
    if (static_cast<std::uint64_t>(node) < *nodes)
      return static_cast<int>(*tasks);
    node -= static_cast<int>(*nodes);
    tasks_per_node.remove_prefix(std::min(part.size() + 1, tasks_per_node.size()));
  }
  return std::nullopt;
}

std::string device_of_rank(const std::string& wanted, const Ranks& ranks, int gpus) {
  if (ranks.size == 1 || gpus == 0 || (wanted != "auto" && wanted != "cuda"))
    return wanted;
  if (gpus == 1)
    return "cuda:0";
  if (!ranks.local_rank)
    throw UsageError(
        fmt::format("{} GPUs, and nothing says which of them rank {} is to use", gpus, ranks.rank),
        "set LOCAL_RANK to the number of the rank on its node, or give --device cuda:N");
  if (*ranks.local_rank >= gpus)
    throw UsageError(fmt::format("rank {} has local rank {}, but its node shows {} GPUs",
                                 ranks.rank, *ranks.local_rank, gpus),
                     "start as many ranks per node as there are GPUs, or use --device cpu");
  return fmt::format("cuda:{}", *ranks.local_rank);
}

namespace {

using AddressList = std::unique_ptr<addrinfo, void (*)(addrinfo*)>;
using Interfaces = std::unique_ptr<ifaddrs, void (*)(ifaddrs*)>;

/// What `host`, a name or digits, is called in the network; empty if it has no address.
AddressList resolve(const std::string& host, int port, int type) {
  addrinfo wanted{};
  wanted.ai_socktype = type;
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0)
    found = nullptr;
  return {found, [](addrinfo* list) {
            if (list)
              ::freeaddrinfo(list);
          }};
}

std::string digits_of(const sockaddr* address) {
  std::array<char, NI_MAXHOST> text{};
  const socklen_t bytes =
      address->sa_family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  if (::getnameinfo(address, bytes, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
    return "";
  return text.data();
}

bool is_loopback(const std::string& digits) {
  return digits.starts_with("127.") || digits == "::1";
}

/// The first IPv4 address, else the first IPv6 address, of an interface that `fits`.
template <typename Fits>
std::string address_of_interface(const Fits& fits) {
  ifaddrs* found = nullptr;
  if (::getifaddrs(&found) != 0)
    return "";
  const Interfaces interfaces(found, &::freeifaddrs);
  for (const int family : {AF_INET, AF_INET6})
    for (const ifaddrs* one = found; one; one = one->ifa_next)
      if (one->ifa_addr && one->ifa_addr->sa_family == family && (one->ifa_flags & IFF_UP) &&
          fits(*one))
        return digits_of(one->ifa_addr);
  return "";
}

/// The address from which this machine would send to that one. Nothing is sent: a datagram socket
/// that connects only asks the routing table.
std::string address_towards(const Ranks& ranks) {
  const AddressList addresses = resolve(ranks.master_address, ranks.master_port, SOCK_DGRAM);
  for (const addrinfo* one = addresses.get(); one; one = one->ai_next) {
    const Descriptor socket(::socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    sockaddr_storage own{};
    socklen_t bytes = sizeof own;
    auto* const address = reinterpret_cast<sockaddr*>(&own);
    if (::connect(socket.get(), one->ai_addr, one->ai_addrlen) == 0 &&
        ::getsockname(socket.get(), address, &bytes) == 0)
      return digits_of(address);
  }
  throw UsageError(fmt::format("no way to rank 0: {} has no address here", ranks.master_address),
                   "set MASTER_ADDR to a host name or address that all nodes can reach");
}

/// Whether somebody listens there; also no if nothing is heard within `patience`.
bool is_listening(const std::string& address, int port, std::chrono::milliseconds patience) {
  const AddressList there = resolve(address, port, SOCK_STREAM);
  if (!there)
    return false;
  const Descriptor socket(
      ::socket(there->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (::connect(socket.get(), there->ai_addr, there->ai_addrlen) == 0)
    return true;
  if (errno != EINPROGRESS)
    return false;
  pollfd waited{.fd = socket.get(), .events = POLLOUT, .revents = 0};
  int error = 0;
  socklen_t bytes = sizeof error;
  return ::poll(&waited, 1, static_cast<int>(patience.count())) == 1 &&
         ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 && error == 0;
}

using std::chrono::milliseconds;

constexpr milliseconds answer_patience(1000);
constexpr milliseconds end_patience(500);
constexpr milliseconds look_interval(100);

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || !name[0])
    return "?";
  return name.data();
}

std::string own_address(const Ranks& ranks) {
  if (ranks.on_one_node())
    return "127.0.0.1";
  if (const char* const wanted = std::getenv("GLOO_SOCKET_IFNAME"); wanted && *wanted) {
    const std::string name(wanted, std::strcspn(wanted, ","));
    const std::string address =
        address_of_interface([&](const ifaddrs& one) { return one.ifa_name == name; });
    if (address.empty())
      throw UsageError(fmt::format("GLOO_SOCKET_IFNAME={}, but there is no such interface with an "
                                   "address",
                                   wanted),
                       "`ip address` lists the interfaces of a node");
    return address;
  }
  std::string address = address_towards(ranks);
  // The node of rank 0 may find its own name at loopback, where the others cannot reach it; who
  // gives loopback as the master's address means this machine alone.
  const bool meant = ranks.master_address == "localhost" || is_loopback(ranks.master_address);
  if (!is_loopback(address) || meant)
    return address;
  const std::string other =
      address_of_interface([](const ifaddrs& one) { return (one.ifa_flags & IFF_LOOPBACK) == 0; });
  return other.empty() ? address : other;
}

Beacon::Beacon(const std::string& address) {
  const AddressList own = resolve(address, 0, SOCK_STREAM);
  if (own)
    socket_ = Descriptor(::socket(own->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_storage bound{};
  socklen_t bytes = sizeof bound;
  if (!own || ::bind(socket_.get(), own->ai_addr, own->ai_addrlen) != 0 ||
      ::listen(socket_.get(), SOMAXCONN) != 0 ||
      ::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&bound), &bytes) != 0)
    throw std::runtime_error(fmt::format("cannot listen at {}", address));
  port_ = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                            : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
}

std::string list_gone(const std::vector<Peer>& peers) {
  std::string gone;
  for (const Peer& peer : peers)
    if (!is_listening(peer.address, peer.beacon_port, answer_patience))
      gone += fmt::format("{}rank {} (process {} on {})", gone.empty() ? "" : ", ", peer.rank,
                          peer.process, peer.host);
  return gone;
}

Peer introduce(int rank, const std::string& address, int beacon_port) {
  return {rank, host_name(), static_cast<int>(::getpid()), address, beacon_port};
}

std::string to_line(const Peer& peer) {
  return fmt::format("{} {} {} {} {}", peer.rank, peer.host, peer.process, peer.address,
                     peer.beacon_port);
}

std::vector<Peer> parse_peers(const std::string& lines) {
  std::vector<Peer> peers;
  std::istringstream in(lines);
  for (Peer peer; in >> peer.rank >> peer.host >> peer.process >> peer.address >> peer.beacon_port;)
    peers.push_back(peer);
  return peers;
}

std::string describe_losses(const std::vector<Peer>& peers) {
  for (milliseconds waited(0); waited <= end_patience; waited += look_interval) {
    if (const std::string gone = list_gone(peers); !gone.empty())
      return fmt::format("gone: {}; the output of the first one says why", gone);
    std::this_thread::sleep_for(look_interval);
  }
  return "all ranks still run; one of them may hang, or need longer than --rank-timeout";
}

}  // namespace bench::steps
