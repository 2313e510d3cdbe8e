#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Packed bodies of all peers of a server, unpacked one after the other on a thread of their own, so that sockets and
// timers of the others go on meanwhile; the smallest first, so that large ones, however many, hold up no small one. The
// next one begins when the result of the last was given: what nobody counts yet is one unpacked body. Loop's thread
// alone.

#include "core/live/net/loop_internal.h"
#include "core/live/net/unpack.h"

#include <boost/asio/thread_pool.hpp>

#include <deque>
#include <functional>
#include <optional>

namespace trainyard::live::net {

class BodyUnpacker {
public:
    explicit BodyUnpacker(Loop &loop);
    /// waits for the body that is being unpacked, some 0.1 s; results of the others do not come
    ~BodyUnpacker();
    BodyUnpacker(const BodyUnpacker &) = delete;
    BodyUnpacker &operator=(const BodyUnpacker &) = delete;

    using Done = std::function<void(Expected<std::string>)>;
    /// As unpack(); `done` is called later, on the loop's thread. Errors: of unpack(); Internal where there is no
    /// memory.
    void unpack(std::string packed, std::string encoding, const UnpackLimits &limits, Done done);

private:
    struct Job {
        std::string packed, encoding;
        UnpackLimits limits;
        Done done;
        /// see body_order.h
        int passed = 0;
        [[nodiscard]] std::size_t size() const { return packed.size(); }
    };
    void next();

    std::function<void(std::function<void()>)> m_post;
    /// begun with the first body
    std::optional<asio::thread_pool> m_thread;
    std::deque<Job> m_jobs;
    bool m_isBusy = false;
    std::shared_ptr<int> m_alive = std::make_shared<int>(0);
};

} // namespace trainyard::live::net
