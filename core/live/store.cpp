// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/store.h"

#include "core/live/store/moments.h"
#include "core/live/store/series_store.h"
#include "core/live/store/snapshot_maker.h"
#include "core/live/store/source_book.h"
#include "core/live/store/span_store.h"

#include <algorithm>
#include <mutex>

namespace trainyard::live {

namespace {

constexpr std::size_t kMostReasons = 64; // that are told apart

constexpr Moment kMostZero = (std::int64_t(1) << 61) - 1; // so that any moment of before is near enough (recordings)

std::string grouped(std::size_t number)
{
    std::string digits = std::to_string(number);
    for (std::size_t at = digits.size(); at > 3; at -= 3)
        digits.insert(at - 3, ",");
    return digits;
}

/// The first moment of a batch as Unix time, for the zero of all snapshots.
std::optional<Moment> firstUnixMoment(const Recording &part)
{
    for (const RankRecording &rank : part.ranks) {
        for (const RecordedStep &step : rank.steps)
            return unixOf(part.zero, step.start);
        for (const RecordedStream &stream : rank.streams)
            if (!stream.spans.start.empty())
                return unixOf(part.zero, stream.spans.start.front());
        for (const RecordedCollective &one : rank.collectives)
            return unixOf(part.zero, one.start);
    }
    for (const SampleSeries &series : part.series)
        if (!series.isByStep && !series.at.empty())
            return unixOf(part.zero, series.at.front());
    return std::nullopt;
}

} // namespace

struct Store::Private {
    explicit Private(const StoreLimits &asked)
        : limits(asked)
        , spans(asked)
        , series(asked)
    {
    }

    void add(const SpanStore::Sums &sums)
    {
        counts.events += sums.events;
        counts.duplicates += sums.duplicates;
        counts.aged += sums.aged;
        drop("more than " + grouped(limits.ranks) + " ranks", sums.manyRanks);
        drop("more streams than are kept", sums.manyStreams);
        drop("of steps that were let go before", sums.late);
        drop("at times that cannot be", sums.timeless);
    }

    void drop(std::string reason, std::int64_t count)
    {
        if (count == 0)
            return;
        const auto known = std::ranges::find(counts.dropped, reason, &Dropped::reason);
        if (known != counts.dropped.end())
            known->count += count;
        else
            counts.dropped.push_back({ std::move(reason), count });
    }

    void leaveOut(const Recording &part)
    {
        for (const RecordedSource &source : part.sources)
            for (const Dropped &dropped : source.dropped) {
                const auto known = std::ranges::find(counts.unread, dropped.reason, &Dropped::reason);
                if (known != counts.unread.end())
                    known->count += dropped.count;
                else if (counts.unread.size() < kMostReasons)
                    counts.unread.push_back(dropped);
            }
    }

    void settle()
    {
        SpanStore::Sums sums;
        spans.settle(sums);
        add(sums);
        counts.thinned = series.thinned();
    }

    Recording recording(const SnapshotAsked &asked)
    {
        Recording made;
        made.zero = zero;
        sources.writeTo(made);
        writeRanks(spans, asked, made);
        series.writeTo(made, asked.points);
        addStepTimes(spans, made);
        return made;
    }

    const StoreLimits limits;
    mutable std::mutex mutex;
    SpanStore spans;
    SeriesStore series;
    SourceBook sources;
    StoreCounts counts;
    Moment zero = 0, revision = 0;
};

Store::Store(const StoreLimits &limits)
    : d(std::make_unique<Private>(limits))
{
}

Store::~Store() = default;

void Store::take(Batch &&batch)
{
    const std::scoped_lock lock(d->mutex);
    ++d->revision;
    if (d->zero == 0)
        if (const auto first = firstUnixMoment(batch.part))
            d->zero = std::clamp<Moment>(*first, 1, kMostZero);
    d->leaveOut(batch.part);
    const std::uint32_t source = d->sources.take(batch);
    SpanStore::Sums spans;
    d->spans.take(batch, source, spans, [&](std::string sentence) { d->sources.note(source, std::move(sentence)); });
    d->add(spans);
    SeriesStore::Sums samples;
    d->series.take(batch, source, samples);
    d->counts.events += samples.events;
    d->counts.duplicates += samples.duplicates;
    d->drop("more than " + grouped(d->limits.series) + " series", samples.tooMany);
    d->drop("later than " + grouped(std::size_t(d->limits.reorder / 1'000'000'000)) + " s", samples.late);
    d->drop("at times that cannot be", samples.timeless);
}

std::optional<Snapshot> Store::snapshot(const SnapshotAsked &asked) const
{
    const std::scoped_lock lock(d->mutex);
    if (d->revision == 0 || d->revision == asked.lastKnown)
        return std::nullopt;
    d->settle();
    Snapshot made;
    made.recording = std::make_shared<const Recording>(d->recording(asked));
    made.counts = d->counts;
    made.ranks = livesOf(d->spans);
    std::tie(made.firstStep, made.lastStep) = heldSteps(d->spans);
    made.latest = std::max(d->spans.latest(), d->series.latest());
    made.revision = d->revision;
    return made;
}

Recording Store::whole() const
{
    const std::scoped_lock lock(d->mutex);
    d->settle();
    return d->recording(
        { .steps = std::numeric_limits<int>::max(), .points = std::numeric_limits<std::size_t>::max() });
}

StoreCounts Store::counts() const
{
    const std::scoped_lock lock(d->mutex);
    d->settle();
    return d->counts;
}

std::size_t Store::bytes() const
{
    const std::scoped_lock lock(d->mutex);
    return d->spans.bytes() + d->series.bytes() + d->sources.bytes();
}

void Store::clear()
{
    const StoreLimits limits = d->limits;
    const std::scoped_lock lock(d->mutex);
    d->spans = SpanStore(limits);
    d->series = SeriesStore(limits);
    d->sources = {};
    d->counts = {};
    d->zero = 0;
    ++d->revision;
}

} // namespace trainyard::live
