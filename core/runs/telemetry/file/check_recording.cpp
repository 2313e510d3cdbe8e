// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/file/check_recording.h"

#include <cmath>

namespace trainyard::recording_file {

namespace {

/// Goes through a recording; the first fault is kept.
class Checker {
public:
    explicit Checker(const Recording &recording)
        : m_recording(recording)
    {
    }

    Expected<void> check()
    {
        const Recording &r = m_recording;
        if (r.zero < 0 || r.zero >= kMostNanoseconds)
            fail("/zero_unix_ns", "is " + std::to_string(r.zero), "0, or a time between 1970 and 2116");
        moment("/aligned_at_ns", r.alignedAt);
        each("/models", r.models, [&](const auto &where, const RecordedModel &one) { source(where, one.source); });
        each("/nodes", r.nodes, [&](const auto &where, const RecordedNodes &one) { source(where, one.source); });
        each("/switches", r.switches, [&](const auto &where, const RecordedSwitch &one) { source(where, one.source); });
        each("/prices", r.prices, [&](const auto &where, const RecordedPrice &one) { source(where, one.source); });
        each("/benchmarks", r.benchmarks,
            [&](const auto &where, const BenchmarkPoint &one) { source(where, one.source); });
        each("/kernels", r.kernels, [&](const auto &where, const KernelPoint &one) { source(where, one.source); });
        each("/arguments_of", r.argumentsOf,
            [&](const auto &where, const SourceArguments &one) { source(where, one.source); });
        each("/groups", r.groups, [&](const auto &where, const CommunicatorGroup &one) {
            for (const int rank : one.ranks)
                if (rank < 0 || rank >= kMostRanks)
                    fail(where + "/ranks", "has " + std::to_string(rank),
                        "whole numbers from 0 to " + std::to_string(kMostRanks - 1));
        });
        each("/series", r.series, [&](const auto &where, const SampleSeries &one) { series(where, one); });
        each("/ranks", r.ranks, [&](const auto &where, const RankRecording &one) { rank(where, one); });
        if (m_hasFault)
            return std::unexpected(m_fault);
        return {};
    }

private:
    template <class T, class Check>
    void each(const std::string &where, const std::vector<T> &values, const Check &check)
    {
        for (std::size_t i = 0; i < values.size() && !m_hasFault; ++i)
            check(where + "/" + std::to_string(i), values[i]);
    }

    void rank(const std::string &where, const RankRecording &rank)
    {
        rankNumber(where, rank.rank);
        if (rank.worldSize < 0 || rank.worldSize > kMostRanks)
            fail(where + "/world_size", "is " + std::to_string(rank.worldSize),
                "a whole number from 0 to " + std::to_string(kMostRanks));
        // Offsets and drifts are taken off moments: what is left has to be one.
        if (!(std::abs(rank.clockOffset) < double(kMostApart)))
            fail(where + "/clock_offset_ns", "is no time within 73 years", "a number of nanoseconds");
        if (!(std::abs(rank.clockDrift) < 1))
            fail(where + "/clock_drift", "is no drift of a clock", "a number between -1 and 1");
        source(where, rank.source);
        if (rank.timeBase <= -kMostNanoseconds || rank.timeBase >= kMostNanoseconds)
            fail(where + "/time_base_ns", "is " + std::to_string(rank.timeBase), "a time within 146 years");
        for (std::size_t i = 0; i < rank.steps.size() && !m_hasFault; ++i) {
            momentAt(where, "/steps/start_ns", i, rank.steps[i].start);
            momentAt(where, "/steps/end_ns", i, rank.steps[i].end);
            stepNumber(where, "/steps/number", i, rank.steps[i].number);
        }
        each(where + "/streams", rank.streams,
            [&](const auto &inside, const RecordedStream &stream) { spans(inside + "/spans", stream.spans); });
        const std::string collectives = where + "/collectives";
        for (std::size_t i = 0; i < rank.collectives.size() && !m_hasFault; ++i)
            collective(collectives, i, rank.collectives[i], rank);
    }

    void spans(const std::string &where, const RecordedSpans &spans)
    {
        const std::size_t size = spans.size();
        length(where + "/duration_ns", spans.duration.size(), size);
        length(where + "/name", spans.name.size(), size);
        length(where + "/work", spans.work.size(), size);
        if (!spans.launch.empty())
            length(where + "/launch", spans.launch.size(), size);
        if (!spans.launchedAt.empty())
            length(where + "/launched_before_ns", spans.launchedAt.size(), size);
        if (!spans.shape.empty())
            length(where + "/shape", spans.shape.size(), size);
        for (std::size_t i = 0; i < size && !m_hasFault; ++i) {
            momentAt(where, "/start_ns", i, spans.start[i]);
            if (i > 0 && spans.start[i] < spans.start[i - 1])
                fail(at(where, "/start_ns", i), "is before the span in front of it", "spans in order of start");
            duration(where, i, spans.duration[i]);
            within(where, "/name", i, spans.name[i], m_recording.names.size(), "names");
            if (spans.work[i] > RecordedWork::Other)
                fail(at(where, "/work", i), "is " + std::to_string(int(spans.work[i])), "a whole number from 0 to 7");
            if (!spans.launchedAt.empty() && spans.launchedAt[i] != kNoMoment)
                momentAt(where, "/launched_before_ns", i, spans.launchedAt[i]);
            if (!spans.shape.empty() && spans.shape[i] != kNoIndex)
                within(where, "/shape", i, spans.shape[i], m_recording.names.size(), "names");
        }
    }

