// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/kineto_event_internal.h"

#include "core/runs/telemetry/readers/json_text_internal.h"

#include <cstring>

namespace trainyard::readers {

namespace {

/// Whether the key that begins at the quote is `name`.
template <std::size_t N> bool isKey(const char *quote, std::size_t length, const char (&name)[N])
{
    return length == N - 1 && std::memcmp(quote + 1, name, N - 1) == 0;
}

JsonValue *fieldOf(TraceEvent &event, const char *key, std::size_t length)
{
    switch (key[1]) {
    case 'p':
        return isKey(key, length, "ph") ? &event.phase : isKey(key, length, "pid") ? &event.process : nullptr;
    case 't':
        return isKey(key, length, "ts") ? &event.start : isKey(key, length, "tid") ? &event.thread : nullptr;
    case 'c':
        return isKey(key, length, "cat") ? &event.category : nullptr;
    case 'n':
        return isKey(key, length, "name") ? &event.name : nullptr;
    case 'd':
        return isKey(key, length, "dur") ? &event.duration : nullptr;
    case 'i':
        return isKey(key, length, "id") ? &event.id : nullptr;
    default:
        return nullptr;
    }
}

JsonValue *argumentOf(TraceEvent &event, const char *key, std::size_t length)
{
    switch (key[1]) {
    case 's':
        return isKey(key, length, "stream") ? &event.stream : nullptr;
    case 'd':
        return isKey(key, length, "device") ? &event.device : isKey(key, length, "dtype") ? &event.dtype : nullptr;
    case 'c':
        return isKey(key, length, "correlation") ? &event.correlation : nullptr;
    case 'b':
        return isKey(key, length, "bytes") ? &event.bytes : isKey(key, length, "block") ? &event.block : nullptr;
    case 'g':
        return isKey(key, length, "grid") ? &event.grid : nullptr;
    case 'n':
        return isKey(key, length, "name") ? &event.label : nullptr;
    case 'l':
        return isKey(key, length, "labels") ? &event.label : nullptr;
    case 'I':
        return isKey(key, length, "Input Dims")   ? &event.inputDims
            : isKey(key, length, "Input type")    ? &event.inputType
            : isKey(key, length, "In msg nelems") ? &event.inElements
                                                  : nullptr;
    case 'O':
        return isKey(key, length, "Out msg nelems") ? &event.outElements : nullptr;
    case 'C':
        return isKey(key, length, "Collective name") ? &event.collective
            : isKey(key, length, "Concrete Inputs")  ? &event.inputValues
                                                     : nullptr;
    case 'S':
        return isKey(key, length, "Seq") ? &event.sequence : isKey(key, length, "Stream Id") ? &event.stream : nullptr;
    case 'T':
        return isKey(key, length, "Task Type") ? &event.taskType : nullptr;
    case 'G':
        return isKey(key, length, "Group size")        ? &event.groupSize
            : isKey(key, length, "Global rank start")  ? &event.rankStart
            : isKey(key, length, "Global rank stride") ? &event.rankStride
                                                       : nullptr;
    case 'P':
        return isKey(key, length, "Process Group Name")       ? &event.groupName
            : isKey(key, length, "Process Group Description") ? &event.groupDescription
            : isKey(key, length, "Process Group Ranks")       ? &event.groupRanks
                                                              : nullptr;
    default:
        return nullptr;
    }
}

/// The length of the key at `mark`, whose colon is the next one; npos where it is no key.
std::size_t keyLength(const MarkedText &text, std::size_t mark)
{
    const char *begin = text.text.data() + text.marks[mark];
    const char *end = text.text.data() + text.marks[mark + 1];
    while (--end > begin && isJsonBlank(*end)) { }
    return end > begin && *end == '"' ? static_cast<std::size_t>(end - begin - 1) : std::string_view::npos;
}

/// A string, number or word at `mark`: what follows it has to be the end of an entry. Strings end in a quote.
bool isScalarAt(const MarkedText &text, std::size_t mark)
{
    const char c = text.at(mark);
    if (c == '}' || c == ']' || c == ':' || c == ',')
        return false;
    const char next = text.at(mark + 1);
    if (next != ',' && next != '}' && next != ']')
        return false;
    return c != '"' || keyLength(text, mark) != std::string_view::npos;
}

} // namespace

JsonValue MarkedText::between(std::size_t first, std::size_t behind) const
{
    std::size_t begin = offset(first), end = offset(behind);
    while (end > begin && isJsonBlank(text[end - 1]))
        --end;
    return text.substr(begin, end - begin);
}

Walked skipValue(const MarkedText &text, std::size_t &mark)
{
    constexpr int kDeepest = 63;
    std::uint64_t objects = 0; // a bit a level: 1 where it is an object
    int depth = 0;
    while (true) {
        if (mark + 1 >= text.count)
            return Walked::Short;
        // a value is due, or the end of what is empty
        char c = text.at(mark);
        if (c == '{' || c == '[') {
            if (++depth > kDeepest)
                return Walked::Bad;
            objects = objects << 1 | (c == '{');
            ++mark;
            const char first = text.at(mark);
            if (first != (c == '{' ? '}' : ']')) {
                if (c == '[')
                    continue;
                goto key;
            }
        } else if (!isScalarAt(text, mark)) {
            return Walked::Bad;
        } else {
            ++mark;
            if (depth == 0)
                return Walked::Done;
        }
        // what follows a value: the ends of the lists that end here, then the next entry
        while (true) {
            if (mark >= text.count)
                return Walked::Short;
            c = text.at(mark);
            if (c == ',')
                break;
            if (c != ((objects & 1) != 0 ? '}' : ']'))
                return Walked::Bad;
            objects >>= 1;
            ++mark;
            if (--depth == 0)
                return Walked::Done;
        }
        ++mark;
        if ((objects & 1) == 0)
            continue;
    key:
        if (mark + 2 >= text.count)
            return Walked::Short;
        if (text.at(mark) != '"' || text.at(mark + 1) != ':')
            return Walked::Bad;
        mark += 2;
    }
}

namespace {

/// Reads the entries of the object at `mark`; `taken` is asked for each key where its value goes, and reads arguments.
template <class Taken> Walked readEntries(const MarkedText &text, std::size_t &mark, const Taken &taken)
{
    ++mark;
    if (mark >= text.count)
        return Walked::Short;
    if (text.at(mark) == '}') {
        ++mark;
        return Walked::Done;
    }
    while (true) {
        if (mark + 3 >= text.count)
            return Walked::Short;
        if (text.at(mark) != '"' || text.at(mark + 1) != ':')
            return Walked::Bad;
        const std::size_t length = keyLength(text, mark);
        if (length == std::string_view::npos)
            return Walked::Bad;
        const char *key = text.text.data() + text.marks[mark];
        mark += 2;
        if (const Walked walked = taken(key, length); walked != Walked::Done)
            return walked;
        if (mark >= text.count)
            return Walked::Short;
        const char c = text.at(mark);
        ++mark;
        if (c == '}')
            return Walked::Done;
        if (c != ',')
            return Walked::Bad;
    }
}

Walked takeValue(const MarkedText &text, std::size_t &mark, JsonValue *into)
{
    const std::size_t first = mark;
    const char c = text.at(mark);
    if (c == '{' || c == '[') {
        const Walked walked = skipValue(text, mark);
        if (walked != Walked::Done)
            return walked;
    } else {
        if (!isScalarAt(text, mark))
            return Walked::Bad;
        ++mark;
    }
    if (into)
        *into = text.between(first, mark);
    return Walked::Done;
}

} // namespace

Walked readEvent(const MarkedText &text, std::size_t &mark, TraceEvent &event)
{
    const auto argument = [&](const char *key, std::size_t length) {
        return takeValue(text, mark, argumentOf(event, key, length));
    };
    return readEntries(text, mark, [&](const char *key, std::size_t length) {
        if (key[1] == 'a' && isKey(key, length, "args") && text.at(mark) == '{')
            return readEntries(text, mark, argument);
        return takeValue(text, mark, fieldOf(event, key, length));
    });
}

} // namespace trainyard::readers
