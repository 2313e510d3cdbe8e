// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/session.h"

#include "core/live/feed.h"
#include "core/live/sources/sources.h"
#include "core/live/step_numbers.h"

#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

namespace trainyard::live {

namespace {

constexpr double kBetweenChanges = 0.01; // s
constexpr double kBetweenLooks = 1; // s, for sources that have gone silent

std::int64_t steadyNanoseconds()
{
    using namespace std::chrono;
    return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

SourcePtr makeSource(net::Loop &loop, SourceSink &sink, const Address &address, const SourceSettings &settings)
{
    switch (address.type) {
    case SourceType::Prometheus:
        return makePrometheus(loop, sink, address, settings);
    case SourceType::Listener:
        return makeListener(loop, sink, address, settings);
    case SourceType::Stream:
    case SourceType::WebSocket:
        return makeStreamReader(loop, sink, address, settings);
    case SourceType::Tail:
        return makeTail(loop, sink, address, settings);
    case SourceType::Command:
        return makeCommand(loop, sink, address, settings);
    case SourceType::Replay:
        break;
    }
    return makeReplay(loop, sink, address, settings);
}

} // namespace

struct Session::Private {
    using FeedPtr = std::shared_ptr<Feed>;

    explicit Private(SessionOptions own)
        : options(std::move(own))
        , store(options.store)
        , queue(options.queueBytes)
    {
        if (!options.make)
            options.make = makeSource;
        if (!options.steadyNow)
            options.steadyNow = steadyNanoseconds;
        loop.call([this] {
            changes = std::make_unique<net::Timer>(loop);
            looks = std::make_unique<net::Timer>(loop);
            if (options.changed)
                look();
        });
        reader = std::thread([this] { read(); });
    }

    ~Private()
    {
        loop.call([this] {
            for (const FeedPtr &feed : known())
                feed->source.reset();
            changes.reset();
            looks.reset();
        });
        queue.stop();
        reader.join();
    }

    void read()
    {
        while (auto work = queue.pop()) {
            const std::uint32_t number = work->source;
            const std::size_t size = work->size;
            const bool isLast = work->kind == Work::Kind::AllClosed;
            if (const FeedPtr feed = feedOf(number))
                feed->read(std::move(*work), [this](Batch &&batch) { keep(std::move(batch)); });
            work.reset();
            if (isLast)
                forget(number);
            queue.done(number, size);
        }
    }

    void keep(Batch &&batch)
    {
        {
            const std::lock_guard lock(mutex);
            steps.take(batch.part);
        }
        store.take(std::move(batch));
    }

    [[nodiscard]] FeedPtr feedOf(std::uint32_t number) const
    {
        const std::lock_guard lock(mutex);
        const auto known = feeds.find(number);
        return known != feeds.end() ? known->second : nullptr;
    }

    [[nodiscard]] std::vector<FeedPtr> known() const
    {
        const std::lock_guard lock(mutex);
        std::vector<FeedPtr> all;
        for (const auto &[number, feed] : feeds)
            all.push_back(feed);
        return all;
    }

    /// Of a source that was removed and whose last bytes are decoded; what it lost stays known.
    void forget(std::uint32_t number)
    {
        const std::lock_guard lock(mutex);
        const auto known = feeds.find(number);
        if (known == feeds.end())
            return;
        if (RecordedSource lost = known->second->lost(); !lost.dropped.empty())
            gone.push_back(std::move(lost));
        feeds.erase(known);
    }

    /// On the network thread, where its source still lives.
    void post(const FeedPtr &feed, std::function<void(Source &)> work)
    {
        loop.post([feed, work = std::move(work)] {
            if (feed->source)
                work(*feed->source);
        });
    }

    /// Tells that something changed, soon and not too often.
    void touch()
    {
        if (!options.changed || isTouched.exchange(true))
            return;
        loop.post([this] {
            if (!changes)
                return;
            const double passed = static_cast<double>(steadyNanoseconds() - toldAt) * 1e-9;
            changes->start(std::max(0.0, kBetweenChanges - passed), [this] {
                isTouched = false;
                toldAt = steadyNanoseconds();
                options.changed();
            });
        });
    }

