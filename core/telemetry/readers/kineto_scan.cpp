// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/telemetry/readers/kineto_scan_internal.h"

#include "core/telemetry/readers/kineto_index_internal.h"

#include <algorithm>
#include <array>

namespace trainyard::readers {

namespace {

constexpr std::size_t kWindow = std::size_t(256) << 10;
constexpr std::size_t kLargest = std::size_t(16) << 20; // of one event, or of one entry of the header
constexpr std::size_t kMostWasted = 16; // times the file: looking for events in what is none has to end
constexpr std::size_t kTellEvery = std::size_t(8) << 20;

bool isBlank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\0';
}

/// Where a window of about `size` bytes may end: between two events, so that no string is cut.
std::size_t goodEnd(std::string_view text, std::size_t begin, std::size_t size)
{
    if (text.size() - begin <= size)
        return text.size();
    std::size_t at = begin + size;
    for (const std::size_t least = begin + size / 2; at > least; --at) {
        if (text[at] != '{')
            continue;
        std::size_t before = at;
        while (before > least && isBlank(text[before - 1]))
            --before;
        if (before == least || text[before - 1] != ',')
            continue;
        --before;
        while (before > least && isBlank(text[before - 1]))
            --before;
        if (before > least && text[before - 1] == '}')
            return at;
    }
    return begin + size;
}

/// Where the next event may begin: an object whose first key is one of an event's.
std::size_t nextEvent(std::string_view text, std::size_t from)
{
    static constexpr std::array<std::string_view, 7> kKeys { "\"ph\"", "\"cat\"", "\"name\"", "\"pid\"", "\"tid\"",
        "\"ts\"", "\"args\"" };
    for (std::size_t at = text.find('{', from); at != std::string_view::npos; at = text.find('{', at + 1)) {
        std::size_t key = at + 1;
        while (key < text.size() && isBlank(text[key]))
            ++key;
        const std::string_view rest = text.substr(key, 8);
        std::size_t before = at;
        while (before > from && isBlank(text[before - 1]))
            --before;
        const bool isValue = before > from && text[before - 1] == ':'; // of an event: its arguments
        if (!isValue && std::ranges::any_of(kKeys, [&](std::string_view name) { return rest.starts_with(name); }))
            return at;
    }
    return std::string_view::npos;
}

/// Whether a list, whatever it is called, begins with an event.
bool isEventList(std::string_view list)
{
    std::size_t at = 1;
    while (at < list.size() && (isBlank(list[at]) || list[at] == '{'))
        ++at;
    return list.substr(at).starts_with("\"ph\"") || list.substr(at).starts_with("\"cat\"");
}

class Scanner {
public:
    Scanner(std::string_view text, TraceSink &sink)
        : m_text(text)
        , m_sink(sink)
    {
    }

    TraceScan scan(const std::function<bool(double share)> &goesOn)
    {
        walk(goesOn);
        if (!m_scan.hasEvents && !m_scan.isCancelled) // swallowed by what stands before it and is no JSON
            if (const std::size_t first = nextEvent(m_text, 0); first != std::string_view::npos) {
                resume(first);
                walk(goesOn);
            }
        m_scan.isTruncated = m_scan.isTruncated || m_place != Place::Outside;
        return m_scan;
    }

private:
    enum class Place : std::uint8_t { Outside, Header, Events, BareEvents };

    void walk(const std::function<bool(double share)> &goesOn)
    {
        std::size_t told = 0;
        while (m_at < m_text.size()) {
            if (m_at >= told) {
                if (!goesOn(static_cast<double>(m_at) / static_cast<double>(m_text.size()))) {
                    m_scan.isCancelled = true;
                    return;
                }
                told = m_at + kTellEvery;
            }
            window();
        }
    }

    /// At an event behind what nobody can read.
    void resume(std::size_t at)
    {
        ++m_scan.broken;
        m_at = at;
        m_place = m_place == Place::BareEvents ? m_place : Place::Events;
        m_scan.hasEvents = true;
    }

    /// Goes through one window, or through a part of it; m_at is where the next one begins.
    void window()
    {
        const std::size_t end = goodEnd(m_text, m_at, m_size);
        bool isStrict = m_index.find(m_text.substr(m_at, end - m_at));
        while (true) {
            const std::string_view text = m_text.substr(m_at, end - m_at);
            if (!isStrict)
                m_index.findTolerantly(text);
            const MarkedText marked { text, m_index.marks(), m_index.size() };
            std::size_t mark = 0, first = 0;
            Walked walked = Walked::Done;
            while (mark < marked.count && walked == Walked::Done) {
                first = mark;
                walked = step(marked, mark);
                if (!isStrict && m_isEvent && !isJson(marked.between(first, mark)))
                    ++m_scan.mended;
            }
            if (walked == Walked::Done) {
                m_at = end;
                m_size = kWindow;
                return;
            }
            m_at += marked.offset(first);
            if (walked == Walked::Short || !isStrict) {
                stopped(walked, marked.offset(first) == 0, end);
                return;
            }
            isStrict = false; // the rest of the window as it was meant
        }
    }

