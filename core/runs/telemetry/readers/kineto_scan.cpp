// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/kineto_scan_internal.h"

#include "core/runs/telemetry/readers/json_text_internal.h"
#include "core/runs/telemetry/readers/kineto_index_internal.h"

#include <algorithm>
#include <array>

namespace trainyard::readers {

namespace {

constexpr std::size_t kWindow = std::size_t(256) << 10;
constexpr std::size_t kLargest = std::size_t(16) << 20; // of one event, or of one entry of the header
constexpr std::size_t kMostWasted = 16; // times the file: looking for events in what is none has to end
constexpr std::size_t kTellEvery = std::size_t(4) << 20;
constexpr std::size_t kSearched = std::size_t(1) << 20; // at once
constexpr std::size_t kAround = std::size_t(4) << 10; // of what is looked for: blanks and the word that tells it

/// Where a window of about `size` bytes may end: between two events, so that no string is cut.
std::size_t goodEnd(std::string_view text, std::size_t size)
{
    if (text.size() <= size)
        return text.size();
    std::size_t at = size;
    for (const std::size_t least = size / 2; at > least; --at) {
        if (text[at] != '{')
            continue;
        std::size_t before = at;
        while (before > least && isJsonBlank(text[before - 1]))
            --before;
        if (before == least || text[before - 1] != ',')
            continue;
        --before;
        while (before > least && isJsonBlank(text[before - 1]))
            --before;
        if (before > least && text[before - 1] == '}')
            return at;
    }
    return size;
}

/// Where in [from, end) the next event may begin: an object whose first key is one of an event's. npos: nowhere.
std::size_t nextEvent(std::string_view text, std::size_t from, std::size_t end)
{
    static constexpr std::array<std::string_view, 7> kKeys { "\"ph\"", "\"cat\"", "\"name\"", "\"pid\"", "\"tid\"",
        "\"ts\"", "\"args\"" };
    for (std::size_t at = text.find('{', from); at < end; at = text.find('{', at + 1)) {
        std::size_t key = at + 1;
        while (key < text.size() && isJsonBlank(text[key]))
            ++key;
        const std::string_view rest = text.substr(key, 8);
        std::size_t before = at;
        const std::size_t least = std::min<std::size_t>(from, 1);
        while (before > least && isJsonBlank(text[before - 1]))
            --before;
        const bool isValue = before > least && text[before - 1] == ':'; // of an event: its arguments
        if (!isValue && std::ranges::any_of(kKeys, [&](std::string_view name) { return rest.starts_with(name); }))
            return at;
    }
    return std::string_view::npos;
}

/// The digits behind the last "baseTimeNanoseconds"; empty where there are none.
std::string_view lastBase(std::string_view text)
{
    static constexpr std::string_view kBase = "\"baseTimeNanoseconds\"";
    std::size_t begin = text.rfind(kBase);
    if (begin == std::string_view::npos)
        return {};
    begin += kBase.size();
    while (begin < text.size() && (isJsonBlank(text[begin]) || text[begin] == ':'))
        ++begin;
    std::size_t end = begin;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9')
        ++end;
    return text.substr(begin, end - begin);
}

/// Whether a list, whatever it is called, begins with an event.
bool isEventList(std::string_view list)
{
    std::size_t at = 1;
    while (at < list.size() && (isJsonBlank(list[at]) || list[at] == '{'))
        ++at;
    return list.substr(at).starts_with("\"ph\"") || list.substr(at).starts_with("\"cat\"");
}

class Scanner {
public:
    Scanner(SourceStream &stream, TraceSink &sink, const std::function<bool(double share)> &goesOn)
        : m_stream(stream)
        , m_sink(sink)
        , m_goesOn(goesOn)
        , m_text(stream)
    {
    }

    TraceScan scan()
    {
        skipMark();
        walk();
        if (!m_scan.hasEvents && !m_scan.isCancelled) { // swallowed by what stands before it and is no JSON
            m_text.rewind();
            skipMark();
            if (toNextEvent(0)) {
                resume();
                walk();
            }
        }
        m_scan.isTruncated = m_scan.isTruncated || m_place != Place::Outside;
        return m_scan;
    }

private:
    enum class Place : std::uint8_t { Outside, Header, Events, BareEvents };

