#include "harness/rendezvous.hpp"

#include "harness/peers.hpp"
#include "harness/ranks.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <vector>

#if defined(BENCH_STEPS_GLOO) || defined(BENCH_STEPS_NCCL)

#include "harness/communicator.hpp"
#include "harness/program.hpp"

#include <algorithm>
#include <future>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <utility>

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace bench::steps {
namespace {

/// What an answer may take where the question was not too late.
constexpr std::chrono::seconds until_answered(5);

std::vector<std::uint8_t> bytes_of_text(const std::string& text) {
  return {text.begin(), text.end()};
}

std::string text_of(const std::vector<std::uint8_t>& bytes) {
  return {bytes.begin(), bytes.end()};
}

std::string name_of(int rank) {
  return fmt::format("rank/{}", rank);
}

std::string failure_of(int rank) {
  return fmt::format("failure/{}", rank);
}

/// What the first line is in which two texts differ, of `theirs` and of `ours`.
std::pair<std::string, std::string> first_difference(const std::string& theirs,
                                                     const std::string& ours) {
  std::istringstream theirs_in(theirs);
  std::istringstream ours_in(ours);
  std::string their_line;
  std::string our_line;
  do {
    their_line.clear();
    our_line.clear();
    std::getline(theirs_in, their_line);
    std::getline(ours_in, our_line);
  } while (their_line == our_line && (theirs_in || ours_in));
  return {their_line, our_line};
}

/// What all ranks told, one line each; or, after `missing`, the numbers of those that did not come;
/// or, after `differs`, which of them has not the same lines in common.
std::string gather_peers(const Store& store, int size, const std::string& in_common,
                         std::chrono::milliseconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  std::string lines;
  std::string differs;
  for (int rank = 0; rank < size; ++rank) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    try {
      // Nought would mean without end.
      store->wait({name_of(rank)}, std::max(left, std::chrono::milliseconds(1)));
    } catch (const std::exception&) {
      std::string missing = "missing";
      for (; rank < size; ++rank)
        if (!store->check({name_of(rank)}))
          missing += fmt::format(" {}", rank);
      return missing;
    }
    const std::string told = text_of(store->get(name_of(rank)));
    const std::size_t end = told.find('\n') + 1;
    lines += told.substr(0, end);
    if (const std::string theirs = told.substr(end); theirs != in_common && differs.empty()) {
      const auto [their_line, our_line] = first_difference(theirs, in_common);
      differs = fmt::format("differs rank {} was started with {}, rank 0 with {}", rank, their_line,
                            our_line);
    }
  }
  return differs.empty() ? lines : differs;
}

/// Tells rank 0 of this rank, and takes from it the list of all. One list instead of everybody
/// asking for everybody keeps the number of messages linear. What is not a list begins with
/// `missing` or `differs`, or is `twice`.
std::string exchange(const Store& store, const Ranks& ranks, const Peer& self,
                     const std::string& in_common, std::chrono::milliseconds patience) {
  // The first question is one with a timeout: another service at this port may never answer.
  if (ranks.rank == 0)
    store->set("open", bytes_of_text("yes"));
  store->wait({"open"}, patience);
  if (store->add(fmt::format("count/{}", ranks.rank), 1) > 1)
    return "twice";
  store->set(name_of(self.rank), bytes_of_text(to_line(self) + "\n" + in_common));
  if (ranks.rank != 0) {
    store->wait({"list"}, patience + until_answered);
    return text_of(store->get("list"));
  }
  std::string list = gather_peers(store, ranks.size, in_common, patience);
  store->set("list", bytes_of_text(list));
  if (list.starts_with("missing") ||
      list.starts_with("differs"))  // the others read why before the store ends with this rank
    std::this_thread::sleep_for(std::chrono::seconds(1));
  return list;
}

std::string in_seconds(std::chrono::milliseconds time) {
  return fmt::format("{:g} s", static_cast<double>(time.count()) / 1000);
}

/// From 2.4 on LibTorch asks for libuv unless told otherwise, and one that was built without it, as
/// Debian 13's, refuses then. What listens without it is understood by all of them.
template <class Options>
void ask_for_no_libuv(Options& options) {
  if constexpr (requires { options.useLibUV; })
    options.useLibUV = false;
}

/// In LibTorch 2.6, not in 1.13, a store asks a question while it connects, and waits without end
/// for another service at this port to answer.
/// @throws std::exception if it cannot connect, or hears nothing in time
c10::intrusive_ptr<c10d::TCPStore> connect(const std::string& address,
                                           const c10d::TCPStoreOptions& options) {
  std::packaged_task<c10::intrusive_ptr<c10d::TCPStore>()> connecting(
      [address, options] { return c10::make_intrusive<c10d::TCPStore>(address, options); });
  auto connected = connecting.get_future();
  std::thread(std::move(connecting)).detach();
  if (connected.wait_for(options.timeout + until_answered) == std::future_status::timeout)
    throw std::runtime_error("what listens there does not answer");
  return connected.get();
}

}  // namespace

