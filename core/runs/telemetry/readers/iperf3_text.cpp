// SPDX-License-Identifier: GPL-3.0-or-later
// What iperf3 (and iperf 2) prints without -J: "[  5]   0.00-10.00  sec  11.0 GBytes  9.41 Gbits/sec  receiver". Of a
// test the sums at its end count, as they were received; without an end the intervals.
#include "core/runs/telemetry/readers/iperf3.h"
#include "core/runs/telemetry/readers/recording_builder.h"
#include "core/runs/telemetry/readers/text_lines.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <map>

namespace trainyard::readers {

namespace {

/// A line of results.
struct PrintedRate {
    std::string id; // "5", "SUM"
    double from = 0, to = 0, bytes = 0, bitsPerSecond = 0; // seconds of the test
    bool isReceived = false, isSent = false;
};

double scaleOf(char letter, double thousand)
{
    const std::size_t power = std::string_view("KMGT").find(letter);
    double scale = 1;
    for (std::size_t i = 0; power != std::string_view::npos && i <= power; ++i)
        scale *= thousand;
    return scale;
}

std::optional<PrintedRate> rateIn(std::string_view line)
{
    std::string_view rest = trimmed(line);
    if (!takeText(rest, "["))
        return std::nullopt;
    const std::size_t close = rest.find(']');
    if (close == rest.npos || close > 8)
        return std::nullopt;
    PrintedRate rate { .id = std::string(trimmed(rest.substr(0, close))) };
    const auto words = fieldsOf(rest.substr(close + 1));
    std::size_t at = 0;
    while (at < words.size() && words[at].starts_with('[')) // "[TX-C]" of both ways at once
        rate.id += words[at++];
    if (words.size() < at + 6)
        return std::nullopt;
    std::string_view span = words[at];
    const auto from = takeNumber(span);
    const auto to = takeText(span, "-") ? takeNumber(span) : std::nullopt;
    const auto moved = leadingNumber(words[at + 2]), bits = leadingNumber(words[at + 4]);
    const std::string_view unit = words[at + 3], perSecond = words[at + 5];
    if (!from || !to || words[at + 1] != "sec" || !moved || !bits || !unit.ends_with("ytes")
        || (!perSecond.ends_with("bits/sec") && !perSecond.ends_with("ytes/sec")) || !(*to > *from))
        return std::nullopt;
    rate.from = *from;
    rate.to = *to;
    rate.bytes = *moved * scaleOf(unit.front(), 1024);
    rate.bitsPerSecond = perSecond.ends_with("bits/sec") ? *bits * scaleOf(perSecond.front(), 1000)
                                                         : *bits * 8 * scaleOf(perSecond.front(), 1024);
    rate.isReceived = words.back() == "receiver";
    rate.isSent = words.back() == "sender";
    return rate;
}

class PrintedTests {
public:
    explicit PrintedTests(RecordingBuilder &scribe)
        : m_scribe(scribe)
    {
    }

    void take(std::string_view line)
    {
        if (line.find("Connecting to host") != line.npos || line.find("Accepted connection from") != line.npos)
            end();
        m_isReverse |= line.find("Reverse mode") != line.npos;
        m_isUdp |= line.find("Total Datagrams") != line.npos || line.find("Lost/Total") != line.npos;
        auto rate = rateIn(line);
        if (!rate)
            return;
        ++m_scribe.source().taken;
        auto &rates = rate->isReceived ? m_received : rate->isSent ? m_sent : m_intervals;
        if (rates.size() < 100'000)
            rates.push_back(std::move(*rate));
    }

    void end()
    {
        if (!m_received.empty())
            addSums(m_received);
        else if (!m_sent.empty()) {
            m_scribe.note("The test tells what was sent alone: its rate may be more than what arrived");
            addSums(m_sent);
        } else if (!m_intervals.empty())
            addIntervals();
        m_received.clear();
        m_sent.clear();
        m_intervals.clear();
        m_isReverse = m_isUdp = false;
    }

private:
    static bool isSum(const PrintedRate &rate) { return rate.id.starts_with("SUM"); }

    /// The line of all streams, or the one of the one stream; of both ways at once each way.
    void addSums(const std::vector<PrintedRate> &rates)
    {
        const bool hasSum = std::ranges::any_of(rates, isSum);
        const auto streams = hasSum ? std::ranges::count_if(rates, [](const PrintedRate &r) { return !isSum(r); }) : 1;
        int way = 0;
        for (const PrintedRate &rate : rates)
            if (isSum(rate) == hasSum)
                add(rate.bytes, rate.to - rate.from, rate.bitsPerSecond, int(streams), way++ > 0);
    }

    void addIntervals()
    {
        const bool hasSum = std::ranges::any_of(m_intervals, isSum);
        double bytes = 0, seconds = 0;
        std::map<std::string, int> ids;
        for (const PrintedRate &rate : m_intervals) {
            ids[rate.id] += !isSum(rate);
            if (isSum(rate) == hasSum) {
                bytes += rate.bytes;
                seconds += rate.to - rate.from;
            }
        }
        m_scribe.note("The test has no results at its end: its intervals are added up, as the sender saw them");
        add(bytes, seconds, bytes * 8 / seconds, std::max(1, int(ids.size()) - int(hasSum)), false);
    }

    void add(double bytes, double seconds, double bitsPerSecond, int streams, bool isBack)
    {
        BenchmarkPoint point { .what = m_isUdp ? "udp" : "tcp" };
        if (m_isReverse != isBack)
            point.what += "_reverse";
        point.ranks = 2;
        point.nodes = 2;
        point.streams = streams;
        point.bytes = bytes;
        point.seconds = seconds;
        point.bytesPerSecond = bitsPerSecond / 8;
        m_scribe.add(point);
    }

    RecordingBuilder &m_scribe;
    std::vector<PrintedRate> m_received, m_sent, m_intervals;
    bool m_isReverse = false, m_isUdp = false;
};

} // namespace

int looksLikeIperf3Text(std::string_view, std::string_view head)
{
    const bool hasHeading = head.find("[ ID] Interval") != head.npos || head.find("[ID] Interval") != head.npos;
    return hasHeading && head.find("sec") != head.npos ? 92 : 0;
}

Expected<Recording> readIperf3Text(const SourceText &source, const SourceOptions &options)
{
    RecordingBuilder scribe(source, SourceKind::Iperf3);
    ReadingPace pace(source, options);
    PrintedTests tests(scribe);
    TextLines lines(source.text);
    for (TextLine line; lines.next(line);) {
        if (pace.isStopped(line.begin))
            return pace.stopped();
        tests.take(line.text);
    }
    tests.end();
    if (scribe.recording().benchmarks.empty())
        return refusal(source, "It is what iperf3 prints of a test that ended before it measured anything");
    return scribe.finish();
}

} // namespace trainyard::readers
