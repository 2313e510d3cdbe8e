// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/chakra_internal.h"

#include "core/runs/telemetry/kernel_classes.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/wire_message.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace trainyard::readers {

namespace {

struct Node {
    std::string_view name;
    std::uint64_t type = 0; // 4 computation, 5 send, 6 receive, 7 collective
    std::uint64_t start = 0, duration = 0; // microseconds
    bool hasStart = false, isHost = false;
    std::uint64_t collective = 0, bytes = 0, stream = 0;
    std::string_view group;
};

void readAttribute(std::string_view bytes, Node &node)
{
    std::string_view name, text;
    std::uint64_t number = 0;
    WireMessage fields(bytes);
    for (WireField field; fields.next(field);)
        if (field.number == 1)
            name = field.bytes;
        else if (field.isBytes())
            text = field.bytes;
        else if (field.type == 0)
            number = field.value;
    if (name == "is_cpu_op")
        node.isHost = number != 0;
    else if (name == "comm_type")
        node.collective = number;
    else if (name == "comm_size")
        node.bytes = number;
    else if (name == "stream" || name == "tid")
        node.stream = name == "stream" || node.stream == 0 ? number : node.stream;
    else if (name == "pg_name")
        node.group = text;
}

std::optional<Node> readNode(std::string_view bytes)
{
    Node node;
    bool hasIdentity = false;
    WireMessage fields(bytes);
    for (WireField field; fields.next(field);) {
        switch (field.number) {
        case 1:
            hasIdentity = true;
            break;
        case 2:
            node.name = field.bytes;
            break;
        case 3:
            node.type = field.value;
            break;
        case 6:
            node.start = field.value;
            node.hasStart = field.value > 0;
            break;
        case 7:
            node.duration = field.value;
            break;
        case 10:
            readAttribute(field.bytes, node);
            break;
        default:
            break;
        }
    }
    if (fields.isBroken())
        return std::nullopt;
    return hasIdentity || !node.name.empty() ? std::optional(node) : std::nullopt;
}

constexpr std::array kCollectives { "all_reduce", "reduce", "all_gather", "gather", "scatter", "broadcast",
    "all_to_all", "reduce_scatter", "reduce_scatter_block", "barrier" }; // CollectiveCommType
constexpr std::uint64_t kMostTraceMicroseconds = 4'000'000'000'000'000; // as Unix time the year 2096

/// "<prefix>.<rank>.et[.gz]"
int rankOfFile(std::string_view file)
{
    const std::size_t end = file.rfind(".et");
    const std::size_t begin = end == std::string_view::npos ? end : file.substr(0, end).rfind('.');
    int rank = -1;
    if (begin == std::string_view::npos)
        return -1;
    const auto read = std::from_chars(file.data() + begin + 1, file.data() + end, rank);
    return read.ec == std::errc() && read.ptr == file.data() + end && rank >= 0 ? rank : -1;
}

class Maker {
public:
    Maker(Recording &recording, const SourceOptions &options)
        : m_recording(recording)
        , m_classes(options.kernels ? *options.kernels : builtinKernelClasses())
        , m_names(recording.names)
        , m_keepsHost(options.keepsHostSpans)
    {
    }

    void add(const Node &node)
    {
        const bool isCommunication = node.type >= 5 && node.type <= 7;
        if (node.duration > kMostTraceMicroseconds / 2 || node.start > kMostTraceMicroseconds
            || (node.isHost && !m_keepsHost && !isCommunication)) {
            ++(node.isHost ? m_host : m_odd);
            return;
        }
        RankRecording &rank = m_recording.ranks.front();
        const auto number = static_cast<std::int64_t>(node.stream);
        auto stream = std::ranges::find_if(
            rank.streams, [&](const RecordedStream &one) { return one.isGpu != node.isHost && one.stream == number; });
        if (stream == rank.streams.end()) {
            stream = rank.streams.emplace(rank.streams.end());
            stream->isGpu = !node.isHost;
            stream->stream = number;
        }
        RecordedSpans &spans = stream->spans;
        const Moment before = spans.size() == 0 ? 0 : spans.start.back() + spans.duration.back();
        if (!node.hasStart && before > static_cast<Moment>(kMostTraceMicroseconds) * 1000) {
            ++m_odd;
            return;
        }
        const Moment start = node.hasStart ? static_cast<Moment>(node.start) * 1000 : before;
        spans.start.push_back(start);
        spans.duration.push_back(static_cast<std::int64_t>(node.duration) * 1000);
        spans.name.push_back(m_names(node.name));
        spans.work.push_back(isCommunication ? RecordedWork::Communication
                : node.isHost                ? RecordedWork::HostOperator
                                             : m_classes.workOf(node.name));
        m_starts += node.hasStart ? 1 : 0;
        m_laid += node.hasStart ? 0 : 1;
        if (isCommunication)
            addCollective(node, static_cast<std::uint32_t>(stream - rank.streams.begin()), spans);
    }

