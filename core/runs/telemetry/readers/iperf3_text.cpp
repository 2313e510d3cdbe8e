// SPDX-License-Identifier: GPL-3.0-or-later
// What iperf3 (and iperf 2) prints without -J: "[  5]   0.00-10.00  sec  11.0 GBytes  9.41 Gbits/sec  receiver". Of a
// test the sums at its end count, as they were received; without an end the intervals.
#include "core/runs/telemetry/readers/iperf3.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/recording_builder.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <map>
#include <set>

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
    const bool hasDash = takeText(span, "-");
    if (hasDash && span.empty()) // iperf 2: "0.0- 1.0"
        span = words[++at];
    const auto to = hasDash ? takeNumber(span) : std::nullopt;
    if (words.size() < at + 6)
        return std::nullopt;
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
        const auto hasMoved = [](const std::vector<PrintedRate> &rates) {
            return std::ranges::any_of(rates, [](const PrintedRate &rate) { return rate.bytes > 0; });
        };
        if (hasMoved(m_received)) {
            addSums(m_received);
        } else if (hasMoved(m_sent)) {
            m_scribe.note("The test tells what was sent alone: its rate may be more than what arrived");
            addSums(m_sent);
        } else if (!m_intervals.empty()) {
            addIntervals();
        }
        m_received.clear();
        m_sent.clear();
        m_intervals.clear();
        m_isReverse = m_isUdp = false;
    }

private:
    /// "5" of "5[TX-C]", and what stands behind it: of both ways at once the way.
    static std::string wayOf(const PrintedRate &rate)
    {
        const std::size_t bracket = rate.id.find('[');
        return bracket == std::string::npos ? std::string() : rate.id.substr(bracket);
    }
    static bool isSum(const PrintedRate &rate) { return rate.id.starts_with("SUM"); }

    /// Each way: the line of all streams where there is one, else they are added up.
    void addSums(const std::vector<PrintedRate> &rates)
    {
        std::map<std::string, std::vector<const PrintedRate *>> ways;
        for (const PrintedRate &rate : rates)
            ways[wayOf(rate)].push_back(&rate);
        bool isBack = false;
        for (const auto &[way, all] : ways) {
            const auto sum = std::ranges::find_if(all, [](const PrintedRate *rate) { return isSum(*rate); });
            double bytes = 0, seconds = 0, bits = 0;
            int streams = 0;
            for (const PrintedRate *rate : all)
                if (!isSum(*rate)) {
                    ++streams;
                    bytes += rate->bytes;
                    bits += rate->bitsPerSecond;
                    seconds = std::max(seconds, rate->to - rate->from);
                }
            if (sum != all.end())
                add((*sum)->bytes, (*sum)->to - (*sum)->from, (*sum)->bitsPerSecond, streams, isBack);
            else
                add(bytes, seconds, bits, streams, isBack);
            isBack = true;
        }
    }

    /// Without an end. A line from the beginning to the end over the others is iperf 2's result.
    void addIntervals()
    {
        double end = 0, longest = 0;
        for (const PrintedRate &rate : m_intervals) {
            end = std::max(end, rate.to);
            longest = std::max(longest, rate.to - rate.from);
        }
        std::vector<PrintedRate> whole;
        for (const PrintedRate &rate : m_intervals)
            if (rate.from == 0 && rate.to - rate.from == longest && longest > 0.99 * end)
                whole.push_back(rate);
        if (!whole.empty() && (whole.size() < m_intervals.size() || end > 1.5)) {
            m_scribe.note("It does not say whether what was sent or what was received is told");
            return addSums(whole);
        }
        const bool hasSum = std::ranges::any_of(m_intervals, isSum);
        double bytes = 0;
        std::set<std::string> streams;
        for (const PrintedRate &rate : m_intervals) {
            if (!isSum(rate))
                streams.insert(rate.id);
            if (isSum(rate) == hasSum)
                bytes += rate.bytes;
        }
        m_scribe.note("The test has no results at its end: its intervals are added up, as the sender saw them");
        add(bytes, end, bytes * 8 / end, std::max(1, int(streams.size())), false);
    }

    void add(double bytes, double seconds, double bitsPerSecond, int streams, bool isBack)
    {
        if (!(bytes > 0) || !(bitsPerSecond > 0)) {
            m_scribe.note("A test in it moved nothing: it is left out");
            return;
        }
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
    PrintedTests tests(scribe);
    PacedLines lines(source, options);
    for (TextLine line; lines.next(line);) {
        tests.take(line.text);
    }
    tests.end();
    if (scribe.recording().benchmarks.empty())
        return refusal(
            source, "It is what iperf3 prints of a test that ended before it measured anything, or that moved nothing");
    return scribe.finish();
}

} // namespace trainyard::readers
