// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/readers/tensorboard.h"

#include "core/runs/telemetry/readers/metric_names.h"
#include "core/runs/telemetry/readers/reading_bounds_internal.h"
#include "core/runs/telemetry/readers/reading_pace.h"
#include "core/runs/telemetry/readers/series_book.h"
#include "core/runs/telemetry/readers/wire_message.h"
#include "core/runs/telemetry/sample_names.h"

#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace trainyard::readers {

namespace {

constexpr std::size_t kFrame = 16; // around the data of a record

/// Tables of CRC-32C, eight bytes at a time.
using CrcTables = std::array<std::array<std::uint32_t, 256>, 8>;
constexpr CrcTables makeTables()
{
    CrcTables tables {};
    for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t crc = i;
        for (int bit = 0; bit < 8; ++bit)
            crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0u);
        tables[0][i] = crc;
    }
    for (std::size_t i = 0; i < 256; ++i)
        for (std::size_t k = 1; k < 8; ++k)
            tables[k][i] = (tables[k - 1][i] >> 8) ^ tables[0][tables[k - 1][i] & 0xff];
    return tables;
}
constexpr CrcTables kTables = makeTables();

/// A number in a tensor of one element: in its content, or in the field of its type.
std::optional<double> numberOfTensor(std::string_view tensor)
{
    std::uint64_t type = 0;
    std::optional<double> number;
    std::string_view content;
    WireMessage message(tensor);
    for (WireField field; message.next(field);) {
        if (field.number == 1 && field.type == 0)
            type = field.value;
        else if (field.number == 4 && field.isBytes())
            content = field.bytes;
        else if ((field.number == 5 || field.number == 6) && field.type != 0) { // float_val, double_val; packed or not
            const std::size_t size = field.number == 5 ? 4 : 8;
            if (field.bytes.size() == size)
                number = size == 4 ? double(fromBytes<float>(field.bytes)) : fromBytes<double>(field.bytes);
        } else if ((field.number == 7 || field.number == 10) && field.type == 0) { // int_val, int64_val
            number = static_cast<double>(field.whole());
        }
    }
    if (number || content.empty())
        return number;
    if (type == 1 && content.size() == 4)
        return fromBytes<float>(content);
    if (type == 2 && content.size() == 8)
        return fromBytes<double>(content);
    if (type == 3 && content.size() == 4)
        return fromBytes<std::int32_t>(content);
    if (type == 9 && content.size() == 8)
        return static_cast<double>(fromBytes<std::int64_t>(content));
    return std::nullopt;
}

std::optional<std::string_view> textOfTensor(std::string_view tensor)
{
    std::optional<std::string_view> text;
    bool isText = false;
    WireMessage message(tensor);
    for (WireField field; message.next(field);) {
        isText = isText || (field.number == 1 && field.value == 7);
        if (field.number == 8 && field.isBytes())
            text = field.bytes;
    }
    return isText ? text : std::nullopt;
}

class Events {
public:
    Events(const SourceText &source, const SourceOptions &options)
        : m_recording(recordingOf(source, SourceKind::TensorBoardEvents))
        , m_source(m_recording.sources.front())
        , m_pace(source, options)
        , m_text(source.text)
    {
    }

    void read()
    {
        std::size_t at = 0;
        while (at < m_text.size() && !m_pace.isStopped(at)) {
            const std::string_view rest = m_text.substr(at);
            if (rest.size() < 12) {
                m_source.isTruncated = true;
                break;
            }
            if (fromBytes<std::uint32_t>(rest.substr(8)) != maskedCrc32c(rest.substr(0, 8))) {
                drop(m_source, "bytes behind a record whose length fails its checksum",
                    static_cast<std::int64_t>(rest.size()));
                break;
            }
            const auto size = fromBytes<std::uint64_t>(rest);
            if (rest.size() < kFrame || size > rest.size() - kFrame) {
                m_source.isTruncated = true;
                break;
            }
            const std::string_view data = rest.substr(12, size);
            if (fromBytes<std::uint32_t>(rest.substr(12 + size)) == maskedCrc32c(data))
                event(data);
            else
                drop(m_source, "records that fail their checksum");
            at += kFrame + size;
        }
    }

    Recording close()
    {
        timesFromMoments();
        drop(m_source, "values of steps that a later record tells again", m_book.close(m_recording, 0, "tensorboard"));
        return std::move(m_recording);
    }

private:
    void event(std::string_view data)
    {
        double time = 0;
        std::int64_t step = 0;
        WireMessage message(data);
        std::string_view summary;
        for (WireField field; message.next(field);) {
            if (field.number == 1 && field.type == 1)
                time = field.real();
            else if (field.number == 2 && field.type == 0)
                step = field.whole();
            else if (field.number == 5 && field.isBytes())
                summary = field.bytes;
            if (field.number == 4 || field.number == 9)
                drop(m_source, "graphs of operations");
        }
        if (message.isBroken())
            return drop(m_source, "records that are no events");
        ++m_source.taken;
        const bool hasTime = time > 0 && time < kMostUnixSeconds;
        m_isOfStep = false;
        WireMessage values(summary);
        for (WireField field; values.next(field);)
            if (field.number == 1 && field.isBytes())
                value(field.bytes, step);
        if (m_isOfStep && hasTime && (m_steps.empty() || m_steps.back().first != step)) {
            const auto at = static_cast<Moment>(std::llround(time * 1e6)) * 1000;
            m_book.addMoment(samples::kStepEnded, "1", at, static_cast<double>(step));
            m_steps.emplace_back(step, at);
        }
    }

