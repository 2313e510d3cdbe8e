// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/printable.h"
#include "core/live/decoders/batch_maker.h"
#include "core/live/decoders/line_parser_internal.h"
#include "core/live/decoders/line_splitter.h"
#include "core/live/stream_lines.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace trainyard::live {

namespace {

constexpr std::array<std::pair<std::string_view, RecordedWork>, 8> kWorks { {
    { "compute", RecordedWork::Compute },
    { "communication", RecordedWork::Communication },
    { "copy", RecordedWork::Copy },
    { "wait", RecordedWork::Wait },
    { "host_call", RecordedWork::HostCall },
    { "host_operator", RecordedWork::HostOperator },
    { "annotation", RecordedWork::Annotation },
    { "other", RecordedWork::Other },
} };

RecordedWork workOf(std::string_view name)
{
    for (const auto &[known, work] : kWorks)
        if (known == name)
            return work;
    return RecordedWork::Other;
}

LineParser &parserOfThread()
{
    thread_local LineParser parser;
    return parser;
}

/// Its columns grow with the longest line: one of a thread, not of a connection.
LineEvent &eventOfThread()
{
    thread_local LineEvent event;
    return event;
}

Error spokenElse(const std::string &name, std::string_view seen)
{
    return { ErrorCode::BadSyntax, name, "it began with \"" + printable(shortened(seen, 60)) + "\"",
        "lines of JSON, first {\"event\":\"hello\",\"format\":\"" + std::string(kStreamFormat)
            + "\",\"version\":" + std::to_string(kStreamVersion) + ",…}" };
}

class LinesDecoder final : public Decoder {
public:
    LinesDecoder(std::string name, const DecoderLimits &limits)
        : m_name(name)
        , m_limits(limits)
        , m_lines(limits.lineBytes)
        , m_maker(std::move(name), SourceKind::Recording, limits)
    {
    }

    Expected<void> take(std::string_view bytes, Moment received, const BatchOut &out) override
    {
        m_received = received;
        m_event = &eventOfThread();
        m_out = &out;
        m_maker.addBytes(bytes.size());
        Expected<void> result;
        if (!m_hasBegun)
            result = lookAtBegin(bytes);
        if (result)
            m_lines.take(bytes, [&](char *line, std::size_t size) {
                result = takeLine(line, size);
                return result.has_value();
            });
        countLongLines();
        giveOut(1);
        std::string().swap(m_mended);
        m_out = nullptr;
        return result;
    }

    void end(Moment received, const BatchOut &out) override
    {
        m_received = received;
        m_event = &eventOfThread();
        m_out = &out;
        m_lines.end([&](char *line, std::size_t size) {
            if (parserOfThread().parse(line, size, *m_event))
                m_maker.drop("a last line that is cut");
            else
                (void)takeLine(line, size);
            return true;
        });
        countLongLines();
        giveOut(1);
        std::string().swap(m_mended);
        m_out = nullptr;
    }

    void skip(std::int64_t bytes) override
    {
        m_lines.skip();
        m_maker.drop("bytes that were lost on their way", bytes);
        m_wasSkipped = m_hasBegun = true;
    }

private:
    /// The first byte that is no blank tells who speaks otherwise, before a line of theirs ends.
    Expected<void> lookAtBegin(std::string_view bytes)
    {
        const std::size_t first = bytes.find_first_not_of(std::string_view(" \t\r\n\0\xef\xbb\xbf", 8));
        if (first == std::string_view::npos)
            return {};
        m_hasBegun = true;
        if (bytes[first] == '{')
            return {};
        return std::unexpected(spokenElse(m_name, bytes.substr(first)));
    }

    void countLongLines()
    {
        if (const std::int64_t count = m_lines.takeLongLines(); count > 0)
            m_maker.drop("lines longer than " + std::to_string(m_limits.lineBytes) + " bytes", count);
    }

    void giveOut(std::size_t least)
    {
        if (m_maker.events() >= least || (least == 1 && !m_maker.isEmpty()))
            (*m_out)(m_maker.take(m_received));
    }

