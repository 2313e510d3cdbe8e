// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/telemetry/readers/chakra_internal.h"

#include "core/telemetry/kernel_classes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace trainyard::readers {

namespace {

using Bytes = std::string_view;

std::optional<std::uint64_t> takeNumber(Bytes &bytes)
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(bytes.size(), 10); ++i) {
        const auto byte = static_cast<unsigned char>(bytes[i]);
        value |= std::uint64_t(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            bytes.remove_prefix(i + 1);
            return value;
        }
    }
    return std::nullopt;
}

std::optional<Bytes> takeMessage(Bytes &bytes)
{
    Bytes rest = bytes;
    const auto size = takeNumber(rest);
    if (!size || *size > rest.size())
        return std::nullopt;
    bytes = rest.substr(*size);
    return rest.substr(0, *size);
}

struct Field {
    std::uint32_t number = 0;
    std::uint64_t value = 0; // of numbers
    Bytes bytes; // of what has a length
};
/// The next field of a message; empty at its end, or where it is none.
std::optional<Field> takeField(Bytes &message)
{
    const auto tag = takeNumber(message);
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > 100'000)
        return std::nullopt;
    Field field { static_cast<std::uint32_t>(*tag >> 3), 0, {} };
    const int wire = static_cast<int>(*tag & 7);
    if (wire == 0) {
        const auto value = takeNumber(message);
        if (!value)
            return std::nullopt;
        field.value = *value;
    } else if (wire == 2) {
        const auto bytes = takeMessage(message);
        if (!bytes)
            return std::nullopt;
        field.bytes = *bytes;
    } else {
        const std::size_t size = wire == 1 ? 8 : wire == 5 ? 4 : 0;
        if (size == 0 || size > message.size())
            return std::nullopt;
        message.remove_prefix(size);
    }
    return field;
}

struct Node {
    std::string_view name;
    std::uint64_t type = 0; // 4 computation, 5 send, 6 receive, 7 collective
    std::uint64_t start = 0, duration = 0; // microseconds
    bool hasStart = false, isHost = false;
    std::uint64_t collective = 0, bytes = 0, stream = 0;
    std::string_view group;
};

void readAttribute(Bytes bytes, Node &node)
{
    std::string_view name, text;
    std::uint64_t number = 0;
    while (const auto field = takeField(bytes)) {
        if (field->number == 1)
            name = field->bytes;
        else if (field->bytes.empty())
            number = field->value;
        else
            text = field->bytes;
    }
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

std::optional<Node> readNode(Bytes bytes)
{
    Node node;
    bool hasIdentity = false;
    while (!bytes.empty()) {
        const auto field = takeField(bytes);
        if (!field)
            return std::nullopt;
        switch (field->number) {
        case 1:
            hasIdentity = true;
            break;
        case 2:
            node.name = field->bytes;
            break;
        case 3:
            node.type = field->value;
            break;
        case 6:
            node.start = field->value;
            node.hasStart = field->value > 0;
            break;
        case 7:
            node.duration = field->value;
            break;
        case 10:
            readAttribute(field->bytes, node);
            break;
        default:
            break;
        }
    }
    return hasIdentity || !node.name.empty() ? std::optional(node) : std::nullopt;
}

constexpr std::array kCollectives { "all_reduce", "reduce", "all_gather", "gather", "scatter", "broadcast",
    "all_to_all", "reduce_scatter", "reduce_scatter_block", "barrier" }; // CollectiveCommType
constexpr std::uint64_t kMostMicroseconds = 4'000'000'000'000'000;

/// "<prefix>.<rank>.et[.gz]"
int rankOf(std::string_view file)
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
        if (node.duration > kMostMicroseconds || node.start > kMostMicroseconds
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
    const auto metadata = takeMessage(head);
    if (!metadata || metadata->size() > 4096)
        return 0;
    Bytes rest = *metadata;
    while (!rest.empty()) {
        const auto field = takeField(rest);
        if (!field || field->number > 2 || field->bytes.empty())
            return 0;
    }
    const std::size_t size = takeNumber(head).value_or(0);
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
    rank.rank = rankOf(std::string_view(source.file).substr(source.file.rfind('/') + 1));
    Maker maker(recording, options);
    Bytes bytes = source.text;
    if (!takeMessage(bytes)) { // GlobalMetadata
        made.isTruncated = true;
        bytes = {};
    }
    std::int64_t broken = 0, told = 0;
    for (std::int64_t nodes = 0; !bytes.empty(); ++nodes) {
        const auto message = takeMessage(bytes);
        if (!message) {
            made.isTruncated = true;
            break;
        }
        const auto node = readNode(*message);
        if (node)
            maker.add(*node);
        broken += node ? 0 : 1;
        if (nodes < told)
            continue;
        told = nodes + 10'000;
        if (options.stop.stop_requested())
            return std::unexpected(Error { ErrorCode::Cancelled, source.file, "cancelled", "" });
        if (options.progress)
            options.progress(1 - static_cast<double>(bytes.size()) / static_cast<double>(source.text.size()));
    }
    maker.finish();
    if (broken > 0)
        recording.sources.front().dropped.push_back({ "nodes that are no messages of Chakra", broken });
    return recording;
}

} // namespace trainyard::readers
