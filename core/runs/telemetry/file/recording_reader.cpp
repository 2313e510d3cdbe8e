// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/file/recording_reader_internal.h"

#include <algorithm>

namespace trainyard::recording_file {

namespace {

constexpr std::size_t kMostToldKeys = 8;
constexpr std::size_t kMostToldKey = 60; // bytes
constexpr std::uint32_t kLookEvery = 1 << 14;

std::string escaped(std::string_view key)
{
    std::string step;
    for (const char c : key.substr(0, kMostToldKey))
        step += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
    return step;
}

} // namespace

std::string RecordingReader::pointer() const
{
    std::string pointer;
    for (const Step &step : m_path) {
        pointer += "/" + escaped(step.key);
        if (step.item >= 0)
            pointer += "/" + std::to_string(step.item);
    }
    return pointer;
}

void RecordingReader::kind(const char *name, SourceKind &value, const char *)
{
    if (!isFor(name))
        return;
    std::string id;
    if (m_json.readText(id))
        value = kindOf(id).value_or(SourceKind::Unknown); // of a later version
}

void RecordingReader::texts(const char *name, std::vector<std::string> &values, const char *)
{
    if (isFor(name))
        array([&] {
            if (++m_texts > kMostTexts)
                return m_json.fail("holds more texts than a recording does", "at most 16777216");
            return m_json.readText(values.emplace_back()) || (values.pop_back(), false);
        });
}

void RecordingReader::map(const char *name, std::map<std::string, std::string> &values, const char *)
{
    if (!isFor(name))
        return;
    members([&] {
        std::string value;
        m_isTaken = true;
        if (!hasRoom())
            return;
        const std::string inside = m_key;
        if (m_json.readText(value))
            values.insert_or_assign(inside, std::move(value));
    });
}

void RecordingReader::skipUnknown()
{
    if (!m_json.isGood())
        return;
    ++m_unknownCount;
    if (const std::string unknown = pointer();
        m_unknown.size() < kMostToldKeys && std::ranges::find(m_unknown, unknown) == m_unknown.end())
        m_unknown.push_back(unknown);
    m_json.skip();
}

bool RecordingReader::goesOn()
{
    if (m_untilLook-- > 0)
        return true;
    m_untilLook = kLookEvery;
    if (m_options.progress && m_size > 0)
        m_options.progress(double(m_json.at()) / double(m_size));
    m_isCancelled = m_options.stop.stop_requested();
    return !m_isCancelled || m_json.fail("cancelled");
}

/// Launches become moments. Where the text ends in the middle, spans without all their columns are none.
void RecordingReader::complete(RecordedSpans &spans)
{
    const std::size_t size = spans.size();
    if (m_json.isTruncated()) {
        const bool isCut = spans.duration.size() != size || spans.name.size() != size || spans.work.size() != size;
        m_cutStreams += isCut ? 1 : 0;
        if (isCut)
            spans = {};
        if (spans.launch.size() != size)
            spans.launch.clear();
        if (spans.launchedAt.size() != size)
            spans.launchedAt.clear();
        if (spans.shape.size() != size)
            spans.shape.clear();
    }
    if (spans.launchedAt.size() != spans.size())
        return; // the check of the whole tells
    for (std::size_t i = 0; i < spans.launchedAt.size(); ++i)
        if (spans.launchedAt[i] != kNoMoment)
            spans.launchedAt[i] = static_cast<Moment>(
                static_cast<std::uint64_t>(spans.start[i]) - static_cast<std::uint64_t>(spans.launchedAt[i]));
}

void RecordingReader::complete(SampleSeries &series)
{
    if (!m_json.isTruncated())
        return;
    const std::size_t size = std::min(series.at.size(), series.value.size());
    series.at.resize(size);
    series.value.resize(size);
}

bool RecordingReader::read(Recording &recording)
{
    std::string format;
    std::int64_t version = 0;
    members([&] {
        text("format", format, "");
        if (m_json.isGood() && m_key == "format" && format != kFormat)
            m_json.fail("is \"" + escaped(format) + "\"", std::string("\"") + kFormat + "\"");
        whole("version", version, "");
        if (m_json.isGood() && m_key == "version" && version != Recording::kVersion)
            m_json.fail("is " + std::to_string(version)
                    + (version > Recording::kVersion ? ", of a recording that a later version of Trainyard wrote" : ""),
                std::to_string(Recording::kVersion));
        if (m_json.isGood() && !m_isTaken && (format.empty() || version == 0))
            m_json.fail("comes before the format and its version",
                std::string("\"format\": \"") + kFormat + "\", \"version\": 1 first");
        if (m_json.isGood())
            describe(*this, recording);
    });
    if (m_json.isGood() && version == 0)
        m_json.fail("has no version", "\"version\": 1");
    if (m_json.isGood() && !m_json.atEnd())
        m_json.fail("something stands behind the end of the recording", "one object");
    return m_json.isGood();
}

} // namespace trainyard::recording_file