    void finish()
    {
        RecordedSource &source = m_recording.sources.front();
        source.taken = m_starts + m_laid;
        if (m_laid > 0)
            source.notes.push_back("It tells durations but no starts: spans of a stream stand one after the other");
        if (m_host > 0)
            source.dropped.push_back({ "operators of the host", m_host });
        if (m_odd > 0)
            source.dropped.push_back({ "nodes whose times cannot be", m_odd });
        if (m_starts == 0)
            return;
        for (RecordedStream &stream : m_recording.ranks.front().streams)
            sort(stream);
        std::ranges::stable_sort(m_recording.ranks.front().collectives, {}, &RecordedCollective::start);
    }

private:
    void addCollective(const Node &node, std::uint32_t stream, const RecordedSpans &spans)
    {
        RecordedCollective &made = m_recording.ranks.front().collectives.emplace_back();
        made.operation = m_names(node.type == 5         ? "send"
                : node.type == 6                        ? "recv"
                : node.collective < kCollectives.size() ? kCollectives[node.collective]
                                                        : "unknown");
        made.bytes = static_cast<double>(node.bytes);
        made.start = spans.start.back();
        made.duration = spans.duration.back();
        made.stream = stream;
        made.span = static_cast<std::uint32_t>(spans.size() - 1);
        if (node.group.empty())
            return;
        const auto known = std::ranges::find(m_recording.groups, node.group, &CommunicatorGroup::name);
        made.group = static_cast<std::uint32_t>(known - m_recording.groups.begin());
        if (known == m_recording.groups.end())
            m_recording.groups.push_back({ std::string(node.group), {}, {} });
    }

    /// By start; what points at its spans is moved with them.
    void sort(RecordedStream &stream)
    {
        RecordedSpans &spans = stream.spans;
        std::vector<std::uint32_t> order(spans.size()), placeOf(spans.size());
        for (std::uint32_t i = 0; i < order.size(); ++i)
            order[i] = i;
        std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
            return std::pair(spans.start[a], -spans.duration[a]) < std::pair(spans.start[b], -spans.duration[b]);
        });
        RecordedSpans sorted;
        for (std::uint32_t i = 0; i < order.size(); ++i) {
            placeOf[order[i]] = i;
            sorted.start.push_back(spans.start[order[i]]);
            sorted.duration.push_back(spans.duration[order[i]]);
            sorted.name.push_back(spans.name[order[i]]);
            sorted.work.push_back(spans.work[order[i]]);
        }
        spans = std::move(sorted);
        RankRecording &rank = m_recording.ranks.front();
        const auto index = static_cast<std::uint32_t>(&stream - rank.streams.data());
        for (RecordedCollective &collective : rank.collectives)
            if (collective.stream == index)
                collective.span = placeOf[collective.span];
    }

    Recording &m_recording;
    const KernelClasses &m_classes;
    NameTable m_names;
    bool m_keepsHost;
    std::int64_t m_starts = 0, m_laid = 0, m_host = 0, m_odd = 0;
};

} // namespace

int looksLikeChakra(std::string_view fileName, std::string_view head)
{
    const auto metadata = takeDelimited(head);
    if (!metadata || metadata->size() > 4096)
        return 0;
    WireMessage fields(*metadata);
    for (WireField field; fields.next(field);)
        if (field.number > 2 || !field.isBytes() || field.bytes.empty())
            return 0;
    if (fields.isBroken())
        return 0;
    const std::size_t size = takeVarint(head).value_or(0);
    if (size < 2 || !head.starts_with('\x08'))
        return head.empty() && fileName.find(".et") != std::string_view::npos ? 60 : 0;
    return fileName.find(".et") != std::string_view::npos ? 95 : 75;
}

Expected<Recording> readChakra(const SourceText &source, const SourceOptions &options)
{
    Recording recording;
    RecordedSource &made = recording.sources.emplace_back();
    made.file = source.file;
    made.kind = SourceKind::ChakraTrace;
    made.bytes = source.packedBytes;
    made.isTruncated = source.isTruncated;
    RankRecording &rank = recording.ranks.emplace_back();
    rank.source = 0;
    rank.rank = rankOfFile(std::string_view(source.file).substr(source.file.rfind('/') + 1));
    Maker maker(recording, options);
    std::string_view bytes = source.text;
    if (!takeDelimited(bytes)) { // GlobalMetadata
        made.isTruncated = true;
        bytes = {};
    }
    std::int64_t broken = 0;
    ReadingPace pace(source, options);
    while (!bytes.empty() && !pace.isStopped(source.text.size() - bytes.size())) {
        const auto message = takeDelimited(bytes);
        if (!message) {
            made.isTruncated = true;
            break;
        }
        const auto node = readNode(*message);
        if (node)
            maker.add(*node);
        broken += node ? 0 : 1;
    }
    maker.finish();
    if (broken > 0)
        recording.sources.front().dropped.push_back({ "nodes that are no messages of Chakra", broken });
    return recording;
}

} // namespace trainyard::readers
