// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/wandb_file.h"

#include "core/base/units.h"
#include "core/runs/telemetry/readers/loose_json.h"
#include "core/runs/telemetry/readers/metric_names.h"
#include "core/runs/telemetry/readers/reading_bounds_internal.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/text_scan.h"
#include "core/runs/telemetry/readers/wandb_frames.h"
#include "core/runs/telemetry/readers/wire_message.h"
#include "core/runs/telemetry/sample_names.h"

#include <array>
#include <cmath>
#include <map>
#include <optional>

namespace trainyard::readers {

namespace {

using namespace samples;

/// What wandb's monitor calls the quantities of a GPU, behind "gpu.0.".
struct GpuRow {
    std::string_view theirs;
    const char *name, *unit;
    double factor;
};
constexpr std::array<GpuRow, 9> kGpuRows { { { "gpu", kGpuUtilization, "1", 1e-2 },
    { "memoryAllocatedBytes", kMemoryUsed, "B", 1 }, { "powerWatts", kPower, "W", 1 },
    { "temp", kTemperature, "°C", 1 }, { "smClock", kSmClock, "Hz", 1e6 }, { "smActive", kSmActive, "1", 1e-2 },
    { "dramActive", kDramActive, "1", 1e-2 }, { "pipeTensorActive", kTensorActive, "1", 1e-2 },
    { "tensorActive", kTensorActive, "1", 1e-2 } } };

struct Item {
    std::string key;
    std::string_view json;
};

/// {1 key, 2 nested_key, 16 value_json}; nested keys stand for a path.
Item itemOf(std::string_view bytes)
{
    Item item;
    std::string nested;
    WireMessage message(bytes);
    for (WireField field; message.next(field);) {
        if (field.number == 1 && field.isBytes())
            item.key = field.bytes.substr(0, 300);
        else if (field.number == 2 && field.isBytes() && nested.size() < 300)
            nested += (nested.empty() ? "" : ".") + std::string(field.bytes.substr(0, 300));
        else if (field.number == 16 && field.isBytes())
            item.json = field.bytes;
    }
    if (item.key.empty())
        item.key = std::move(nested);
    return item;
}

/// {1 seconds, 2 nanos}
std::optional<Moment> momentOf(std::string_view bytes)
{
    std::uint64_t seconds = 0, nanoseconds = 0;
    WireMessage message(bytes);
    for (WireField field; message.next(field);)
        if (field.type == 0 && (field.number == 1 || field.number == 2))
            (field.number == 1 ? seconds : nanoseconds) = field.value;
    if (seconds == 0 || double(seconds) > kMostUnixSeconds || nanoseconds > 999'999'999)
        return std::nullopt;
    return static_cast<Moment>(seconds * 1'000'000'000 + nanoseconds);
}

/// Numbers in the value, those of maps by their path.
void flatten(const std::string &key, LooseJsonValue value, std::vector<std::pair<std::string, double>> &numbers)
{
    if (value.isObject() && key.size() < 300)
        for (const LooseJsonValue one : value)
            flatten(key + "." + one.name(), one, numbers);
    else if (const auto number = value.finiteNumber())
        numbers.emplace_back(key, *number);
}

class WandbLog {
public:
    explicit WandbLog(const SourceText &source)
        : m_recording(recordingOf(source, SourceKind::WandbFile))
        , m_source(m_recording.sources.front())
    {
    }

    void record(std::string_view bytes)
    {
        bool isTaken = false;
        WireMessage message(bytes);
        for (WireField field; message.next(field);) {
            if (!field.isBytes())
                continue;
            isTaken = isTaken || field.number == 2 || field.number == 7 || field.number == 17;
            if (field.number == 2)
                history(field.bytes);
            else if (field.number == 7)
                stats(field.bytes);
            else if (field.number == 17)
                run(field.bytes);
            else if (field.number == 5)
                configuration(field.bytes);
        }
        if (isTaken)
            ++m_source.taken;
        else
            drop(m_source,
                message.isBroken() ? "records that are no messages" : "records of files, settings and output");
    }

    Recording close(const WandbFrames &frames)
    {
        m_source.isTruncated = m_source.isTruncated || frames.isTruncated();
        drop(m_source, "fragments that fail their checksum", frames.broken());
        drop(m_source, "values of steps that a later record tells again", m_book.close(m_recording, 0, "wandb"));
        return std::move(m_recording);
    }

private:
    /// {1 item, 2 step{1 num}}
    void history(std::string_view bytes)
    {
        std::vector<std::pair<std::string, double>> numbers;
        std::optional<double> step, stamp;
        WireMessage message(bytes);
        for (WireField field; message.next(field);) {
            if (field.number == 2 && field.isBytes()) {
                step = step.value_or(0); // a number of 0 is not written
                WireMessage own(field.bytes);
                for (WireField number; own.next(number);)
                    if (number.number == 1 && number.type == 0)
                        step = static_cast<double>(number.whole());
            }
            if (field.number != 1 || !field.isBytes())
                continue;
            const Item item = itemOf(field.bytes);
            LooseJson json;
            json.read(item.json);
            if (const auto value = json.root().finiteNumber(); item.key == "_step" && value)
                step = value;
            else if (item.key == "_timestamp" && value)
                stamp = value;
            else if (!item.key.starts_with('_'))
                flatten(item.key, json.root(), numbers);
        }
        const double at = step.value_or(m_nextStep);
        if (!(std::abs(at) < 1e15))
            return;
        m_nextStep = at + 1;
        for (const auto &[key, value] : numbers) {
            const MetricName metric = metricOfTag(key);
            m_book.addStep(metric.name, metric.unit, static_cast<std::int64_t>(at), value * metric.factor);
        }
        if (stamp && *stamp > 0 && *stamp < kMostUnixSeconds)
            m_book.addMoment(kStepEnded, "1", static_cast<Moment>(std::llround(*stamp * 1e6)) * 1000, at);
    }

    /// {2 timestamp, 3 item}: the monitor of the machine.
    void stats(std::string_view bytes)
    {
        std::optional<Moment> at;
        WireMessage message(bytes);
        std::vector<std::pair<std::string, double>> numbers;
        for (WireField field; message.next(field);) {
            if (field.number == 2 && field.isBytes())
                at = momentOf(field.bytes);
            else if (field.number == 3 && field.isBytes()) {
                const Item item = itemOf(field.bytes);
                if (LooseJson json; json.read(item.json))
                    flatten(item.key, json.root(), numbers);
            }
        }
        if (!at)
            return drop(m_source, "samples of the machine without a moment");
        for (const auto &[key, value] : numbers)
            sample(*at, key, value);
    }

    void sample(Moment at, std::string_view key, double value)
    {
        std::string host = m_host;
        if (const std::size_t label = key.find("/l:"); label != key.npos) {
            host = key.substr(label + 3);
            key = key.substr(0, label);
        }
        std::string_view rest = key;
        const auto gpu = takeText(rest, "gpu.") ? takeWhole(rest) : std::nullopt;
        if (gpu && takeText(rest, ".")) {
            const std::string where = (host.empty() ? "" : host + "/") + "gpu" + std::to_string(*gpu);
            for (const GpuRow &row : kGpuRows)
                if (row.theirs == rest)
                    return m_book.addMoment(row.name, row.unit, at, value * row.factor, where);
            return m_book.addMoment("log." + std::string(rest), "1", at, value, where);
        }
        if (key == "network.sent" || key == "network.recv")
            rate(at, key == "network.sent" ? kNetworkOut : kNetworkIn, std::string(key) + host, value, host);
        const bool isShare =
            key == "cpu" || key == "disk" || key == "memory" || key == "memory_percent" || key == "proc.memory.percent";
        const bool isMegabytes = key.ends_with("MB");
        m_book.addMoment("log." + std::string(key), isShare || isMegabytes ? (isShare ? "%" : "B") : "1", at,
            isMegabytes ? value * kBytesPerMiB : value, host);
    }

    /// Of a counter of bytes since the start.
    void rate(Moment at, const char *name, const std::string &counter, double value, const std::string &host)
    {
        auto &[before, last] = m_counters[counter];
        if (before > 0 && at > before && value >= last)
            m_book.addMoment(name, "B/s", at, (value - last) / (static_cast<double>(at - before) * 1e-9), host);
        before = at;
        last = value;
    }

    /// {1 id, 3 project, 4 config, 8 display name, 13 host}
    void run(std::string_view bytes)
    {
        WireMessage message(bytes);
        for (WireField field; message.next(field);) {
            if (!field.isBytes())
                continue;
            if (field.number == 4)
                configuration(field.bytes);
            else if (field.number == 13)
                m_host = field.bytes.substr(0, 200);
            else if (field.number == 8 || (field.number == 1 && m_recording.name.empty()))
                m_recording.name = field.bytes.substr(0, 200);
        }
    }

    /// {1 update{item}}
    void configuration(std::string_view bytes)
    {
        WireMessage message(bytes);
        for (WireField field; message.next(field);) {
            if (field.number != 1 || !field.isBytes() || m_recording.arguments.size() >= kMostArguments)
                continue;
            const Item item = itemOf(field.bytes);
            if (LooseJson json; json.read(item.json) && !item.key.starts_with("_wandb"))
                m_recording.arguments[item.key] = json.root().shown().substr(0, 20000);
        }
    }

    Recording m_recording;
    RecordedSource &m_source;
    SeriesBook m_book;
    std::string m_host;
    std::map<std::string, std::pair<Moment, double>> m_counters;
    double m_nextStep = 0;
};

} // namespace

int looksLikeWandb(std::string_view fileName, std::string_view head)
{
    if (head.starts_with(kWandbMagic))
        return head.size() < 7 || fromBytes<std::uint16_t>(head.substr(4)) == 0xbee1 ? 100 : 50;
    return fileName.ends_with(".wandb") ? 20 : 0;
}

Expected<Recording> readWandb(const SourceText &source, const SourceOptions &options)
{
    if (!source.text.starts_with(kWandbMagic))
        return std::unexpected(Error { ErrorCode::BadSyntax, source.file,
            "It is named like a run file of wandb, but does not begin like one", "" });
    WandbFrames frames(source.text);
    WandbLog log(source);
    ReadingPace pace(source, options);
    for (std::string_view record; frames.next(record) && !pace.isStopped(frames.position());)
        log.record(record);
    return log.close(frames);
}

int looksLikeWandbSummary(std::string_view, std::string_view head)
{
    return trimmedStart(head).starts_with('{') && head.find("\"_step\"") != head.npos
            && (head.find("\"_runtime\"") != head.npos || head.find("\"_timestamp\"") != head.npos)
            && head.find("\n{") == head.npos
        ? 92
        : 0;
}

Expected<Recording> readWandbSummary(const SourceText &source, const SourceOptions &)
{
    LooseJson json;
    json.read(source.text);
    const auto step = json.root()["_step"].number();
    if (!step || !(std::abs(*step) < 1e15))
        return std::unexpected(
            Error { ErrorCode::BadSyntax, source.file, "It is a summary of a wandb run, but tells no step", "" });
    Recording recording = recordingOf(source, SourceKind::WandbFile);
    RecordedSource &made = recording.sources.front();
    SeriesBook book;
    for (const LooseJsonValue value : json.root()) {
        std::vector<std::pair<std::string, double>> numbers;
        if (!value.key().starts_with('_'))
            flatten(value.name(), value, numbers);
        for (const auto &[key, number] : numbers) {
            const MetricName metric = metricOfTag(key);
            book.addStep(metric.name, metric.unit, static_cast<std::int64_t>(*step), number * metric.factor);
            ++made.taken;
        }
    }
    made.isTruncated = made.isTruncated || json.isTruncated();
    note(made, "It holds the last value of each quantity only");
    book.close(recording, 0, "wandb");
    return recording;
}

} // namespace trainyard::readers
