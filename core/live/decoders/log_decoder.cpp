// SPDX-License-Identifier: GPL-3.0-or-later
// A training log as it grows: whole lines go to the readers of log files, and what is new in them goes out after each
// block. Whatever way the bytes are cut, the batches add up to what the file's reader reads of the whole.
#include "core/live/decoder.h"
#include "core/runs/telemetry/readers/growing_log.h"

#include <algorithm>
#include <optional>

namespace trainyard::live {

namespace {

using readers::GrowingLog;
using readers::TextLine;
using readers::TextLines;

constexpr std::size_t kMarkBytes = 4; // of a byte order mark or of gzip, at most
constexpr std::string_view kLineEnds = "\r\n";

class LogDecoder final : public Decoder {
public:
    LogDecoder(std::string name, const DecoderLimits &limits)
        : m_name(std::move(name))
        , m_limits(limits)
        , m_log(m_name)
    {
    }

    Expected<void> take(std::string_view bytes, Moment received, const BatchOut &out) override
    {
        m_bytes += static_cast<std::int64_t>(bytes.size());
        if (m_isSkipping) {
            const std::size_t end = bytes.find('\n');
            if (end == bytes.npos)
                return {};
            bytes.remove_prefix(end + 1);
            m_isSkipping = false;
        }
        if (!m_isBegun) {
            m_held += bytes;
            if (m_held.size() < kMarkBytes)
                return {};
            if (m_held.starts_with("\x1f\x8b") || m_held.starts_with("\x28\xb5\x2f\xfd"))
                return std::unexpected(Error { ErrorCode::BadSyntax, m_name, "it is compressed, not a log that grows",
                    "command:zcat " + m_name + ", or the log that is written now" });
            const std::string begun = std::exchange(m_held, {});
            begin(begun);
            takeLines(begun, received, out);
        } else {
            takeLines(bytes, received, out);
        }
        give(received, out, false);
        return {};
    }

    void end(Moment received, const BatchOut &out) override
    {
        if (!m_isBegun) {
            begin(m_held);
            const std::string begun = std::exchange(m_held, {});
            takeLines(begun, received, out);
        }
        if (!m_held.empty() && !m_isOverlong)
            read(m_held, received, out);
        m_held.clear();
        give(received, out, true);
    }

    void skip(std::int64_t bytes) override
    {
        if (!m_isBegun)
            begin(m_held);
        if (!m_held.empty() || bytes > 0)
            ++m_torn;
        m_held.clear();
        m_isOverlong = false;
        m_isSkipping = true;
    }

private:
    void begin(std::string_view head)
    {
        m_isBegun = true;
        TextLines lines(head); // passes a byte order mark over
        m_markBytes = lines.position();
    }

    /// Whole lines are read where they are; the rest is held until it is one.
    void takeLines(std::string_view bytes, Moment received, const BatchOut &out)
    {
        bytes.remove_prefix(std::exchange(m_markBytes, 0));
        const std::size_t last = bytes.find_last_of(kLineEnds);
        if (last == bytes.npos)
            return hold(bytes);
        std::string_view whole = bytes.substr(0, last + 1);
        if (!m_held.empty() || m_isOverlong) {
            const std::size_t first = whole.find_first_of(kLineEnds);
            hold(whole.substr(0, first));
            const bool isLost = std::exchange(m_isOverlong, false);
            m_held += whole[first];
            const std::string line = std::exchange(m_held, {});
            if (!isLost)
                read(line, received, out);
            else if (whole[first] == '\n')
                ++m_number;
            whole.remove_prefix(first + 1);
        }
        read(whole, received, out);
        hold(bytes.substr(last + 1));
    }

    void hold(std::string_view bytes)
    {
        if (m_isOverlong)
            return;
        if (m_held.size() + bytes.size() > m_limits.lineBytes) {
            m_isOverlong = true;
            ++m_overlong;
            m_held = {};
            return;
        }
        m_held += bytes;
    }

    void read(std::string_view text, Moment received, const BatchOut &out)
    {
        // Overlong lines are dropped however many bytes come at once
        while (text.size() > m_limits.lineBytes) {
            const std::size_t end = std::min(text.find_first_of(kLineEnds), text.size() - 1);
            if (end <= m_limits.lineBytes) {
                readLines(text.substr(0, end + 1), received, out);
            } else {
                ++m_overlong;
                m_number += text[end] == '\n' ? 1 : 0;
            }
            text.remove_prefix(end + 1);
        }
        readLines(text, received, out);
    }

    void readLines(std::string_view text, Moment received, const BatchOut &out)
    {
        TextLines lines(text, m_number);
        std::size_t count = 0;
        for (TextLine line; lines.next(line);) {
            m_log.take(line);
            if (++count % m_limits.batchEvents == 0)
                give(received, out, false);
        }
        m_number = lines.number();
    }

    void give(Moment received, const BatchOut &out, bool isLast)
    {
        if (!isLast && !m_log.hasNews())
            return;
        Batch batch;
        batch.received = received;
        batch.part = isLast ? m_log.end() : m_log.news();
        RecordedSource &source = batch.part.sources.front();
        source.bytes = std::exchange(m_bytes, 0);
        readers::drop(source, "lines that are too long", std::exchange(m_overlong, 0));
        readers::drop(source, "lines that were torn by bytes that are missing", std::exchange(m_torn, 0));
        if (batch.part.zero == 0)
            batch.part.zero = received; // nothing of it has a moment
        out(std::move(batch));
    }

    const std::string m_name;
    const DecoderLimits m_limits;
    GrowingLog m_log;
    std::string m_held; // of a line
    std::int64_t m_number = 1; // of the next line
    std::int64_t m_bytes = 0, m_overlong = 0, m_torn = 0; // since the last batch
    std::size_t m_markBytes = 0;
    bool m_isBegun = false, m_isSkipping = false, m_isOverlong = false;
};

} // namespace

DecoderPtr makeLogDecoder(std::string name, const DecoderLimits &limits)
{
    return std::make_unique<LogDecoder>(std::move(name), limits);
}

} // namespace trainyard::live
