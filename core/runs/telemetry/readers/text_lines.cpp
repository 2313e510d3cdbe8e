// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/text_lines.h"

#include "core/runs/telemetry/readers/text_scan.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace trainyard::readers {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::size_t kLongestJobName = 80, kLongestTime = 40;
constexpr int kMostPrefixes = 6; // of one line

/// Behind an escape sequence that starts at `at`.
std::size_t behindEscape(std::string_view text, std::size_t at)
{
    if (at + 1 >= text.size())
        return text.size();
    const char kind = text[at + 1];
    at += 2;
    if (kind == '[') { // CSI: parameters, then one byte from @ to ~
        while (at < text.size() && (text[at] < '@' || text[at] > '~'))
            ++at;
        return std::min(at + 1, text.size());
    }
    if (kind == ']') { // OSC: to BEL or ESC backslash
        while (at < text.size() && text[at] != '\a' && text[at] != '\x1b')
            ++at;
        return at < text.size() && text[at] == '\x1b' ? std::min(at + 2, text.size()) : std::min(at + 1, text.size());
    }
    return at;
}

/// "[rank3]:" or "[default3]:" at the start.
bool takeTorchrun(std::string_view &line, int &process)
{
    std::size_t at = 1;
    while (at < line.size() && isLetter(line[at]))
        ++at;
    std::string_view rest = line.substr(std::min(at, line.size()));
    const auto number = takeWhole(rest);
    if (line.empty() || line[0] != '[' || at == 1 || !number || !rest.starts_with("]:"))
        return false;
    process = boundedInt(*number);
    line = rest.substr(2);
    return true;
}

/// "some-job/0 [default0]:", of nemo_run, whose name of the job may be cut; "i.some-job/0 " where no torchrun is.
bool takeNemoRun(std::string_view &line, int &process)
{
    if (const std::size_t blank = line.substr(0, kLongestJobName).find(' '); line.starts_with("i.")) {
        const std::string_view job = line.substr(0, blank);
        std::string_view replica = job.substr(std::min(job.rfind('/'), job.size() - 1) + 1);
        if (blank != line.npos && takeWhole(replica) && replica.empty()) {
            line.remove_prefix(blank + 1);
            return true;
        }
    }
    const std::size_t bracket = line.substr(0, kLongestJobName).find(" [");
    if (bracket == line.npos || line.substr(0, bracket).find('/') == line.npos
        || line.substr(0, bracket).find(' ') != line.npos)
        return false;
    std::string_view rest = line.substr(bracket + 1);
    if (!takeTorchrun(rest, process))
        return false;
    line = rest;
    return true;
}

/// "12: ", of srun -l.
bool takeSrun(std::string_view &line, int &process)
{
    std::string_view rest = line;
    const auto number = takeWhole(rest);
    if (!number || !takeText(rest, ": "))
        return false;
    process = boundedInt(*number);
    line = rest;
    return true;
}

/// "[1,0]<stdout>:", of mpirun --tag-output.
bool takeMpirun(std::string_view &line, int &process)
{
    std::string_view rest = line;
    if (!takeText(rest, "[") || !takeWhole(rest) || !takeText(rest, ","))
        return false;
    const auto number = takeWhole(rest);
    if (!number || !takeText(rest, "]<std") || !(takeText(rest, "out>") || takeText(rest, "err>")))
        return false;
    takeText(rest, ":");
    process = boundedInt(*number);
    line = rest;
    return true;
}

/// "[pod/trainer-0/main] ", of kubectl logs --prefix, "(RayTrainWorker pid=7, ip=10.0.0.1) ", and "trainer-1  | " of
/// docker compose.
bool takeCluster(std::string_view &line)
{
    std::size_t end = line.npos;
    if (line.starts_with("[pod/"))
        end = line.find("] ");
    else if (line.starts_with('(') && line.substr(0, kLongestJobName).find("pid=") != line.npos)
        end = line.find(") ");
    else if (const std::size_t bar = line.substr(0, kLongestJobName).find(" | "); bar != line.npos) {
        const std::string_view name = trimmed(line.substr(0, bar));
        const std::size_t number = name.find_last_of("-_");
        const bool isService = number != name.npos && number > 0 && number + 1 < name.size()
            && std::ranges::all_of(name.substr(number + 1), isDigit)
            && std::ranges::all_of(name, [](char c) { return isNameChar(c) || c == '-' || c == '.'; });
        end = isService ? bar + 1 : line.npos;
    }
    if (end == line.npos)
        return false;
    line.remove_prefix(end + 2);
    return true;
}

