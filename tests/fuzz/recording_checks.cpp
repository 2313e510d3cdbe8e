// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/fuzz/recording_checks.h"

#include "core/runs/telemetry/collectives.h"
#include "core/runs/telemetry/file/check_recording.h"
#include "core/runs/telemetry/file/read_recording.h"
#include "core/runs/telemetry/recording_file.h"
#include "core/runs/telemetry/summarize.h"
#include "tests/core/runs/telemetry/random_recording.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace trainyard::fuzz {

namespace {

constexpr std::size_t kFree = 1 << 22; // values that no byte of the file stands for: hosts of a list "n[1-40000]"

/// Values that a recording holds, names of hosts too.
std::size_t sizeOf(const Recording &r)
{
    std::size_t size = r.spanCount() + r.names.size() + r.benchmarks.size() + r.arguments.size() + r.prices.size();
    for (const RankRecording &rank : r.ranks)
        size += 1 + rank.collectives.size() + rank.steps.size() + rank.streams.size();
    for (const SampleSeries &series : r.series)
        size += 1 + series.at.size();
    for (const CommunicatorGroup &group : r.groups)
        size += 1 + group.ranks.size();
    for (const RecordedNodes &nodes : r.nodes)
        size += 1 + nodes.names.size();
    for (const RecordedSwitch &one : r.switches)
        size += 1 + one.below.size();
    return size;
}

std::string faultOfSources(const Recording &recording)
{
    if (recording.sources.empty())
        return "a recording without a source";
    for (const RecordedSource &source : recording.sources) {
        if (source.taken < 0 || source.bytes < 0)
            return "a source with a negative count";
        for (const Dropped &dropped : source.dropped)
            if (dropped.count <= 0 || dropped.reason.empty())
                return "something dropped without a count or a reason: " + dropped.reason;
        if (std::ranges::any_of(source.notes, &std::string::empty))
            return "an empty note";
    }
    return {};
}

bool isFigure(double value)
{
    return std::isfinite(value) && value >= 0;
}

std::string faultOfFigures(const Recording &recording)
{
    for (const BenchmarkPoint &point : recording.benchmarks)
        if (!isFigure(point.bytes) || !isFigure(point.seconds) || !isFigure(point.bytesPerSecond)
            || !isFigure(point.busBytesPerSecond) || !isFigure(point.rttSeconds) || point.ranks < 0 || point.nodes < 0
            || point.streams < 0)
            return "a point with a figure that is none: " + point.what;
    for (const KernelPoint &point : recording.kernels)
        for (const double value : { point.m, point.n, point.k, point.batch, point.heads, point.headDim, point.sequence,
                 point.leastSeconds, point.seconds, point.bytes, point.flops })
            if (!isFigure(value))
                return "a kernel with a figure that is none: " + point.what;
    for (const SampleSeries &series : recording.series)
        if (series.name.empty() || series.at.empty() || !std::ranges::is_sorted(series.at))
            return "a series without a name, empty or out of order: " + series.name.text();
    for (const RecordedNodes &nodes : recording.nodes)
        if (nodes.count < 0 || nodes.gpus < 0 || nodes.nics < 0 || !isFigure(nodes.nicBytesPerSecond)
            || !isFigure(nodes.nvlinkBytesPerSecond) || !isFigure(nodes.hostMemoryBytes))
            return "nodes with a figure that is none";
    for (const RankRecording &rank : recording.ranks) {
        for (const RecordedCollective &one : rank.collectives)
            if (!isFigure(one.bytes))
                return "a collective of no size";
        for (const RecordedStep &step : rank.steps)
            if (step.end < step.start)
                return "a step that ends before it starts";
    }
    return {};
}

/// Of NaN as of equal, wherever a recording file may have a null for a number.
Recording withNumbers(Recording recording)
{
    const auto make = [](double &value) { value = std::isnan(value) ? 0.125 : value; };
    for (RankRecording &rank : recording.ranks) {
        make(rank.clockOffset);
        make(rank.clockDrift);
        for (RecordedCollective &one : rank.collectives)
            make(one.bytes);
    }
    for (BenchmarkPoint &point : recording.benchmarks)
        for (double *value :
            { &point.bytes, &point.seconds, &point.bytesPerSecond, &point.busBytesPerSecond, &point.rttSeconds })
            make(*value);
    for (KernelPoint &point : recording.kernels)
        for (double *value : { &point.m, &point.n, &point.k, &point.batch, &point.heads, &point.headDim,
                 &point.sequence, &point.leastSeconds, &point.seconds, &point.bytes, &point.flops })
            make(*value);
    for (RecordedNodes &nodes : recording.nodes)
        for (double *value : { &nodes.nicBytesPerSecond, &nodes.nvlinkBytesPerSecond, &nodes.hostMemoryBytes })
            make(*value);
    for (RecordedSwitch &one : recording.switches)
        make(one.linkBytesPerSecond);
    for (RecordedPrice &price : recording.prices)
        make(price.gpus);
    return recording;
}

} // namespace

std::string faultOfRecording(const Recording &recording, std::size_t bytes, bool isMeasured)
{
    if (const auto checked = recording_file::checkRecording(recording); !checked)
        return "what everybody relies on does not hold: " + toString(checked.error());
    if (sizeOf(recording) > kFree + 4 * bytes)
        return std::to_string(sizeOf(recording)) + " values of " + std::to_string(bytes) + " bytes";
    if (std::string fault = isMeasured ? faultOfSources(recording) : std::string(); !fault.empty())
        return fault;
    if (std::string fault = isMeasured ? faultOfFigures(recording) : std::string(); !fault.empty())
        return fault;
    if (summarize(recording).size() != recording.ranks.size())
        return "ranks without a summary";
    for (const CollectiveBandwidth &one : collectiveBandwidths(recording, matchCollectives(recording)))
        if (isMeasured && (!isFigure(one.busByLeast) || !isFigure(one.busByMean)))
            return "a bandwidth that is none";
    return {};
}

std::string unpacked(const std::string &gzip)
{
    z_stream stream {};
    if (inflateInit2(&stream, 15 + 16) != Z_OK)
        return {};
    std::string text;
    std::array<char, 4096> block;
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(gzip.data()));
    stream.avail_in = static_cast<uInt>(gzip.size());
    int state = Z_OK;
    while (state == Z_OK) {
        stream.next_out = reinterpret_cast<Bytef *>(block.data());
        stream.avail_out = static_cast<uInt>(block.size());
        state = inflate(&stream, Z_NO_FLUSH);
        text.append(block.data(), block.size() - stream.avail_out);
    }
    inflateEnd(&stream);
    return state == Z_STREAM_END ? text : std::string();
}

std::string faultOfRoundTrip(const Recording &recording)
{
    const auto written = formatRecording(recording);
    if (!written)
        return "it cannot be written: " + toString(written.error());
    std::string text = unpacked(*written);
    const std::size_t size = text.size();
    text.append(kSourcePadding, '\0');
    const auto again = recording_file::readRecording(
        { "again", std::string_view(text).substr(0, size), std::int64_t(written->size()), false }, {});
    if (!again)
        return "what was written is refused: " + toString(again.error());
    if (!testing::isSame(withNumbers(recording), withNumbers(*again)))
        return "what was written reads back different:\n" + text.substr(0, 1500);
    return {};
}

} // namespace trainyard::fuzz
