// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/iperf3.h"

#include "core/base/ascii_text.h"
#include "core/base/number_text.h"
#include "core/runs/telemetry/readers/loose_json.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/recording_builder.h"
#include "core/runs/telemetry/readers/text_scan.h"
#include "core/runs/telemetry/sample_names.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

/// What one direction of a test moved.
struct Moved {
    double bytes = 0, seconds = 0, bitsPerSecond = 0;
};

class Test {
public:
    Test(RecordingBuilder &scribe)
        : m_to(&scribe)
    {
    }

    void addStart(LooseJsonValue start)
    {
        const LooseJsonValue test = start["test_start"];
        m_protocol = lowered(test["protocol"].text());
        m_streams = static_cast<int>(std::clamp<std::int64_t>(test["num_streams"].integer().value_or(1), 1, 1 << 20));
        m_isReverse = test["reverse"].isTrue();
        const LooseJsonValue stamp = start["timestamp"];
        const auto milliseconds = stamp["timemillisecs"].integer();
        const auto seconds = stamp["timesecs"].integer();
        if (milliseconds && *milliseconds > 0 && *milliseconds < 9'000'000'000'000)
            m_began = *milliseconds * 1'000'000;
        else if (seconds && *seconds > 0 && *seconds < 9'000'000'000)
            m_began = *seconds * 1'000'000'000;
        const LooseJsonValue pair = start["connected"].first();
        m_link = pair["local_host"].text() + "-" + pair["remote_host"].text();
        if (m_link == "-")
            m_link.clear();
    }

    void addInterval(LooseJsonValue interval)
    {
        for (const bool isBack : { false, true }) {
            const LooseJsonValue sum = interval[isBack ? "sum_bidir_reverse" : "sum"];
            const auto bits = sum["bits_per_second"].number(), end = sum["end"].number(), bytes = sum["bytes"].number();
            if (!bits || !end || !bytes || !(*bits >= 0) || !(*end >= 0) || !(*end < 1e8))
                continue;
            if (sum["omitted"].isTrue()) {
                m_to->drop("intervals that the test leaves out (-O)");
                continue;
            }
            Moved &moved = m_intervals[isBack];
            moved.bytes += *bytes;
            moved.seconds += sum["seconds"].numberOr(0);
            addSample(isBack, *end, *bits / 8);
        }
        for (const LooseJsonValue stream : interval["streams"])
            if (!stream["omitted"].isTrue())
                addRoundTrip(
                    stream["rtt"].number(), stream["sender"] && !stream["sender"].isTrue() && isBidirectional());
    }

    void addEnd(LooseJsonValue end)
    {
        for (const LooseJsonValue stream : end["streams"]) {
            const LooseJsonValue sender = stream["sender"];
            const bool isBack =
                sender["sender"] && !sender["sender"].isTrue() && bool(end["sum_received_bidir_reverse"]);
            const auto smallest = sender["min_rtt"].number();
            if (smallest && *smallest > 0)
                m_smallest[isBack] = m_smallest[isBack] > 0 ? std::min(m_smallest[isBack], *smallest) : *smallest;
        }
        addDirection(end, "", false);
        if (end["sum_received_bidir_reverse"] || end["sum_bidir_reverse"])
            addDirection(end, "_bidir_reverse", true);
        const LooseJsonValue cpu = end["cpu_utilization_percent"];
        for (const char *side : { "host_total", "remote_total" })
            if (const double share = cpu[side].numberOr(0); share > 90)
                m_to->note("A processor was busy " + plainText(share)
                    + " % of the test: it may be the bound, not the network");
    }

    /// Of a test without results at its end: what its intervals saw.
    void addIntervals()
    {
        for (const bool isBack : { false, true })
            if (const Moved &moved = m_intervals[isBack]; !m_hasEnd && moved.seconds > 0 && moved.bytes > 0) {
                addPoint({ moved.bytes, moved.seconds, moved.bytes * 8 / moved.seconds }, isBack);
                m_to->note("The test has no results at its end: its intervals are added up, as the sender saw them");
            }
    }

    [[nodiscard]] bool hasPoints() const { return m_points > 0; }

private:
    [[nodiscard]] bool isBidirectional() const { return m_intervals[1].seconds > 0; }

    void addRoundTrip(std::optional<double> microseconds, bool isBack)
    {
        if (microseconds && *microseconds > 0)
            m_seen[isBack] = m_seen[isBack] > 0 ? std::min(m_seen[isBack], *microseconds) : *microseconds;
    }

    void addSample(bool isBack, double end, double bytesPerSecond)
    {
        const bool isIn = isBack != m_isReverse;
        const std::string key = std::to_string(m_began) + (isIn ? "in" : "out") + m_link;
        auto series = m_to->seriesOf(key);
        if (series == RecordingBuilder::kNewSeries)
            series = m_to->addSeries(key,
                { .name = isIn ? samples::kNetworkIn : samples::kNetworkOut,
                    .unit = "B/s",
                    .where = SharedText(m_link) });
        m_to->add(series, m_began + static_cast<std::int64_t>(end * 1e9), bytesPerSecond);
    }

    void addDirection(LooseJsonValue end, const std::string &suffix, bool isBack)
    {
        LooseJsonValue sum = end["sum_received" + suffix];
        if (!sum)
            sum = end["sum" + suffix]; // UDP of before 3.7
        Moved moved { sum["bytes"].numberOr(0), sum["seconds"].numberOr(0), sum["bits_per_second"].numberOr(0) };
        const double lost = end["sum" + suffix]["lost_percent"].numberOr(sum["lost_percent"].numberOr(0));
        if (!end["sum_received" + suffix] && lost > 0 && lost <= 100) {
            moved.bytes *= 1 - lost / 100;
            moved.bitsPerSecond *= 1 - lost / 100;
        }
        if (!(moved.bitsPerSecond > 0))
            return;
        addPoint(moved, isBack);
        m_hasEnd = true;
        if (m_protocol == "udp")
            m_to->note("UDP: " + plainText(lost) + " % of the packets were lost, jitter "
                + plainText(sum["jitter_ms"].numberOr(0) * 1000) + " µs");
    }

    void addPoint(const Moved &moved, bool isBack)
    {
        BenchmarkPoint point { .what = m_protocol.empty() ? "tcp" : m_protocol };
        if (isBack != m_isReverse)
            point.what += "_reverse";
        point.ranks = 2;
        point.nodes = 2;
        point.streams = m_streams;
        point.bytes = moved.bytes;
        point.seconds = moved.seconds;
        point.bytesPerSecond = moved.bitsPerSecond / 8;
        const double microseconds = m_smallest[isBack] > 0 ? m_smallest[isBack] : m_seen[isBack];
        point.rttSeconds = microseconds * 1e-6;
        m_to->add(point);
        ++m_points;
    }

    RecordingBuilder *m_to;
    std::string m_protocol, m_link;
    int m_streams = 1, m_points = 0;
    bool m_isReverse = false, m_hasEnd = false;
    std::int64_t m_began = 0;
    Moved m_intervals[2]; // forth, back
    double m_smallest[2] = {}, m_seen[2] = {}; // round trips, microseconds
};

class Iperf3File {
public:
    explicit Iperf3File(const SourceText &source)
        : m_scribe(source, SourceKind::Iperf3)
        , m_test(m_scribe)
    {
    }

