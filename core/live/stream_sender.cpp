// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/live/stream_sender.h"

#include "core/live/batch.h"
#include "core/live/recording_slices.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace trainyard::live {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kBlock = std::size_t(64) << 10; // bytes
constexpr double kUntilRoom = 0.01, kLongestWait = 1; // s
constexpr Moment kBetweenRepeats = 1'000'000; // ns

bool isBeginning(std::string_view line)
{
    const auto is = [&](std::string_view event) {
        constexpr std::string_view start = "{\"event\":\"";
        return line.starts_with(start) && line.substr(start.size()).starts_with(event)
            && line.substr(start.size() + event.size()).starts_with('"');
    };
    return is("hello") || is("arguments") || is("group");
}

bool isEnd(std::string_view line)
{
    return line.starts_with("{\"event\":\"end\"");
}

class Teller {
public:
    Teller(const Recording &recording, const StreamParts &parts, const TellOptions &options, const Telling &telling)
        : m_recording(recording)
        , m_parts(parts)
        , m_options(options)
        , m_telling(telling)
    {
    }

    /// Once through; false: it was stopped.
    bool tell(Moment zero, bool isFirst)
    {
        m_begun = Clock::now();
        m_last = m_first = kNoMoment;
        bool isOn = true;
        writeLines(m_recording, m_parts, zero, m_options.token, [&](TimedLine &&line) {
            if (m_first == kNoMoment)
                m_first = line.at;
            m_last = std::max(m_last, line.at);
            if (isBeginning(line.text)) {
                if (!isFirst)
                    return true;
                if (m_telling.beginning)
                    m_telling.beginning(line.text);
            }
            if (isEnd(line.text) && m_options.isRepeated)
                return true;
            isOn = waitFor(line.at) && add(line.text);
            return isOn;
        });
        return isOn && flush();
    }
    [[nodiscard]] Moment length() const { return m_first == kNoMoment ? 0 : m_last - m_first; }

private:
    /// What is held goes out before it waits.
    bool waitFor(Moment at)
    {
        while (m_options.speed > 0) {
            const double due = static_cast<double>(at - m_first) * 1e-9 / m_options.speed;
            const double left = due - std::chrono::duration<double>(Clock::now() - m_begun).count();
            if (!(left > 0))
                return true;
            if (!flush() || !m_telling.wait(std::min(left, kLongestWait)))
                return false;
        }
        return true;
    }

    bool add(const std::string &line)
    {
        if (m_block.size() + line.size() > kBlock && !flush())
            return false;
        m_block += line;
        return true;
    }

    bool flush()
    {
        while (!m_block.empty()) {
            const Sent sent = m_telling.send(m_block);
            if (sent == Sent::Gone)
                return false;
            if (sent == Sent::Taken)
                m_block.clear();
            else if (!m_telling.wait(kUntilRoom))
                return false;
        }
        return m_telling.wait(0);
    }

    const Recording &m_recording;
    const StreamParts &m_parts;
    const TellOptions &m_options;
    const Telling &m_telling;
    Clock::time_point m_begun;
    Moment m_first = kNoMoment, m_last = kNoMoment;
    std::string m_block;
};

} // namespace

bool tellLines(const Recording &recording, const StreamParts &parts, const TellOptions &options, const Telling &telling)
{
    Teller teller(recording, parts, options, telling);
    Moment zero = options.isNow ? unixNow() - firstMoment(recording) : recording.zero;
    if (!teller.tell(zero, true))
        return false;
    while (options.isRepeated) {
        zero += teller.length() + kBetweenRepeats;
        if (teller.length() == 0 && !telling.wait(kLongestWait)) // a recording of one moment
            return false;
        if (!teller.tell(zero, false))
            return false;
    }
    return true;
}

} // namespace trainyard::live