/// "2024-05-01T12:00:00.123456789Z ", of kubectl logs --timestamps and docker logs -t.
bool takeTime(std::string_view &line, std::optional<Moment> &stamp)
{
    const std::size_t blank = line.substr(0, kLongestTime).find(' ');
    if (blank == line.npos || blank < 20 || line[10] != 'T' || (line[blank - 1] != 'Z' && line[blank - 6] != '+'))
        return false;
    const auto moment = momentIn(line.substr(0, blank));
    if (!moment)
        return false;
    stamp = stamp ? stamp : moment;
    line.remove_prefix(blank + 1);
    return true;
}

/// "INFO:megatron.core.timers:", of Python's logging.
bool takeLogging(std::string_view &line)
{
    static constexpr std::array<std::string_view, 4> kLevels { "INFO:", "WARNING:", "DEBUG:", "ERROR:" };
    for (const std::string_view level : kLevels) {
        if (!line.starts_with(level))
            continue;
        std::size_t at = level.size();
        while (at < line.size() && (isLetter(line[at]) || isDigit(line[at]) || line[at] == '.' || line[at] == '_'))
            ++at;
        if (at > level.size() && at < line.size() && line[at] == ':') {
            line.remove_prefix(at + 1);
            return true;
        }
    }
    return false;
}

/// Takes the prefixes of launchers off the line; whether there were any.
bool takePrefixes(TextLine &line)
{
    bool hasTaken = false;
    for (int i = 0; i < kMostPrefixes; ++i) {
        std::string_view rest = trimmedStart(line.text);
        if (!takeTorchrun(rest, line.process) && !takeSrun(rest, line.process) && !takeMpirun(rest, line.process)
            && !takeTime(rest, line.stamp) && !takeCluster(rest) && !takeNemoRun(rest, line.process)
            && !takeLogging(rest))
            break;
        line.text = rest;
        hasTaken = true;
    }
    return hasTaken;
}

} // namespace

TextLines::TextLines(std::string_view text)
    : m_text(text)
{
    if (m_text.starts_with(kByteOrderMark) || m_text.starts_with("\xff\xfe"))
        m_at = m_text.starts_with(kByteOrderMark) ? 3 : 2;
}

std::string_view TextLines::cleaned(std::string_view line)
{
    if (!std::memchr(line.data(), '\x1b', line.size()) && !std::memchr(line.data(), '\0', line.size()))
        return line;
    m_buffer.clear();
    for (std::size_t at = 0; at < line.size();) {
        if (line[at] == '\x1b') {
            at = behindEscape(line, at);
            continue;
        }
        if (line[at] != '\0')
            m_buffer.push_back(line[at]);
        ++at;
    }
    return m_buffer;
}

bool TextLines::next(TextLine &line)
{
    while (m_at < m_text.size()) {
        const std::size_t end = std::min(m_text.find_first_of("\r\n", m_at), m_text.size());
        line = { .number = m_number, .begin = m_at, .isOpen = end == m_text.size() };
        const std::string_view raw = m_text.substr(m_at, end - m_at);
        m_at = std::min(end + 1, m_text.size());
        if (end < m_text.size() && m_text[end] == '\n')
            ++m_number;
        if (raw.empty())
            continue;
        line.text = cleaned(raw);
        takePrefixes(line);
        if (!trimmed(line.text).empty())
            return true;
    }
    return false;
}

std::optional<Moment> printedAt(const TextLine &line, std::string_view part)
{
    return line.stamp ? line.stamp : stampIn(part);
}

std::optional<std::string> withoutLaunchers(std::string_view text)
{
    TextLines lines(text);
    std::string plain;
    for (TextLine line; lines.next(line);) {
        if (plain.empty() && line.text.data() == text.data() + line.begin)
            return std::nullopt;
        plain.append(line.text);
        if (!line.isOpen)
            plain.push_back('\n');
    }
    return plain.empty() ? std::nullopt : std::optional(std::move(plain));
}

} // namespace trainyard::readers