    void add(LooseJsonValue root)
    {
        const std::string event = root["event"].text();
        if (event.empty()) {
            m_test = Test(m_scribe);
            m_test.addStart(root["start"]);
            for (const LooseJsonValue interval : root["intervals"])
                m_test.addInterval(interval);
            m_test.addEnd(root["end"]);
            m_test.addIntervals();
            addError(root["error"].text());
        } else if (event == "start") {
            m_test = Test(m_scribe);
            m_test.addStart(root["data"]);
            m_isOpen = true;
        } else if (event == "interval") {
            m_test.addInterval(root["data"]);
        } else if (event == "end") {
            m_test.addEnd(root["data"]);
            m_test.addIntervals();
            m_isOpen = false;
        } else if (event == "error") {
            addError(root["data"].text());
        }
    }

    Expected<Recording> finish(const SourceText &source, bool isTruncated)
    {
        if (m_isOpen)
            m_test.addIntervals();
        if (m_scribe.recording().benchmarks.empty())
            return refusal(source,
                m_error.empty() ? "It is an iperf3 test that ended before it measured anything, or that moved nothing"
                                : "It is an iperf3 test that failed: " + m_error);
        if (!m_error.empty())
            m_scribe.note("iperf3 says: " + m_error);
        m_scribe.source().isTruncated |= isTruncated || m_isOpen;
        return m_scribe.finish();
    }

private:
    void addError(std::string error)
    {
        if (!error.empty())
            m_error = std::move(error);
    }

    RecordingBuilder m_scribe;
    Test m_test;
    std::string m_error;
    bool m_isOpen = false; // a stream of events without its end
};

} // namespace

int looksLikeIperf3(std::string_view, std::string_view head)
{
    if (!trimmed(head.substr(0, 256)).starts_with('{'))
        return 0;
    const auto has = [&](std::string_view key) { return head.find(key) != std::string_view::npos; };
    if (has("\"version\"") && has("iperf 3"))
        return 95;
    return has("\"test_start\"") && has("\"num_streams\"") ? 90 : 0;
}

Expected<Recording> readIperf3(const SourceText &source, const SourceOptions &options)
{
    Iperf3File file(source);
    ReadingPace pace(source, options);
    const bool isTruncated = eachObject(source.text, 0, [&](LooseJsonValue root, std::size_t at) {
        file.add(root);
        return !pace.isStopped(at);
    });
    return file.finish(source, isTruncated);
}

} // namespace trainyard::readers
