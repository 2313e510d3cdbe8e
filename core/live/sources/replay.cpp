// SPDX-License-Identifier: GPL-3.0-or-later
// A recording (or any file of a run that is read) as if it happened now: its moments are moved so that it begins when
// it is begun, its pauses are kept, at any speed. Durations stay as they are: at ten times the speed the sender's clock
// runs ten times as fast.
#include "core/live/recording_slices.h"
#include "core/live/sources/sources.h"
#include "core/live/sources/worker.h"

#include "core/runs/telemetry/read_sources.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace trainyard::live {

namespace {

constexpr std::size_t kMostEvents = 20'000; // of a batch
constexpr std::size_t kBytesOfEvent = 64; // about
constexpr std::chrono::milliseconds kBetweenBatches(40), kLongestWait(1'000);
constexpr Moment kBetweenRepeats = 1'000'000; // ns

class Replay final : public Worker {
public:
    Replay(SourceSink &sink, const Address &address, const SourceSettings &settings)
        : Worker(sink, address)
        , m_speed(settings.replaySpeed)
        , m_isRepeated(settings.isRepeated)
    {
    }

private:
    using Clock = std::chrono::steady_clock;

    void run() override
    {
        do {
            static_cast<void>(takeRetry());
            become(SourceState::Connecting, "it is read");
            if (auto recording = readAll()) {
                play(*recording);
                if (!stopToken().stop_requested())
                    become(SourceState::Ended, "it was told to its end");
            }
        } while (waitForRetry());
    }
    [[nodiscard]] const char *pauseMeans() const override { return "it goes on where it was"; }

    bool waitForRetry()
    {
        while (wait(kLongestWait))
            if (takeRetry())
                return true;
        return false;
    }

    std::optional<Recording> readAll()
    {
        SourceOptions options;
        options.stop = stopToken();
        auto recording = readSource(path(), options);
        if (!recording) {
            become(SourceState::Refused, toString(recording.error()));
            return std::nullopt;
        }
        const bool isEmpty = recording->ranks.empty() && recording->series.empty();
        if (isEmpty && recording->sources.size() == 1 && !recording->sources.front().refused.empty()) {
            become(SourceState::Refused, path() + ": " + recording->sources.front().refused);
            return std::nullopt;
        }
        return std::move(*recording);
    }

    void play(const Recording &recording)
    {
        RecordingSlices slices(recording);
        Moment starts = unixNow(); // when its first moment is
        for (;;) {
            m_begun = Clock::now();
            while (!slices.isOver())
                if (!step(slices, starts))
                    return;
            starts += slices.end() - slices.begin() + kBetweenRepeats;
            if (!m_isRepeated || slices.count() == 0)
                return;
            slices.rewind();
        }
    }

    /// Tells what is due, or waits for it. False: it is stopped.
    bool step(RecordingSlices &slices, Moment starts)
    {
        if (isPaused()) {
            const auto since = Clock::now();
            if (!wait(kUntilRoom))
                return false;
            m_begun += Clock::now() - since; // its clock stood still
            return true;
        }
        Moment until = std::numeric_limits<Moment>::max();
        if (m_speed > 0) {
            const double passed = std::chrono::duration<double, std::nano>(Clock::now() - m_begun).count() * m_speed;
            until = passed < 9e18 ? slices.begin() + static_cast<Moment>(passed) : until;
            if (slices.isBegun() && slices.due() > until) {
                const double left = static_cast<double>(slices.due() - until) / m_speed * 1e-6;
                return wait(std::clamp(Milliseconds(static_cast<std::int64_t>(std::min(left, 1e6)) + 1),
                                kBetweenBatches, kLongestWait),
                    false);
            }
        }
        const std::size_t before = slices.done();
        Batch batch;
        batch.part = slices.next(until, kMostEvents);
        batch.part.zero = starts - slices.begin();
        return give(std::move(batch), (slices.done() - before + 1) * kBytesOfEvent);
    }

    bool give(Batch &&batch, std::size_t bytes)
    {
        const auto held = std::make_shared<Batch>(std::move(batch)); // functions can be copied
        for (;;) {
            bool isTaken = false;
            const auto decode = [held](Moment received) -> Expected<Batch> {
                held->received = received;
                return std::move(*held);
            };
            if (!withSink([&](SourceSink &sink) { isTaken = sink.whole(bytes, decode, {}); }))
                return false;
            if (isTaken) {
                become(SourceState::Live, "");
                return true;
            }
            if (!wait(kUntilRoom, false))
                return false;
        }
    }

    const double m_speed;
    const bool m_isRepeated;
    Clock::time_point m_begun;
};

} // namespace

SourcePtr makeReplay(net::Loop &, SourceSink &sink, const Address &address, const SourceSettings &settings)
{
    return sourceOf(std::make_shared<Replay>(sink, address, settings));
}

} // namespace trainyard::live
