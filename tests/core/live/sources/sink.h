#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A session of a test: takes what a source gives, writes it down, decodes on a thread of the test's, and is full when
// the test says so.

#include "core/live/net/loop.h"
#include "core/live/source.h"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace trainyard::live::testing {

class Sink final : public SourceSink {
public:
    bool bytes(std::uint64_t connection, std::string_view came, Moment received) override
    {
        const std::lock_guard lock(mutex);
        ++calls;
        changed.notify_all();
        if (isFull) {
            lost += std::int64_t(came.size());
            return false;
        }
        taken[connection] += came;
        latest = received;
        return true;
    }
    void opened(std::uint64_t connection, DecoderPtr decoder) override
    {
        const std::lock_guard lock(mutex);
        ++calls;
        decoders[connection] = std::move(decoder);
        changed.notify_all();
    }
    void closed(std::uint64_t connection) override
    {
        const std::lock_guard lock(mutex);
        ++calls;
        ended.push_back(connection);
        changed.notify_all();
    }
    bool whole(std::size_t size, std::function<Expected<Batch>(Moment received)> decode,
        std::function<void(const Error &)> failed) override
    {
        {
            const std::lock_guard lock(mutex);
            ++calls;
            wholeBytes += size;
            changed.notify_all();
            if (isFull)
                return false;
            if (isHeld) {
                held.push_back(decode);
                return true;
            }
        }
        Expected<Batch> batch = decode(unixNow());
        const std::lock_guard lock(mutex);
        if (batch)
            batches.push_back(std::move(*batch));
        else
            failed(batch.error());
        changed.notify_all();
        return true;
    }
    void status(const SourceStatus &status) override
    {
        const std::lock_guard lock(mutex);
        ++calls;
        if (states.empty() || states.back() != status.state)
            states.push_back(status.state);
        now = status;
        changed.notify_all();
    }

    template <class Condition> bool waitFor(Condition isSo)
    {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, std::chrono::seconds(30), isSo);
    }
    bool waitForState(SourceState state)
    {
        return waitFor([&] { return now.state == state; });
    }
    [[nodiscard]] SourceStatus shown()
    {
        const std::lock_guard lock(mutex);
        return now;
    }
    void fill(bool full)
    {
        const std::lock_guard lock(mutex);
        isFull = full;
    }

    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::uint64_t, std::string> taken;
    std::map<std::uint64_t, DecoderPtr> decoders;
    std::vector<std::uint64_t> ended;
    std::vector<Batch> batches;
    std::vector<std::function<Expected<Batch>(Moment received)>> held;
    std::vector<SourceState> states; // one behind the other
    SourceStatus now;
    Moment latest = 0;
    std::size_t wholeBytes = 0;
    std::int64_t lost = 0;
    int calls = 0;
    bool isFull = false, isHeld = false;
};

/// A source on a loop, as a session has it.
class Running {
public:
    template <class Make>
    Running(Make make, const Address &address, const SourceSettings &settings = {})
        : loop(std::make_unique<net::Loop>())
    {
        loop->call([&] {
            source = make(*loop, sink, address, settings);
            source->start();
        });
    }
    ~Running() { stop(); }
    Running(const Running &) = delete;
    Running &operator=(const Running &) = delete;
    void stop()
    {
        if (loop)
            loop->call([this] { source.reset(); });
        loop.reset();
    }
    void pause(bool isPaused)
    {
        loop->call([&] { source->setPaused(isPaused); });
    }

    Sink sink; // outlives both
    std::unique_ptr<net::Loop> loop;
    std::unique_ptr<Source> source;
};

} // namespace trainyard::live::testing
