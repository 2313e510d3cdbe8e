#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the files of this folder share of Boost.Asio: the io_context of the loop's thread. Every file that includes a
// header of Boost includes this one first: the libraries are compiled once, in loop.cpp.

#define BOOST_ASIO_SEPARATE_COMPILATION
#define BOOST_BEAST_SEPARATE_COMPILATION
#define BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING // g++ 12 takes its operator new for a mismatch; frames are few
#ifdef __SANITIZE_THREAD__
#define BOOST_ASIO_DISABLE_FENCED_BLOCK // the thread sanitizer does not know fences; locks order everything here
#endif
#include <chrono>
#include <utility> // Boost 1.74 uses std::exchange of it without including it

#include "core/base/error.h"
#include "core/live/net/loop.h"

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace trainyard::live::net {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using Tcp = asio::ip::tcp;
using ErrorCodeOfSystem = boost::system::error_code;

/// The way to the loop from threads that may outlive it.
struct LoopGate {
    std::mutex mutex;
    /// none: the loop has ended
    asio::io_context *io = nullptr;
    void post(std::function<void()> work);
};

/// `done` is called on the loop's thread, or never where the loop ends before.
using Resolved = std::function<void(Expected<std::vector<Tcp::endpoint>>)>;

struct Loop::Private {
    asio::io_context io { 1 };
    asio::executor_work_guard<asio::io_context::executor_type> stays { io.get_executor() };
    std::shared_ptr<LoopGate> gate = std::make_shared<LoopGate>();
    std::thread thread;
    /// under way: what they hold ends with the loop, not with their thread
    std::map<std::uint64_t, Resolved> lookUps;
    std::uint64_t lookUpsBegun = 0;
};

/// Addresses of a host, at once where it is written in figures; else on a thread of its own, which nobody waits for
/// (a resolver of Asio would hold the end of the loop up). Loop's thread alone. Errors: CannotRead with why.
void resolve(Loop &loop, const std::string &host, std::uint16_t port, Resolved done);

/// "connection refused": a fault of the system or of Asio as the middle of a sentence.
[[nodiscard]] std::string reasonOf(const ErrorCodeOfSystem &fault);
/// "10.0.0.7:51724", "[::1]:80"
[[nodiscard]] std::string textOf(const Tcp::endpoint &endpoint);
[[nodiscard]] std::string hostAndPort(const std::string &host, std::uint16_t port);

} // namespace trainyard::live::net