    /// Silence makes a source stale without anybody telling.
    void look()
    {
        std::vector<SourceState> now;
        for (const FeedPtr &feed : known())
            now.push_back(feed->shown().state);
        if (now != seen)
            touch();
        seen = std::move(now);
        looks->start(kBetweenLooks, [this] { look(); });
    }

    SessionOptions options;
    Store store;
    WorkQueue queue;
    mutable std::mutex mutex; // of the next four
    std::map<std::uint32_t, FeedPtr> feeds;
    std::vector<RecordedSource> gone; // what sources lost that were removed
    std::uint32_t last = 0;
    StepNumbers steps;
    std::atomic<bool> isTouched = false;
    std::vector<SourceState> seen; // network thread, as are the next three
    std::int64_t toldAt = 0;
    std::unique_ptr<net::Timer> changes, looks;
    std::thread reader;
    net::Loop loop; // its thread ends first
};

Session::Session(SessionOptions options)
    : d(std::make_unique<Private>(std::move(options)))
{
}

Session::~Session() = default;

Expected<std::uint32_t> Session::add(const Address &address, const SourceSettings &settings)
{
    if (auto checked = checkSettings(address, settings); !checked)
        return std::unexpected(checked.error());
    Private *const own = d.get();
    Private::FeedPtr feed;
    {
        const std::lock_guard lock(d->mutex);
        feed = std::make_shared<Feed>(++d->last, address, settings,
            Feed::Surroundings { d->queue, [own] { own->touch(); }, d->options.steadyNow });
        feed->toSource = [own, weak = std::weak_ptr(feed)](std::function<void(Source &)> work) {
            if (const auto known = weak.lock())
                own->post(known, std::move(work));
        };
        d->feeds.emplace(feed->number(), feed);
    }
    d->loop.post([own, feed] {
        feed->source = own->options.make(own->loop, *feed, feed->address(), feed->settings());
        feed->source->start();
    });
    d->touch();
    return feed->number();
}

void Session::remove(std::uint32_t source)
{
    const auto feed = d->feedOf(source);
    if (!feed)
        return;
    feed->isRemoved = true;
    Private *const own = d.get();
    d->loop.post([own, feed] {
        feed->source.reset();
        Work work;
        work.kind = Work::Kind::AllClosed;
        work.source = feed->number();
        work.received = unixNow();
        own->queue.pushMark(std::move(work));
    });
    d->touch();
}

void Session::setPaused(std::uint32_t source, bool isPaused)
{
    if (const auto feed = d->feedOf(source))
        d->post(feed, [isPaused](Source &own) { own.setPaused(isPaused); });
}

void Session::retryNow(std::uint32_t source)
{
    if (const auto feed = d->feedOf(source))
        d->post(feed, [](Source &own) { own.retryNow(); });
}

std::vector<std::pair<std::uint32_t, SourceStatus>> Session::statuses() const
{
    std::vector<std::pair<std::uint32_t, SourceStatus>> result;
    for (const auto &feed : d->known())
        if (!feed->isRemoved)
            result.emplace_back(feed->number(), feed->shown());
    return result;
}

std::int64_t Session::stepsTold() const
{
    const std::lock_guard lock(d->mutex);
    return d->steps.count();
}

std::optional<Snapshot> Session::snapshot(const SnapshotAsked &asked) const
{
    return d->store.snapshot(asked);
}

Recording Session::whole() const
{
    Recording recording = d->store.whole();
    for (const auto &feed : d->known())
        if (RecordedSource lost = feed->lost(); !lost.dropped.empty())
            recording.sources.push_back(std::move(lost));
    const std::lock_guard lock(d->mutex);
    recording.sources.insert(recording.sources.end(), d->gone.begin(), d->gone.end());
    return recording;
}

Store &Session::store()
{
    return d->store;
}

void Session::drain()
{
    if (!d->loop.isOnThread())
        d->loop.call([] {});
    d->queue.drain();
}

} // namespace trainyard::live
