// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/kineto_collect_internal.h"

#include <algorithm>

namespace trainyard::readers {

namespace {

// Of events, ns: two of them are never further apart than a recording can tell.
constexpr std::int64_t kLongest = 100'000'000'000'000'000; // three years
constexpr std::int64_t kFurthest = 2'250'000'000'000'000'000; // as Unix time the year 2041
constexpr std::size_t kLongestShape = 120; // bytes: three numbers, twice
constexpr std::int64_t kEarliest = -50'000'000'000'000'000; // a year and a half before what times count from

enum class Category : std::uint8_t {
    None,
    Kernel,
    Copy,
    Sync,
    GpuNote,
    HostNote,
    Call,
    Operator,
    Python,
    Profiler,
    Other
};

Category categoryOf(JsonValue value)
{
    using enum Category;
    const std::string_view cat = unquoted(value);
    if (cat == "cpu_op" || cat == "Operator")
        return Operator;
    if (cat == "python_function")
        return Python;
    if (cat == "kernel" || cat == "Kernel")
        return Kernel;
    if (cat.ends_with("_runtime") || cat.ends_with("_driver") || cat == "Runtime")
        return Call;
    if (cat == "gpu_memcpy" || cat == "gpu_memset" || cat == "Memcpy" || cat == "Memset")
        return Copy;
    if (cat == "cuda_sync" || cat == "xpu_sync")
        return Sync;
    if (cat == "user_annotation")
        return HostNote;
    if (cat == "gpu_user_annotation")
        return GpuNote;
    if (cat == "Trace" || cat == "overhead")
        return Profiler;
    return cat.empty() ? None : Other;
}

/// As "[32, 2, 1]", however its trace is laid out.
void appendList(std::string &text, JsonValue list)
{
    for (const char c : list)
        if (c > ' ') {
            text += c;
            text += c == ',' ? " " : "";
        }
}

std::int64_t numberOr(JsonValue value, std::int64_t otherwise)
{
    return value.empty() ? otherwise : wholeNumber(value).value_or(otherwise);
}

} // namespace

TraceCollector::TraceCollector(Recording &recording, const SourceOptions &options)
    : m_recording(recording)
    , m_options(options)
    , m_classes(options.kernels ? *options.kernels : builtinKernelClasses())
    , m_names(recording.names)
{
}

void TraceCollector::event(const TraceEvent &event)
{
    const std::string_view phase = unquoted(event.phase);
    switch (phase.empty() ? (event.duration.empty() ? '?' : 'X') : phase.front()) {
    case 'X':
        complete(event);
        break;
    case 'M':
        label(event);
        break;
    case 's':
    case 't':
    case 'f':
        lose(Lost::Flows);
        break;
    case 'C':
        lose(Lost::Counters);
        break;
    case 'B':
    case 'E':
        lose(Lost::Halves);
        break;
    default:
        lose(Lost::Instants);
    }
}

void TraceCollector::complete(const TraceEvent &event)
{
    if (!event.taskType.empty())
        return ascendTask(event);
    const auto isStep = [&] { return unquoted(event.name).starts_with(kProfilerStep); };
    const auto takeHostNote = [&] {
        if (readTimes(event))
            add(threadStreamOf(event), nameOf(event.name), RecordedWork::Annotation, -1);
    };
    switch (categoryOf(event.category)) {
    case Category::Operator: // as PyTorch before 1.10 wrote its steps
        return isStep() ? takeHostNote() : hostOperator(event);
    case Category::Python:
        if (!m_options.keepsPythonFunctions)
            return lose(Lost::Python);
        if (readTimes(event))
            add(threadStreamOf(event), nameOf(event.name), RecordedWork::HostOperator, -1);
        return;
    case Category::Call:
        return call(event);
    case Category::Kernel:
        return kernel(event, RecordedWork::Compute, true);
    case Category::Copy:
        return kernel(event, RecordedWork::Copy, false);
    case Category::Sync:
        return kernel(event, RecordedWork::Wait, false);
    case Category::HostNote:
        return takeHostNote();
    case Category::GpuNote:
        if (readTimes(event))
            add(streamOf(Place::GpuAnnotations, numberOr(event.process, -1), numberOr(event.thread, -1)),
                nameOf(event.name), RecordedWork::Annotation, -1);
        return;
    case Category::None: // Ascend's steps have no category
        return isStep() ? takeHostNote() : lose(Lost::Profiler);
    case Category::Profiler:
        return lose(Lost::Profiler);
    case Category::Other:
        if (!event.stream.empty() && wholeNumber(event.stream).value_or(-1) != -1)
            return kernel(event, RecordedWork::Other, true);
        return lose(Lost::Others);
    }
}

/// What Ascend's hardware does; only of its cores' tasks the name tells more.
void TraceCollector::ascendTask(const TraceEvent &event)
{
    const std::string_view type = unquoted(event.taskType);
    const auto has = [&](std::string_view part) { return type.find(part) != type.npos; };
    if (has("WAIT") || has("EVENT") || has("NOTIFY"))
        return kernel(event, RecordedWork::Wait, false);
    if (has("MEMCPY") || has("SDMA"))
        return kernel(event, RecordedWork::Copy, false);
    if (has("COMM") || has("HCCL") || has("REDUCE"))
        return kernel(event, RecordedWork::Communication, false);
    kernel(event, RecordedWork::Compute, true);
}

void TraceCollector::kernel(const TraceEvent &event, RecordedWork work, bool isKernel)
{
    if (!readTimes(event))
        return;
    const std::uint32_t name = nameOf(event.name);
    if (isKernel) {
        std::uint8_t &known = m_workByName[name];
        if (known == 0)
            known = static_cast<std::uint8_t>(1 + static_cast<int>(m_classes.workOf(m_recording.names[name])));
        work = static_cast<RecordedWork>(known - 1);
        if (!event.collective.empty())
            work = RecordedWork::Communication;
    }
    const std::int64_t device = numberOr(event.device, numberOr(event.process, 0));
    Stream &stream = streamOf(Place::Gpu, device, numberOr(event.stream, numberOr(event.thread, -1)));
    const std::int64_t correlation = numberOr(event.correlation, -1);
    add(stream, name, work, correlation);
    addShape(stream, event);
    if (work != RecordedWork::Communication)
        return;
    Pending pending { readCollective(event), correlation, static_cast<std::uint32_t>(m_lastStream),
        static_cast<std::uint32_t>(stream.made.spans.size() - 1) };
    pending.facts.group = groupOf(event);
    stream.collective.resize(stream.made.spans.size(), kNoIndex);
    stream.collective.back() = static_cast<std::uint32_t>(m_collectives.size());
    m_collectives.push_back(std::move(pending));
}

void TraceCollector::call(const TraceEvent &event)
{
    if (!readTimes(event))
        return;
    const std::int64_t correlation = numberOr(event.correlation, -1);
    if (correlation >= 0)
        m_launches.push_back({ correlation, m_start, threadOf(event) });
    if (m_options.keepsHostSpans)
        add(threadStreamOf(event), nameOf(event.name), RecordedWork::HostCall, correlation);
    else
        lose(Lost::Host);
}

void TraceCollector::hostOperator(const TraceEvent &event)
{
    const std::string_view name = unquoted(event.name);
    const bool isCommunication =
        !event.collective.empty() || name.starts_with("c10d::") || name.starts_with("record_param_comms");
    const bool isOfGpu = !event.stream.empty() && wholeNumber(event.stream).value_or(-1) != -1;
    if (!m_options.keepsHostSpans && !isCommunication && !isOfGpu)
        return lose(Lost::Host);
    if (!readTimes(event))
        return;
    if (isCommunication) {
        CollectiveFacts facts = readCollective(event);
        facts.group = groupOf(event);
        m_calls.push_back({ threadOf(event), m_start, m_start + m_duration, std::move(facts) });
    }
    if (!isOfGpu && !m_options.keepsHostSpans)
        return lose(Lost::Host);
    Stream &stream = isOfGpu ? streamOf(Place::HostOfGpu, numberOr(event.process, -1), numberOr(event.stream, -1))
                             : threadStreamOf(event);
    add(stream, nameOf(event.name), RecordedWork::HostOperator, isOfGpu ? numberOr(event.correlation, -1) : -1);
    if (m_options.keepsHostSpans)
        addArguments(stream, event);
}

/// Of the operator that was added last. Streams without any have no column of them.
void TraceCollector::addArguments(Stream &stream, const TraceEvent &event)
{
    const std::string *text = m_operators.argumentsOf(event);
    std::vector<std::uint32_t> &shapes = stream.made.spans.shape;
    if (!text)
        return;
    shapes.resize(stream.made.spans.size(), kNoIndex);
    shapes.back() = m_names(*text);
    m_workByName.resize(m_recording.names.size(), 0);
}

void TraceCollector::label(const TraceEvent &event)
{
    if (unquoted(event.name) == "thread_name" && !event.label.empty())
        m_threads[threadOf(event)].label = plainText(event.label);
}

bool TraceCollector::readTimes(const TraceEvent &event)
{
    const auto start = nanosecondsOf(event.start), duration = nanosecondsOf(event.duration);
    if (!start || !duration || *duration < 0 || *duration > kLongest || *start > kFurthest || *start < kEarliest) {
        lose(Lost::Times);
        return false;
    }
    m_start = *start;
    m_duration = *duration;
    return true;
}

std::uint32_t TraceCollector::nameOf(JsonValue name)
{
    if (const auto known = m_nameByText.find(name); known != m_nameByText.end())
        return known->second;
    const std::uint32_t number = m_names(plainText(name));
    m_workByName.resize(m_recording.names.size(), 0);
    m_nameByText.emplace(name, number);
    return number;
}

std::uint32_t TraceCollector::threadOf(const TraceEvent &event)
{
    if (m_lastThread < m_threads.size()) {
        const Thread &last = m_threads[m_lastThread];
        if (last.thread == event.thread && last.process == event.process)
            return m_lastThread;
    }
    std::string key(event.process);
    key += ' ';
    key += event.thread;
    const auto [at, isNew] = m_threadByText.try_emplace(std::move(key), static_cast<std::uint32_t>(m_threads.size()));
    if (isNew)
        m_threads.push_back({ std::string(event.process), std::string(event.thread), {} });
    return m_lastThread = at->second;
}

TraceCollector::Stream &TraceCollector::streamOf(Place place, std::int64_t device, std::int64_t stream)
{
    const auto isIt = [&](const Stream &one) {
        return one.place == place && one.made.stream == stream && one.made.device == device;
    };
    if (m_lastStream < m_streams.size() && isIt(m_streams[m_lastStream]))
        return m_streams[m_lastStream];
    const std::string key =
        std::to_string(static_cast<int>(place)) + ' ' + std::to_string(device) + ' ' + std::to_string(stream);
    const auto [at, isNew] = m_streamByText.try_emplace(key, m_streams.size());
    m_lastStream = at->second;
    if (isNew) {
        Stream &made = m_streams.emplace_back();
        made.place = place;
        made.made.isGpu = place == Place::Gpu || place == Place::GpuAnnotations;
        made.made.namesGpuStream = place == Place::HostOfGpu;
        made.made.device = device;
        made.made.stream = stream;
    }
    return m_streams[m_lastStream];
}

TraceCollector::Stream &TraceCollector::threadStreamOf(const TraceEvent &event)
{
    Stream &stream = streamOf(Place::Host, numberOr(event.process, -1), numberOr(event.thread, -1));
    if (stream.thread == kNoIndex)
        stream.thread = threadOf(event);
    return stream;
}

void TraceCollector::add(Stream &stream, std::uint32_t name, RecordedWork work, std::int64_t correlation)
{
    RecordedSpans &spans = stream.made.spans;
    spans.start.push_back(m_start);
    spans.duration.push_back(m_duration);
    spans.name.push_back(name);
    spans.work.push_back(work);
    if (stream.place != Place::GpuAnnotations)
        stream.correlation.push_back(correlation);
    if (!stream.collective.empty())
        stream.collective.push_back(kNoIndex);
    if (!spans.shape.empty())
        spans.shape.push_back(kNoIndex);
}

/// Of the span that was added last. Streams without any have no column of them.
void TraceCollector::addShape(Stream &stream, const TraceEvent &event)
{
    std::vector<std::uint32_t> &shapes = stream.made.spans.shape;
    if (event.grid.empty() && event.block.empty() && shapes.empty())
        return;
    shapes.resize(stream.made.spans.size(), kNoIndex);
    if (event.grid.empty() || event.block.empty() || event.grid.size() + event.block.size() > kLongestShape)
        return;
    m_shape.clear();
    appendList(m_shape, event.grid);
    m_shape += " × ";
    appendList(m_shape, event.block);
    auto known = m_shapeByText.find(m_shape);
    if (known == m_shapeByText.end())
        known = m_shapeByText.emplace(m_shape, m_names(plainText(m_shape))).first;
    m_workByName.resize(m_recording.names.size(), 0);
    shapes.back() = known->second;
}

std::uint32_t TraceCollector::groupOf(const TraceEvent &event)
{
    if (event.groupName.empty())
        return kNoIndex;
    std::string key(event.groupName);
    key += event.groupRanks;
    const auto [at, isNew] =
        m_groupByText.try_emplace(std::move(key), static_cast<std::uint32_t>(m_recording.groups.size()));
    if (isNew) {
        CommunicatorGroup &group = m_recording.groups.emplace_back();
        group.name = plainText(event.groupName);
        group.description = plainText(event.groupDescription);
        group.ranks = readRanks(unquoted(event.groupRanks));
        m_groupFacts.emplace_back();
    }
    GroupFacts &facts = m_groupFacts[at->second];
    facts.size = numberOr(event.groupSize, facts.size);
    facts.first = numberOr(event.rankStart, facts.first);
    facts.stride = numberOr(event.rankStride, facts.stride);
    return at->second;
}

} // namespace trainyard::readers