    Expected<void> takeLine(char *line, std::size_t size)
    {
        ++m_number;
        while (size > 0 && std::strchr(" \t\r\xef\xbb\xbf", *line)) // blanks, NUL bytes and a byte order mark
            ++line, --size;
        while (size > 0 && std::strchr(" \t\r", line[size - 1]))
            --size;
        if (size == 0)
            return {};
        const char *fault = parserOfThread().parse(line, size, *m_event);
        if (fault && std::memchr(line, 0, size)) {
            size = static_cast<std::size_t>(std::remove(line, line + size, '\0') - line);
            fault = parserOfThread().parse(line, size, *m_event);
        }
        if (fault && !isUtf8({ line, size })) {
            m_mended.assign(mended({ line, size }));
            m_mended.append(LineParser::kPadding, '\0');
            fault = parserOfThread().parse(m_mended.data(), m_mended.size() - LineParser::kPadding, *m_event);
            m_maker.note(
                "Line " + std::to_string(m_number) + " has bytes that are no UTF-8: they are read as \xef\xbf\xbd");
        }
        if (!fault && !m_event->hasEvent)
            fault = "has no \"event\"";
        if (!m_hasHello && !m_wasSkipped) {
            if (fault)
                return std::unexpected(spokenElse(m_name, { line, size }));
            if (m_event->kind != LineEventKind::Hello)
                m_maker.note(
                    "It began without a hello: whose events they are is known of those alone that name a rank");
        }
        m_hasHello = true;
        if (!fault)
            return apply();
        return bad(fault), Expected<void>();
    }

    static std::string mended(std::string_view text)
    {
        std::string made;
        for (std::size_t at = 0; at < text.size();) {
            const auto lead = static_cast<unsigned char>(text[at]);
            const std::size_t size = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
            if (at + size <= text.size() && isUtf8(text.substr(at, size)))
                made += text.substr(at, size), at += size;
            else
                made += "\xef\xbf\xbd", ++at;
        }
        return made;
    }

    void bad(const std::string &fault)
    {
        m_maker.drop("lines that cannot be read");
        if (!m_hasBad)
            m_maker.note("Line " + std::to_string(m_number) + " " + fault + ": it is left out, and others like it");
        m_hasBad = true;
    }

    Expected<void> apply()
    {
        const auto size = m_event->size();
        if (!size)
            return bad("has columns of unequal lengths"), Expected<void>();
        switch (m_event->kind) {
        case LineEventKind::Hello:
            return hello();
        case LineEventKind::Arguments:
            for (const auto &[name, value] : m_event->arguments)
                m_maker.addArgument(name, value);
            break;
        case LineEventKind::Group:
            m_maker.setGroup(m_event->name.at(0, {}), m_event->description, m_event->ranks);
            break;
        case LineEventKind::Step:
            eachOf(*size, [&](std::size_t i) { step(i); });
            break;
        case LineEventKind::Span:
            eachOf(*size, [&](std::size_t i) { span(i); });
            break;
        case LineEventKind::Collective:
            eachOf(*size, [&](std::size_t i) { collective(i); });
            break;
        case LineEventKind::Sample:
            eachOf(*size, [&](std::size_t i) { sample(i); });
            break;
        case LineEventKind::End:
            break;
        case LineEventKind::Unknown:
            m_maker.drop("events of a kind that this version does not know");
            break;
        }
        return {};
    }

    template <class Take> void eachOf(std::size_t size, const Take &take)
    {
        for (std::size_t i = 0; i < size; ++i) {
            take(i);
            giveOut(m_limits.batchEvents);
        }
    }

    Expected<void> hello()
    {
        if (m_event->format != kStreamFormat || m_event->version != kStreamVersion)
            return std::unexpected(Error { ErrorCode::BadSyntax, m_name,
                "its hello speaks \"" + printable(shortened(m_event->format)) + "\", version "
                    + std::to_string(m_event->version),
                "\"" + std::string(kStreamFormat) + "\", version " + std::to_string(kStreamVersion) });
        if (!m_event->run.empty())
            m_maker.setRun(m_event->run);
        const Speaker who { m_event->rank.value_or(-1), m_event->host.value_or(std::string_view()) };
        if (m_hellos.empty())
            m_rank = who.rank;
        keepHello(who);
        const std::int64_t world = std::clamp<std::int64_t>(m_event->worldSize, 0, 1 << 24);
        if (m_event->rank || m_event->host || world > 0 || !m_event->gpu.empty())
            m_maker.setRank(who, static_cast<int>(world), m_event->gpu);
        return {};
    }