    bool isJson(std::string_view event)
    {
        if (!m_second.find(event))
            return false;
        std::size_t mark = 0;
        return skipValue({ event, m_second.marks(), m_second.size() }, mark) != Walked::Bad;
    }

    /// At what could not be read, which begins at m_at.
    void stopped(Walked walked, bool isWholeWindow, std::size_t end)
    {
        if (walked == Walked::Short && end < m_text.size() && (!isWholeWindow || m_size < kLargest)) {
            m_size = isWholeWindow ? m_size * 2 : kWindow; // one that is longer than the window
            return;
        }
        m_size = kWindow;
        m_wasted += end - m_at;
        const std::size_t next =
            m_wasted / kMostWasted > m_text.size() + kLargest ? std::string_view::npos : nextEvent(m_text, m_at + 1);
        if (next != std::string_view::npos)
            return resume(next);
        m_scan.broken += walked == Walked::Bad ? 1 : 0;
        if (m_place != Place::Outside) { // else it is something behind the end
            m_scan.isTruncated = true;
            tail();
        }
        m_place = Place::Outside;
        m_at = m_text.size();
    }

    /// What a recording needs of the entries behind events whose end is lost.
    void tail()
    {
        static constexpr std::string_view kBase = "\"baseTimeNanoseconds\"";
        const std::size_t at = m_text.rfind(kBase);
        if (at == std::string_view::npos || at < m_at)
            return;
        std::size_t begin = at + kBase.size();
        while (begin < m_text.size() && (isBlank(m_text[begin]) || m_text[begin] == ':'))
            ++begin;
        std::size_t end = begin;
        while (end < m_text.size() && m_text[end] >= '0' && m_text[end] <= '9')
            ++end;
        if (end > begin)
            m_sink.header("baseTimeNanoseconds", m_text.substr(begin, end - begin));
    }

    Walked step(const MarkedText &text, std::size_t &mark)
    {
        m_isEvent = false;
        const char c = text.at(mark);
        switch (m_place) {
        case Place::Events:
        case Place::BareEvents:
            return eventStep(text, mark, c);
        case Place::Header:
            return headerStep(text, mark, c);
        case Place::Outside:
            break;
        }
        if (c != '{' && c != '[')
            return Walked::Bad;
        m_place = c == '{' ? Place::Header : Place::BareEvents;
        m_scan.hasEvents = m_scan.hasEvents || c == '[';
        ++mark;
        return Walked::Done;
    }

    Walked eventStep(const MarkedText &text, std::size_t &mark, char c)
    {
        if (c == ',') {
            ++mark;
            return Walked::Done;
        }
        if (c == ']') {
            m_place = m_place == Place::Events ? Place::Header : Place::Outside;
            ++mark;
            return Walked::Done;
        }
        if (c != '{')
            return Walked::Bad;
        TraceEvent event;
        const Walked walked = readEvent(text, mark, event);
        if (walked == Walked::Done) {
            m_isEvent = true;
            m_sink.event(event);
        }
        return walked;
    }

    Walked headerStep(const MarkedText &text, std::size_t &mark, char c)
    {
        if (c == ',' || c == '}') {
            m_place = c == '}' ? Place::Outside : m_place;
            ++mark;
            return Walked::Done;
        }
        if (c != '"')
            return Walked::Bad;
        if (mark + 2 >= text.count)
            return Walked::Short;
        if (text.at(mark + 1) != ':')
            return Walked::Bad;
        const std::string_view key = unquoted(text.between(mark, mark + 1));
        std::size_t at = mark + 2;
        if (text.at(at) == '[' && (key == "traceEvents" || isEventList(text.text.substr(text.offset(at))))) {
            m_place = Place::Events;
            m_scan.hasEvents = true;
            mark = at + 1;
            return Walked::Done;
        }
        const Walked walked = skipValue(text, at);
        if (walked == Walked::Done) {
            m_sink.header(key, text.between(mark + 2, at));
            mark = at;
        }
        return walked;
    }

    std::string_view m_text;
    TraceSink &m_sink;
    TraceScan m_scan;
    StructuralIndex m_index, m_second;
    std::size_t m_at = 0, m_size = kWindow;
    std::size_t m_wasted = 0; // bytes of windows in which an event could not be read
    Place m_place = Place::Outside;
    bool m_isEvent = false; // the last step read one
};

} // namespace

TraceScan scanTrace(std::string_view text, TraceSink &sink, const std::function<bool(double share)> &goesOn)
{
    if (text.starts_with("\xef\xbb\xbf"))
        text.remove_prefix(3);
    return Scanner(text, sink).scan(goesOn);
}

} // namespace trainyard::readers
