#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Reading a text as the front door would: by the surest reader, refusals made a refused source. For tests of readers.

#include "core/runs/telemetry/read_sources.h"
#include "tests/support/own_inputs.h"

#include <QFile>
#include <QString>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <random>

namespace trainyard::trial {

/// Of the bytes, under the name of a file that need not exist.
inline Recording read(const std::string &name, std::string_view bytes)
{
    std::string padded(bytes);
    padded.resize(bytes.size() + kSourcePadding, '\0');
    SourceText source { name, std::string_view(padded).substr(0, bytes.size()), std::int64_t(bytes.size()), false };
    Recording refused;
    refused.sources.push_back({ .file = name, .bytes = source.packedBytes });
    const SourceReader *reader =
        readerFor(std::filesystem::path(name).filename().string(), source.text.substr(0, 65536));
    if (!reader) {
        refused.sources[0].refused = "nobody knows it";
        return refused;
    }
    auto recording = reader->read(source, {});
    if (recording)
        return *std::move(recording);
    refused.sources[0].kind = reader->kind;
    refused.sources[0].refused = recording.error().what;
    return refused;
}

/// A captured file, which need not be there, and one of our own, which is.
inline std::string shared(const std::string &path)
{
    return tests::sharedInput("formats/" + path);
}

inline std::string ours(const std::string &path)
{
    return tests::ownInput("formats/" + path);
}

inline bool isThere(const char *path)
{
    return QFile::exists(QString::fromStdString(shared(path)));
}

/// Read in place.
inline Recording readShared(const char *path)
{
    auto recording = readSource(shared(path), {});
    return recording ? *std::move(recording) : Recording();
}

inline Recording readOwn(const char *path)
{
    auto recording = readSource(ours(path), {});
    return recording ? *std::move(recording) : Recording();
}

inline std::string bytesOf(const std::string &path)
{
    QFile file(QString::fromStdString(path));
    return file.open(QIODevice::ReadOnly) ? file.readAll().toStdString() : std::string();
}

inline const SampleSeries *seriesOf(const Recording &recording, std::string_view name, std::string_view where)
{
    const auto found = std::ranges::find_if(
        recording.series, [&](const SampleSeries &series) { return series.name == name && series.where == where; });
    return found != recording.series.end() ? &*found : nullptr;
}

/// The n-th value of a series; NaN where there is no such one.
inline double valueOf(const Recording &recording, std::string_view name, std::string_view where, std::size_t n = 0)
{
    const SampleSeries *series = seriesOf(recording, name, where);
    return series && n < series->value.size() ? series->value[n] : std::nan("");
}

inline std::int64_t droppedOf(const Recording &recording, std::string_view reason)
{
    for (const Dropped &dropped : recording.sources.at(0).dropped)
        if (dropped.reason == reason)
            return dropped.count;
    return 0;
}

inline bool hasNote(const Recording &recording, std::string_view part)
{
    return std::ranges::any_of(
        recording.sources.at(0).notes, [&](const std::string &note) { return note.find(part) != std::string::npos; });
}

inline bool isNear(double a, double b)
{
    return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b));
}

/// One of the changes that torn writes, editors and bad disks make.
inline std::string mutated(std::string text, std::mt19937 &random)
{
    for (unsigned changes = 1 + random() % 6; changes > 0 && !text.empty(); --changes) {
        const std::size_t at = random() % text.size();
        switch (random() % 6) {
        case 0:
            text[at] = static_cast<char>(random());
            break;
        case 1:
            text.erase(at, random() % 20);
            break;
        case 2:
            text.insert(at, text.substr(random() % text.size(), random() % 60));
            break;
        case 3:
            text[at] = "0123456789-+.eE{}[]\",:#\n"[random() % 24];
            break;
        case 4:
            text.insert(at, "99999999999999999999");
            break;
        default:
            text.resize(at + 1);
        }
    }
    return text;
}

} // namespace trainyard::trial