    void value(std::string_view bytes, std::int64_t step)
    {
        std::string_view tag, tensor;
        std::optional<double> number;
        bool isOther = false;
        WireMessage message(bytes);
        for (WireField field; message.next(field);) {
            if (field.number == 1 && field.isBytes())
                tag = field.bytes;
            else if (field.number == 2 && field.type == 5)
                number = field.real();
            else if (field.number == 8 && field.isBytes())
                tensor = field.bytes;
            else if (field.number >= 3 && field.number <= 6)
                isOther = true;
        }
        if (!number && !tensor.empty())
            number = numberOfTensor(tensor);
        if (tag.empty() || tag.size() > 300 || (!number && tensor.empty()))
            return drop(m_source, isOther ? "images, histograms and sounds" : "values without tag or number");
        if (!number)
            return text(tag, tensor);
        if (tag.ends_with(" vs samples"))
            return drop(m_source, "values over samples, which repeat those over steps");
        const MetricName metric = metricOfTag(tag);
        m_isOfStep = m_isOfStep || metric.name == samples::kLoss || metric.name == samples::kStepTime;
        m_book.addStep(metric.name, metric.unit, step, *number * metric.factor);
    }

    /// Megatron writes each of its arguments as a text.
    void text(std::string_view tag, std::string_view tensor)
    {
        const auto own = textOfTensor(tensor);
        constexpr std::string_view kSuffix = "/text_summary";
        if (!own || !tag.ends_with(kSuffix) || own->size() > 20000 || m_recording.arguments.size() >= kMostArguments)
            return drop(m_source, "texts and tensors");
        m_recording.arguments[std::string(tag.substr(0, tag.size() - kSuffix.size()))] = *own;
    }

    void timesFromMoments()
    {
        if (std::as_const(m_book).find(samples::kStepTime))
            return;
        for (std::size_t i = 1; i < m_steps.size(); ++i) {
            const auto &[before, from] = m_steps[i - 1];
            const auto &[step, to] = m_steps[i];
            if (step <= before || to <= from)
                continue;
            m_book.addStep(samples::kStepTime, "s", step,
                static_cast<double>(to - from) * 1e-9 / (static_cast<double>(step) - static_cast<double>(before)));
            note(m_source, "It holds no step times: they are the differences of the moments of its losses");
        }
    }

    Recording m_recording;
    RecordedSource &m_source;
    ReadingPace m_pace;
    std::string_view m_text;
    SeriesBook m_book;
    std::vector<std::pair<std::int64_t, Moment>> m_steps;
    bool m_isOfStep = false;
};

} // namespace

std::uint32_t maskedCrc32c(std::string_view bytes)
{
    std::uint32_t crc = 0xffffffffu;
    std::size_t at = 0;
    for (; at + 8 <= bytes.size(); at += 8) {
        const std::uint64_t word = fromBytes<std::uint64_t>(bytes.substr(at)) ^ crc;
        crc = 0;
        for (std::size_t k = 0; k < 8; ++k)
            crc ^= kTables[7 - k][(word >> (8 * k)) & 0xff];
    }
    for (; at < bytes.size(); ++at)
        crc = (crc >> 8) ^ kTables[0][(crc ^ static_cast<unsigned char>(bytes[at])) & 0xff];
    crc = ~crc;
    return ((crc >> 15) | (crc << 17)) + 0xa282ead8u;
}

int looksLikeTensorBoard(std::string_view fileName, std::string_view head)
{
    if (head.size() >= 12 && fromBytes<std::uint32_t>(head.substr(8)) == maskedCrc32c(head.substr(0, 8)))
        return head.substr(0, 200).find("brain.Event:") != head.npos ? 100 : 85;
    return fileName.find(".tfevents.") != fileName.npos ? 60 : 0;
}

Expected<Recording> readTensorBoard(const SourceText &source, const SourceOptions &options)
{
    Events events(source, options);
    events.read();
    Recording recording = events.close();
    if (recording.sources.front().taken == 0 && !recording.sources.front().isTruncated)
        return std::unexpected(Error { ErrorCode::BadSyntax, source.file,
            "It is named like a TensorBoard event file, but its first record fails its checksum", "" });
    return recording;
}

} // namespace trainyard::readers
