// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/log_lines.h"

#include "core/runs/telemetry/readers/log_text.h"

#include <array>
#include <cstring>

namespace trainyard::readers {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::size_t kLongestJobName = 80;

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

/// "some-job/0 [default0]:", of nemo_run; the job's name may be cut.
bool takeNemoRun(std::string_view &line, int &process)
{
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
    std::string_view rest = trimmedStart(line);
    const auto number = takeWhole(rest);
    if (!number || !rest.starts_with(": "))
        return false;
    process = boundedInt(*number);
    line = rest.substr(2);
    return true;
}

/// "[1,0]<stdout>:", of mpirun --tag-output.
bool takeMpirun(std::string_view &line, int &process)
{
    std::string_view rest = line;
    if (!takeText(rest, "[") || !takeWhole(rest) || !takeText(rest, ","))
        return false;
    const auto number = takeWhole(rest);
    if (!number || !takeText(rest, "]<std") || !(takeText(rest, "out>:") || takeText(rest, "err>:")))
        return false;
    process = boundedInt(*number);
    line = rest;
    return true;
}

/// "[pod/trainer-0/main] ", of kubectl logs --prefix, and "(RayTrainWorker pid=7, ip=10.0.0.1) ".
bool takeCluster(std::string_view &line)
{
    if (line.starts_with("[pod/"))
        if (const std::size_t end = line.find("] "); end != line.npos) {
            line.remove_prefix(end + 2);
            return true;
        }
    if (line.starts_with('(') && line.substr(0, kLongestJobName).find("pid=") != line.npos)
        if (const std::size_t end = line.find(") "); end != line.npos) {
            line.remove_prefix(end + 2);
            return true;
        }
    return false;
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

} // namespace

int takeLauncherPrefixes(std::string_view &line)
{
    int process = -1;
    for (int i = 0; i < 4; ++i)
        if (!takeTorchrun(line, process) && !takeNemoRun(line, process) && !takeSrun(line, process)
            && !takeMpirun(line, process) && !takeCluster(line) && !takeLogging(line))
            break;
    return process;
}

LogLines::LogLines(std::string_view text)
    : m_text(text)
{
    if (m_text.starts_with(kByteOrderMark) || m_text.starts_with("\xff\xfe"))
        m_at = m_text.starts_with(kByteOrderMark) ? 3 : 2;
}

std::string_view LogLines::cleaned(std::string_view line)
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

bool LogLines::next(LogLine &line)
{
    while (m_at < m_text.size()) {
        std::size_t end = m_at;
        while (end < m_text.size() && m_text[end] != '\n' && m_text[end] != '\r')
            ++end;
        line.number = m_number;
        line.isOpen = end == m_text.size();
        const std::string_view raw = m_text.substr(m_at, end - m_at);
        m_at = std::min(end + 1, m_text.size());
        if (end < m_text.size() && m_text[end] == '\n')
            ++m_number;
        if (raw.empty())
            continue;
        line.text = cleaned(raw);
        line.process = takeLauncherPrefixes(line.text);
        if (!trimmed(line.text).empty())
            return true;
    }
    return false;
}

} // namespace trainyard::readers