    /// The host of a rank, for events that tell the rank alone.
    void keepHello(const Speaker &who)
    {
        const std::string_view host = who.host.substr(0, 1'000);
        const auto known = m_hellos.find(who.rank);
        const std::size_t held = known != m_hellos.end() ? known->second.size() : 0;
        const std::size_t more = known != m_hellos.end() ? 0 : 96; // of a place in the table, about
        if (known == m_hellos.end() && m_hellos.size() >= m_limits.ranks)
            return;
        if (host.size() + more > held && !m_maker.room().take(host.size() + more - held))
            return m_maker.drop("hellos that there is no room for");
        if (host.size() + more < held)
            m_maker.room().giveBack(held - host.size() - more);
        m_hellos.insert_or_assign(who.rank, std::string(host));
    }

    [[nodiscard]] Speaker speaker() const
    {
        const int rank = m_event->rank.value_or(m_rank);
        if (m_event->host)
            return { rank, *m_event->host };
        const auto said = m_hellos.find(rank);
        return { rank, said != m_hellos.end() ? std::string_view(said->second) : std::string_view() };
    }

    void step(std::size_t i)
    {
        const std::int64_t number = m_event->number.at(i, kNoMoment);
        const Moment start = m_event->start.at(i, kNoMoment), end = m_event->end.at(i, kNoMoment);
        if (number == kNoMoment)
            return m_maker.drop("steps without a number");
        if (const std::uint32_t rank = m_maker.rank(speaker()); rank != kNoIndex)
            m_maker.addStep(rank, number, start, end);
    }

    std::uint32_t addSpan(
        std::uint32_t rank, std::uint32_t stream, std::size_t i, std::string_view name, RecordedWork work)
    {
        return m_maker.addSpan(rank, stream,
            { m_event->start.at(i, kNoMoment), durationAt(i), m_maker.name(name), work,
                m_event->launched.at(i, kNoMoment) });
    }

    [[nodiscard]] std::int64_t durationAt(std::size_t i) const
    {
        const Moment start = m_event->start.at(i, kNoMoment), end = m_event->end.at(i, kNoMoment);
        if (end == kNoMoment || m_event->duration.isTold())
            return m_event->duration.at(i, 0);
        return start >= 0 && end >= start ? end - start : -1;
    }

    [[nodiscard]] BatchMaker::StreamAsked streamAsked() const
    {
        return { m_event->stream, m_event->isGpu, m_event->device, m_event->streamNumber };
    }

    void span(std::size_t i)
    {
        const std::uint32_t rank = m_maker.rank(speaker());
        const std::uint32_t stream = rank == kNoIndex ? kNoIndex : m_maker.stream(rank, streamAsked());
        if (stream != kNoIndex)
            addSpan(rank, stream, i, m_event->name.at(i, {}), workOf(m_event->work.at(i, "other")));
    }

    /// One that names a stream is drawn there too.
    void collective(std::size_t i)
    {
        const std::uint32_t rank = m_maker.rank(speaker());
        if (rank == kNoIndex)
            return;
        const std::string_view operation = m_event->operation.at(i, {}), group = m_event->group.at(i, {});
        RecordedCollective made { .operation = m_maker.name(operation),
            .bytes = m_event->bytes.at(i, 0),
            .start = m_event->start.at(i, kNoMoment),
            .duration = durationAt(i) };
        made.sequence = std::max<std::int64_t>(m_event->sequence.at(i, -1), -1);
        if (!group.empty())
            made.group = m_maker.group(group);
        if (!m_event->stream.empty() || m_event->streamNumber != 0) {
            made.stream = m_maker.stream(rank, streamAsked());
            if (made.stream != kNoIndex)
                made.span = addSpan(rank, made.stream, i, m_event->name.at(i, operation),
                    m_event->work.isTold() ? workOf(m_event->work.at(i, {})) : RecordedWork::Communication);
            if (made.span == kNoIndex)
                return;
        }
        m_maker.addCollective(rank, made);
    }

    void sample(std::size_t i)
    {
        const bool isByStep = m_event->step.isTold();
        const std::string_view name = m_event->name.at(i, {});
        if (name.empty() || !m_event->value.isTold())
            return m_maker.drop("samples without a name or a value");
        const std::uint32_t series = m_maker.series({ name, m_event->unit, m_event->where,
            m_event->rank.value_or(m_event->where.empty() ? m_rank : -1), isByStep });
        if (series == kNoIndex)
            return;
        const Moment at = isByStep ? m_event->step.at(i, kNoMoment)
            : m_event->at.isTold() ? m_event->at.at(i, kNoMoment)
                                   : m_received;
        m_maker.addSample(series, at, m_event->value.at(i, std::numeric_limits<double>::quiet_NaN()));
    }

    std::string m_name;
    DecoderLimits m_limits;
    LineSplitter m_lines;
    BatchMaker m_maker;
    LineEvent *m_event = nullptr; // of the thread that decodes
    std::string m_mended;
    std::unordered_map<int, std::string> m_hellos; // rank → host
    int m_rank = -1; // of events that name none
    bool m_hasBegun = false, m_hasHello = false, m_wasSkipped = false, m_hasBad = false;
    std::int64_t m_number = 0; // of the line
    Moment m_received = 0;
    const BatchOut *m_out = nullptr;
};

} // namespace

DecoderPtr makeLinesDecoder(std::string name, const DecoderLimits &limits)
{
    return std::make_unique<LinesDecoder>(std::move(name), limits);
}

} // namespace trainyard::live