    void skipMark() // a byte order mark
    {
        if (m_text.view(3).starts_with("\xef\xbb\xbf"))
            m_text.advance(3);
    }

    /// False: it was cancelled.
    bool tell()
    {
        if (m_text.bytesSeen() < m_told)
            return true;
        m_told = m_text.bytesSeen() + kTellEvery;
        m_scan.isCancelled = !m_goesOn(m_stream.share());
        return !m_scan.isCancelled;
    }

    void walk()
    {
        while (tell() && !m_text.view(1).empty())
            window();
    }

    /// At an event behind what nobody can read.
    void resume()
    {
        ++m_scan.broken;
        m_place = m_place == Place::BareEvents ? m_place : Place::Events;
        m_scan.hasEvents = true;
    }

    /// Goes through one window, or through a part of it, and past what it has read.
    void window()
    {
        const std::string_view all = m_text.view(m_size + 1);
        const std::size_t end = goodEnd(all, m_size);
        std::size_t at = 0;
        bool isStrict = m_index.find(all.substr(0, end));
        while (true) {
            const std::string_view text = all.substr(at, end - at);
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
                m_text.advance(end);
                m_size = kWindow;
                return;
            }
            at += marked.offset(first);
            if (walked == Walked::Short || !isStrict) {
                m_text.advance(at);
                stopped(walked, marked.offset(first) == 0, end < all.size(), end - at);
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

    /// At what could not be read, which is `size` bytes to the end of the window.
    void stopped(Walked walked, bool isWholeWindow, bool isMore, std::size_t size)
    {
        if (walked == Walked::Short && isMore && (!isWholeWindow || m_size < kLargest)) {
            m_size = isWholeWindow ? m_size * 2 : kWindow; // one that is longer than the window
            return;
        }
        m_size = kWindow;
        m_wasted += size;
        m_looksOn = m_wasted / kMostWasted <= m_text.bytesSeen() + kLargest;
        if (toNextEvent(1))
            return resume();
        m_scan.broken += walked == Walked::Bad ? 1 : 0;
        if (m_place != Place::Outside) { // else it is something behind the end
            m_scan.isTruncated = true;
            if (!m_base.empty()) // what a recording needs of the entries behind events whose end is lost
                m_sink.header("baseTimeNanoseconds", m_base);
        }
        m_place = Place::Outside;
    }

    /// Goes on to where the next event may begin, `from` bytes or more from here; to the end where there is none.
    bool toNextEvent(std::size_t from)
    {
        m_base.clear();
        while (tell()) {
            const std::string_view text = m_text.view(kSearched);
            const std::size_t reach = m_text.isLast() ? text.size() : text.size() - kAround;
            if (m_looksOn)
                if (const std::size_t at = nextEvent(text, from, reach); at < reach) {
                    m_text.advance(at);
                    return true;
                }
            if (const std::string_view base = lastBase(text); !base.empty())
                m_base = base;
            if (m_text.isLast())
                break;
            m_text.advance(reach - kAround);
            from = kAround;
        }
        m_text.toEnd();
        return false;
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

    SourceStream &m_stream;
    TraceSink &m_sink;
    const std::function<bool(double share)> &m_goesOn;
    SlidingText m_text;
    TraceScan m_scan;
    StructuralIndex m_index, m_second;
    std::size_t m_size = kWindow, m_told = 0;
    std::size_t m_wasted = 0; // bytes of windows in which an event could not be read
    std::string m_base; // the last one that toNextEvent() went past
    Place m_place = Place::Outside;
    bool m_isEvent = false; // the last step read one
    bool m_looksOn = true; // for events behind what nobody can read
};

} // namespace

TraceScan scanTrace(SourceStream &stream, TraceSink &sink, const std::function<bool(double share)> &goesOn)
{
    return Scanner(stream, sink, goesOn).scan();
}

} // namespace trainyard::readers
