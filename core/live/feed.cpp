// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/feed.h"

#include "core/base/units.h"
#include "core/base/words.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>

namespace trainyard::live {

namespace {

constexpr double kSilence = 30; // s
constexpr double kIntervals = 3;
constexpr double kLongestStep = 86'400; // s; longer ones are no steps

std::string lengthOf(double seconds)
{
    return seconds < 120 ? formatted("%.0f s", std::floor(seconds)) : formatted("%.0f min", std::floor(seconds / 60));
}

} // namespace

double silenceAllowed(const Address &address, double longestStep)
{
    // It asks at a pace of its own, and tells by the age of samples whether they are stale.
    if (address.type == SourceType::Prometheus)
        return std::numeric_limits<double>::infinity();
    return std::max(kSilence, kIntervals * longestStep);
}

void StepLengths::take(const Recording &part)
{
    double longest = 0;
    for (const RankRecording &rank : part.ranks)
        for (const RecordedStep &step : rank.steps)
            longest = std::max(longest, static_cast<double>(step.end - step.start) / kNanosecondsPerSecond);
    for (const SampleSeries &series : part.series)
        if (series.isByStep && series.name == samples::kStepTime)
            for (const double seconds : series.value)
                longest = std::isfinite(seconds) ? std::max(longest, seconds) : longest;
    if (longest > 0 && longest <= kLongestStep)
        m_latest[m_next++ % m_latest.size()] = longest;
}

double StepLengths::longest() const
{
    return *std::ranges::max_element(m_latest);
}

Feed::Feed(std::uint32_t number, Address address, SourceSettings settings, Surroundings around)
    : m_number(number)
    , m_address(std::move(address))
    , m_settings(std::move(settings))
    , m_around(std::move(around))
{
    m_told.address = m_address;
    m_told.since = unixNow();
}

void Feed::heardSome(std::size_t bytes)
{
    const std::lock_guard lock(m_mutex);
    m_bytes += static_cast<std::int64_t>(bytes);
    m_heard = unixNow();
    m_heardSteady = m_around.steadyNow();
}

void Feed::lose(std::int64_t bytes)
{
    const std::lock_guard lock(m_mutex);
    m_dropped += bytes;
}

bool Feed::bytes(std::uint64_t connection, std::string_view bytes, Moment received)
{
    heardSome(bytes.size());
    if (m_around.queue.pushBytes(m_number, connection, bytes, received))
        return true;
    m_around.queue.skip(m_number, connection, static_cast<std::int64_t>(bytes.size()));
    lose(static_cast<std::int64_t>(bytes.size()));
    m_around.changed();
    return false;
}

bool Feed::tryBytes(std::uint64_t connection, std::string_view own, Moment received)
{
    if (!m_around.queue.pushBytes(m_number, connection, own, received))
        return false;
    heardSome(own.size());
    return true;
}

void Feed::skipped(std::uint64_t connection, std::int64_t bytes)
{
    heardSome(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 0)));
    m_around.queue.skip(m_number, connection, bytes);
    lose(bytes);
}

void Feed::opened(std::uint64_t connection, DecoderPtr decoder)
{
    Work work;
    work.kind = Work::Kind::Opened;
    work.source = m_number;
    work.connection = connection;
    work.decoder = std::move(decoder);
    m_around.queue.pushMark(std::move(work));
}

void Feed::closed(std::uint64_t connection)
{
    Work work;
    work.kind = Work::Kind::Closed;
    work.source = m_number;
    work.connection = connection;
    work.received = unixNow();
    m_around.queue.pushMark(std::move(work));
}

bool Feed::whole(std::size_t bytes, std::function<Expected<Batch>(Moment received)> decode,
    std::function<void(const Error &)> failed)
{
    Work work;
    work.source = m_number;
    work.size = bytes;
    work.received = unixNow();
    work.decode = std::move(decode);
    work.failed = std::move(failed);
    if (!m_around.queue.pushWhole(std::move(work)))
        return false;
    heardSome(bytes);
    return true;
}