Store open_store(const Ranks& ranks, std::chrono::milliseconds patience) {
  c10d::TCPStoreOptions options;
  options.port = static_cast<std::uint16_t>(ranks.master_port);
  options.isServer = ranks.rank == 0 && !ranks.store_is_served;
  options.waitWorkers = false;  // strangers who come to this port would be counted
  options.timeout = patience;
  ask_for_no_libuv(options);
  try {
    return c10::make_intrusive<c10d::PrefixStore>(ranks.program,
                                                  connect(ranks.master_address, options));
  } catch (const std::exception& error) {
    if (options.isServer)
      throw UsageError(
          fmt::format("rank 0 cannot listen on port {}: {}", options.port, first_line(error)),
          "another program may have it: set MASTER_PORT to a free port");
    throw CommunicationError(fmt::format(
        "rank {} did not reach rank 0 at {}:{} within {}: {}; see whether rank 0 has "
        "started, and whether that name means its node",
        ranks.rank, ranks.master_address, options.port, in_seconds(patience), first_line(error)));
  }
}

std::vector<Peer> meet(const Store& store, const Ranks& ranks, const Peer& self,
                       const std::string& in_common, std::chrono::milliseconds patience) {
  std::string list;
  try {
    list = exchange(store, ranks, self, in_common, patience);
  } catch (const std::exception& error) {
    throw CommunicationError(
        fmt::format("rank {} lost rank 0 while the ranks met: {}", ranks.rank, first_line(error)));
  }
  if (list == "twice")
    throw UsageError(fmt::format("rank {} is there twice at {}:{}", ranks.rank,
                                 ranks.master_address, ranks.master_port),
                     "two programs may meet at one port: set MASTER_PORT to another for one");
  if (list.starts_with("missing"))
    throw CommunicationError(
        fmt::format("of {} ranks these did not come within {}:{}; see what "
                    "they wrote, and whether all were started",
                    ranks.size, in_seconds(patience), list.substr(7)));
  if (list.starts_with("differs"))
    throw UsageError(
        list.substr(std::string_view("differs ").size()),
        "give all ranks the same options, but for those of devices, threads and files");
  return parse_peers(list);
}

void tell_failure(const Store& store, int rank, const std::string& reason) noexcept {
  try {
    store->set(failure_of(rank), bytes_of_text(reason));
  } catch (const std::exception&) {
    return;  // rank 0 is gone too, and nobody is there to hear it
  }
}

std::string told_failures(const Store& store, const std::vector<Peer>& peers) {
  std::string all;
  try {
    for (const Peer& peer : peers)
      if (store->check({failure_of(peer.rank)}))
        all += fmt::format("; rank {} failed: {}", peer.rank,
                           text_of(store->get(failure_of(peer.rank))));
  } catch (const std::exception&) {
    return all;
  }
  return all;
}

}  // namespace bench::steps

#endif