    void collective(
        const std::string &where, std::size_t i, const RecordedCollective &collective, const RankRecording &rank)
    {
        momentAt(where, "/start_ns", i, collective.start);
        if (i > 0 && collective.start < rank.collectives[i - 1].start)
            fail(at(where, "/start_ns", i), "is before the collective in front of it", "collectives in order of start");
        duration(where, i, collective.duration);
        within(where, "/operation", i, collective.operation, m_recording.names.size(), "names");
        if (collective.group != kNoIndex)
            within(where, "/group", i, collective.group, m_recording.groups.size(), "groups");
        if (collective.stream == kNoIndex)
            return;
        within(where, "/stream", i, collective.stream, rank.streams.size(), "streams of its rank");
        if (collective.span != kNoIndex && !m_hasFault)
            within(where, "/span", i, collective.span, rank.streams[collective.stream].spans.size(),
                "spans of its stream");
    }

    void series(const std::string &where, const SampleSeries &series)
    {
        length(where + "/value", series.value.size(), series.at.size());
        source(where, series.source);
        rankNumber(where, series.rank);
        for (std::size_t i = 0; i < series.at.size() && !m_hasFault; ++i) {
            if (series.isByStep)
                stepNumber(where, "/at", i, series.at[i]);
            else
                momentAt(where, "/at", i, series.at[i]);
            if (i > 0 && series.at[i] < series.at[i - 1])
                fail(at(where, "/at", i), "is before the sample in front of it", "samples in order");
        }
    }
    void rankNumber(const std::string &where, int rank)
    {
        if (rank < -1 || rank >= kMostRanks)
            fail(where + "/rank", "is " + std::to_string(rank),
                "a whole number from 0 to " + std::to_string(kMostRanks - 1) + ", or null");
    }
    void stepNumber(const std::string &where, const char *column, std::size_t i, std::int64_t number)
    {
        if (number <= -kMostSteps || number >= kMostSteps)
            fail(at(where, column, i), "is " + std::to_string(number), "a number of a step, below 2^53");
    }

    void source(const std::string &where, std::uint32_t index)
    {
        if (index != kNoIndex && index >= m_recording.sources.size())
            fail(where + "/source", "is " + std::to_string(index),
                "null, or an index of the " + std::to_string(m_recording.sources.size()) + " sources");
    }
    void length(const std::string &where, std::size_t size, std::size_t right)
    {
        if (size != right)
            fail(where, "has " + std::to_string(size) + " values",
                std::to_string(right) + ", as the columns beside it have");
    }
    void within(const std::string &where, const char *column, std::size_t i, std::size_t index, std::size_t size,
        const char *what)
    {
        if (index >= size)
            fail(at(where, column, i), "is " + std::to_string(index),
                "an index of the " + std::to_string(size) + " " + what);
    }
    void duration(const std::string &where, std::size_t i, std::int64_t duration)
    {
        if (duration < 0 || duration >= kMostApart)
            fail(at(where, "/duration_ns", i), "is " + std::to_string(duration),
                "a number of nanoseconds from 0 to 73 years");
    }
    /// Its Unix time too, where that is known, so that moments can be moved to the zero of another recording.
    [[nodiscard]] bool isMoment(Moment moment) const
    {
        const bool isNear = moment > -kMostApart && moment < kMostNanoseconds;
        const bool hasZero = m_recording.zero > 0 && m_recording.zero < kMostNanoseconds; // else that is the fault
        return isNear && (!hasZero || moment < kMostNanoseconds - m_recording.zero);
    }
    void momentAt(const std::string &where, const char *column, std::size_t i, Moment moment)
    {
        if (!isMoment(moment))
            tooFar(at(where, column, i), moment);
    }
    void moment(const std::string &where, Moment moment)
    {
        if (!isMoment(moment))
            tooFar(where, moment);
    }
    void tooFar(const std::string &where, Moment moment)
    {
        fail(where, "is " + std::to_string(moment) + " ns from zero",
            "a moment before the year 2116, and less than 73 years before zero");
    }

    static std::string at(const std::string &where, const char *column, std::size_t i)
    {
        return where + column + "/" + std::to_string(i);
    }
    void fail(std::string where, std::string what, std::string right)
    {
        if (m_hasFault)
            return;
        m_hasFault = true;
        m_fault = { ErrorCode::OutOfRange, std::move(where), std::move(what), std::move(right) };
    }

    const Recording &m_recording;
    bool m_hasFault = false;
    Error m_fault;
};

} // namespace

Expected<void> checkRecording(const Recording &recording)
{
    return Checker(recording).check();
}

} // namespace trainyard::recording_file
