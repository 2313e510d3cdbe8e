// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/fio.h"

#include "core/base/number_text.h"
#include "core/runs/telemetry/readers/loose_json.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/recording_builder.h"
#include "core/runs/telemetry/readers/text_lines.h"
#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace trainyard::readers {

namespace {

constexpr double kShortSeconds = 5;

/// Bytes of "128k", "1M", "4096", as fio counts them: powers of 1024.
double bytesOfSize(std::string_view size)
{
    const auto number = leadingInteger(size);
    if (!number || *number < 0)
        return 0;
    const auto letter = size.find_first_not_of("0123456789");
    constexpr std::string_view kUnits = "kmgt";
    const auto power = letter == std::string_view::npos ? std::string_view::npos : kUnits.find(size[letter] | 0x20);
    double bytes = static_cast<double>(*number);
    for (std::size_t i = 0; power != std::string_view::npos && i <= power; ++i)
        bytes *= 1024;
    return bytes;
}

/// One direction of one group of jobs.
struct GroupSum {
    double bytesPerSecond = 0, seconds = 0, bytes = 0, blockBytes = 0;
    int jobs = 0, jobsTold = 0;
    bool isRandom = false;
};

class FioFile {
public:
    explicit FioFile(const SourceText &source)
        : m_scribe(source, SourceKind::Fio)
    {
    }

    void add(LooseJsonValue root)
    {
        m_global = root["global options"];
        m_isOld = root["fio version"].text().starts_with("fio-2.") || root["fio version"].text().starts_with("fio-1.");
        ++m_run;
        for (const char *list : { "jobs", "client_stats" })
            for (const LooseJsonValue job : root[list])
                if (job["jobname"].text() != "All clients")
                    addJob(job);
    }

    Expected<Recording> finish(const SourceText &source, bool isTruncated)
    {
        for (const auto &[key, sum] : m_sums) {
            const auto &[run, group, direction] = key;
            BenchmarkPoint point { .what = (sum.isRandom ? "random_" : "") + direction };
            point.streams = std::max({ sum.jobs, sum.jobsTold, 1 });
            point.nodes = 1;
            point.bytes = sum.blockBytes;
            point.seconds = sum.seconds;
            point.bytesPerSecond = sum.bytesPerSecond;
            m_scribe.add(point);
            if (sum.seconds < kShortSeconds)
                m_scribe.note(
                    "The test ran " + secondsText(sum.seconds) + ": below 5 s a drive's cache may have answered");
        }
        if (m_scribe.recording().benchmarks.empty())
            return refusal(
                source, m_failed > 0 ? "It is a fio run whose jobs all failed" : "It is a fio run that moved no bytes");
        if (m_isBuffered)
            m_scribe.note("direct=1 was not set: the page cache of the host is measured with the drive");
        m_scribe.drop("jobs that failed", m_failed);
        m_scribe.source().isTruncated |= isTruncated;
        return m_scribe.finish();
    }

private:
    [[nodiscard]] std::string option(LooseJsonValue job, std::string_view key) const
    {
        const LooseJsonValue own = job["job options"][key];
        return own ? own.text() : m_global[key].text();
    }

    void addJob(LooseJsonValue job)
    {
        if (job["error"].integer().value_or(0) != 0) {
            ++m_failed;
            return;
        }
        for (const char *direction : { "read", "write", "trim" }) {
            const LooseJsonValue part = job[direction];
            const double milliseconds = part["runtime"].numberOr(0);
            // fio 2 counts bandwidth and bytes in KiB only
            const double rate = part["bw_bytes"] ? part["bw_bytes"].numberOr(0) : part["bw"].numberOr(0) * 1024;
            const double bytes = part["io_bytes"].numberOr(0) * (m_isOld ? 1024 : 1);
            if (!(rate > 0) || !(bytes > 0) || !(milliseconds > 0))
                continue;
            GroupSum &sum = m_sums[{ m_run, job["groupid"].integer().value_or(0), direction }];
            sum.bytesPerSecond += rate;
            sum.seconds = std::max(sum.seconds, milliseconds / 1000);
            sum.bytes += bytes;
            ++sum.jobs;
            sum.jobsTold =
                static_cast<int>(std::clamp<std::int64_t>(integerIn(option(job, "numjobs")).value_or(1), 1, 1 << 20));
            std::string block = option(job, "bs");
            if (block.empty())
                block = option(job, "blocksize");
            sum.blockBytes = block.empty() ? 4096 : bytesOfSize(block);
            sum.isRandom = option(job, "rw").starts_with("rand") || option(job, "readwrite").starts_with("rand");
            const std::string direct = option(job, "direct");
            m_isBuffered |= direct != "1" && direct != "true" && option(job, "buffered") != "0";
        }
    }

    RecordingBuilder m_scribe;
    LooseJsonValue m_global;
    std::map<std::tuple<int, std::int64_t, std::string>, GroupSum> m_sums;
    std::int64_t m_failed = 0;
    int m_run = 0;
    bool m_isBuffered = false, m_isOld = false;
};

/// Where the JSON begins: fio prints warnings and notes before it.
std::size_t beginOf(std::string_view text)
{
    TextLines lines(text);
    for (TextLine line; lines.next(line);)
        if (trimmedStart(text.substr(line.begin)).starts_with('{'))
            return line.begin;
    return std::string_view::npos;
}

} // namespace

int looksLikeFio(std::string_view, std::string_view head)
{
    const auto at = head.find("\"fio version\"");
    return at != std::string_view::npos && beginOf(head) < at ? 95 : 0;
}

Expected<Recording> readFio(const SourceText &source, const SourceOptions &options)
{
    FioFile file(source);
    ReadingPace pace(source, options);
    const bool isTruncated = eachObject(source.text, beginOf(source.text), [&](LooseJsonValue root, std::size_t at) {
        file.add(root);
        return !pace.isStopped(at);
    });
    return file.finish(source, isTruncated);
}

} // namespace trainyard::readers