void Feed::status(const SourceStatus &status)
{
    {
        const std::lock_guard lock(m_mutex);
        const bool isOther = status.state != m_told.state;
        const Moment since = m_told.since;
        m_told = status;
        if (status.since == 0)
            m_told.since = isOther ? unixNow() : since;
        if (isOther && status.state == SourceState::Live)
            m_heardSteady = m_around.steadyNow();
    }
    m_around.changed();
}

SourceStatus Feed::shown() const
{
    const std::lock_guard lock(m_mutex);
    SourceStatus status = m_told;
    status.bytes = std::max(status.bytes, m_bytes);
    status.batches = std::max(status.batches, m_batches);
    status.dropped += m_dropped;
    status.heard = std::max(status.heard, m_heard);
    if (status.state != SourceState::Live)
        return status;
    const double allowed = silenceAllowed(m_address, m_steps.longest());
    const double silent = static_cast<double>(m_around.steadyNow() - m_heardSteady) / kNanosecondsPerSecond;
    if (silent <= allowed)
        return status;
    status.state = SourceState::Stale;
    status.reason = "nothing came for " + lengthOf(silent);
    status.since = std::max(status.since, status.heard) + static_cast<Moment>(allowed * kNanosecondsPerSecond);
    return status;
}

RecordedSource Feed::lost() const
{
    const SourceStatus status = shown();
    RecordedSource made;
    made.file = m_address.text();
    made.bytes = status.bytes;
    made.taken = status.batches;
    made.notes = status.notes;
    if (status.dropped > 0)
        made.dropped.push_back(
            { "bytes that came faster than they were read, or while it was paused", status.dropped });
    if (status.refusedClients > 0)
        made.dropped.push_back({ "connections that were refused", status.refusedClients });
    return made;
}

void Feed::give(Batch &&batch, const BatchOut &out)
{
    batch.source = m_number;
    {
        const std::lock_guard lock(m_mutex);
        ++m_batches;
        m_steps.take(batch.part);
    }
    out(std::move(batch));
    m_around.changed();
}

void Feed::decode(Work &work, const BatchOut &out)
{
    const BatchOut given = [&](Batch &&batch) { give(std::move(batch), out); };
    switch (work.kind) {
    case Work::Kind::Opened:
        m_connections[work.connection] = { std::move(work.decoder), false };
        return;
    case Work::Kind::Whole: {
        auto batch = work.decode(work.received);
        if (batch)
            give(std::move(*batch), out);
        else if (work.failed)
            toSource([failed = std::move(work.failed), why = std::move(batch.error())](Source &) { failed(why); });
        return;
    }
    case Work::Kind::AllClosed:
        for (auto &[number, connection] : m_connections)
            if (connection.decoder && !connection.isRefused)
                connection.decoder->end(work.received, given);
        m_connections.clear();
        return;
    case Work::Kind::Bytes:
    case Work::Kind::Closed:
        break;
    }
    const auto known = m_connections.find(work.connection);
    if (known == m_connections.end() || !known->second.decoder || known->second.isRefused) {
        lose(static_cast<std::int64_t>(work.bytes.size())); // nobody reads them
        if (known != m_connections.end() && work.kind == Work::Kind::Closed)
            m_connections.erase(known);
        return;
    }
    Connection &connection = known->second;
    if (work.skipped)
        connection.decoder->skip(*work.skipped);
    if (work.kind == Work::Kind::Closed) {
        connection.decoder->end(work.received, given);
        m_connections.erase(known);
        return;
    }
    const auto read = connection.decoder->take(work.bytes, work.received, given);
    if (read)
        return;
    connection.isRefused = true;
    toSource([number = work.connection, why = read.error()](Source &of) { of.refuse(number, why); });
}

void Feed::read(Work &&work, const BatchOut &out)
{
    try {
        decode(work, out);
    } catch (const std::exception &error) { // memory alone: decoders throw nothing
        lose(static_cast<std::int64_t>(work.bytes.size()));
        if (const auto known = m_connections.find(work.connection); known != m_connections.end())
            known->second.isRefused = true;
        toSource([number = work.connection, what = std::string(error.what())](Source &of) {
            of.refuse(number, { ErrorCode::Internal, "", "it could not be read: " + what, "" });
        });
    }
}

} // namespace trainyard::live
