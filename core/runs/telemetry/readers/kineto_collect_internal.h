#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the recording of one rank from the events of its trace, in two steps: while events come, spans are put into
// their streams and links are remembered; finish() turns times into moments, sorts, and resolves what a kernel's
// launch tells of it. Memory grows with what is kept, and with one small row a call that launches.

#include "core/runs/telemetry/kernel_classes.h"
#include "core/runs/telemetry/read_sources.h"
#include "core/runs/telemetry/readers/kineto_operators_internal.h"
#include "core/runs/telemetry/readers/kineto_scan_internal.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace trainyard::readers {

/// How PyTorch's profiler names its steps, before their numbers.
inline constexpr std::string_view kProfilerStep = "ProfilerStep#";

/// What a trace says of itself beside its events.
struct TraceHeader {
    bool hasBase = false;
    Moment base = 0; // Unix time that event times count from, ns
    int rank = -1, worldSize = 0;
    std::string host;
    std::vector<std::string> gpus; // by device

    /// As the trace names it. Where fewer devices are visible than there are, spans count all: one name for all then.
    [[nodiscard]] std::string gpuOf(std::int64_t device) const
    {
        if (device >= 0 && static_cast<std::size_t>(device) < gpus.size())
            return gpus[static_cast<std::size_t>(device)];
        const bool areAlike = !gpus.empty() && std::ranges::count(gpus, gpus.front()) == std::ptrdiff_t(gpus.size());
        return areAlike ? gpus.front() : std::string();
    }
    std::vector<CommunicatorGroup> groups;
};
void readHeaderEntry(std::string_view key, JsonValue value, TraceHeader &header);
/// "[0, 1, 2]", of ranks; empty where it is cut ("...") or no such list.
[[nodiscard]] std::vector<int> readRanks(std::string_view text);
/// Of "…/rank3_trace.json.gz", worker0…, …_r0of8: -1 where the name tells none.
[[nodiscard]] int rankOfFileName(std::string_view path);

/// A collective as its operator or its kernel tells it.
struct CollectiveFacts {
    std::string operation; // empty: not told
    double elements = 0, elementBytes = 0; // 0: not told
    std::uint32_t group = kNoIndex;
    std::int64_t sequence = -1;
    int trust = 0; // 3: told in words; 2: by the shapes of a c10d operator; 1: of the call below it
};
/// By the arguments of the event alone; the group is not looked up.
[[nodiscard]] CollectiveFacts readCollective(const TraceEvent &event);

class TraceCollector : public TraceSink {
public:
    TraceCollector(Recording &recording, const SourceOptions &options);
    void event(const TraceEvent &event) override;
    void header(std::string_view key, JsonValue value) override { readHeaderEntry(key, value, m_header); }
    void finish();

private:
    enum class Lost : std::uint8_t { Host, Python, Profiler, Flows, Counters, Instants, Halves, Times, Others, Twice };
    enum class Place : std::uint8_t { Gpu, GpuAnnotations, Host, HostOfGpu };
    struct Stream { // while it is filled
        Place place = Place::Host;
        RecordedStream made;
        std::vector<std::int64_t> correlation; // -1: none
        std::vector<std::uint32_t> collective; // number in m_collectives, kNoIndex: none; empty while there is none
        std::uint32_t thread = kNoIndex; // in m_threads
    };
    struct Launch {
        std::int64_t correlation, start;
        std::uint32_t thread;
    };
    struct CommunicationCall {
        std::uint32_t thread;
        std::int64_t start, end;
        CollectiveFacts facts;
    };
    struct GroupFacts {
        std::int64_t size = 0, first = -1, stride = 1;
    };

    void complete(const TraceEvent &event);
    void ascendTask(const TraceEvent &event);
    void kernel(const TraceEvent &event, RecordedWork work, bool isKernel);
    void call(const TraceEvent &event);
    void hostOperator(const TraceEvent &event);
    void label(const TraceEvent &event);
    void lose(Lost reason) { ++m_lost[static_cast<std::size_t>(reason)]; }

    bool readTimes(const TraceEvent &event);
    std::uint32_t nameOf(JsonValue name);
    std::uint32_t threadOf(const TraceEvent &event);
    Stream &streamOf(Place place, std::int64_t device, std::int64_t stream);
    Stream &threadStreamOf(const TraceEvent &event);
    void add(Stream &stream, std::uint32_t name, RecordedWork work, std::int64_t correlation);
    void addShape(Stream &stream, const TraceEvent &event);
    void addArguments(Stream &stream, const TraceEvent &event);
    std::uint32_t groupOf(const TraceEvent &event);

    // of finish(), kineto_finish.cpp
    void moveTimes();
    void sortStream(std::uint32_t index);
    [[nodiscard]] const Launch *launchOf(std::int64_t correlation) const;
    [[nodiscard]] const CollectiveFacts *callOf(std::int64_t correlation) const;
    void finishGroups();
    void finishCollectives();
    void finishSteps();
    void tellLost();

    Recording &m_recording;
    const SourceOptions &m_options;
    const KernelClasses &m_classes;
    NameTable m_names;
    struct TextHash {
        using is_transparent = void;
        std::size_t operator()(std::string_view text) const { return std::hash<std::string_view> {}(text); }
    };
    std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> m_nameByText; // as it stands in the trace
    std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>> m_shapeByText; // grid and block alike
    std::string m_shape; // as it is looked up
    OperatorTexts m_operators;
    std::vector<std::uint8_t> m_workByName; // 0: not looked up, else 1 + RecordedWork
    TraceHeader m_header;
    std::vector<Stream> m_streams;
    std::unordered_map<std::string, std::size_t> m_streamByText;
    std::size_t m_lastStream = 0;
    struct Thread {
        std::string process, thread; // as they stand in the trace
        std::string label;
    };
    std::vector<Thread> m_threads;
    std::unordered_map<std::string, std::uint32_t> m_threadByText;
    std::uint32_t m_lastThread = 0;
    std::vector<Launch> m_launches;
    std::vector<CommunicationCall> m_calls;
    struct Pending {
        CollectiveFacts facts;
        std::int64_t correlation;
        std::uint32_t stream, span;
        bool isKept = false; // false: it was there twice
    };
    std::vector<Pending> m_collectives;
    std::unordered_map<std::string, std::uint32_t> m_groupByText;
    std::vector<GroupFacts> m_groupFacts; // of Recording::groups
    std::array<std::int64_t, 10> m_lost {};
    std::int64_t m_start = 0, m_duration = 0; // of the event at hand, ns as told
};

} // namespace trainyard::readers
