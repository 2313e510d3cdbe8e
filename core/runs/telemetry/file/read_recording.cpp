// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/runs/telemetry/file/read_recording.h"

#include "core/runs/telemetry/file/check_recording.h"
#include "core/runs/telemetry/file/recording_reader_internal.h"

namespace trainyard::recording_file {

namespace {

/// What refers to something that the end of the text took away refers to nothing; what has lost its meaning goes.
void mendEnd(Recording &recording)
{
    for (RankRecording &rank : recording.ranks)
        for (RecordedCollective &collective : rank.collectives) {
            const bool hasStream = collective.stream < rank.streams.size();
            if (!hasStream || collective.span >= rank.streams[collective.stream].spans.size())
                collective.stream = collective.span = kNoIndex;
        }
}

/// A source that tells what became of the file itself.
RecordedSource &ownSource(Recording &recording, const SourceText &source)
{
    RecordedSource &own = recording.sources.emplace_back();
    own.file = source.file;
    own.kind = SourceKind::Recording;
    own.bytes = source.packedBytes;
    return own;
}

std::string placeOf(const SourceText &source, const std::string &pointer)
{
    return pointer.empty() ? source.file : source.file + ": " + pointer;
}

} // namespace

Expected<Recording> readRecording(const SourceText &source, const SourceOptions &options)
{
    Recording recording;
    RecordingReader reader(source.text, options);
    const bool isRead = reader.read(recording);
    const bool isTruncated = reader.json().isTruncated();
    if (reader.isCancelled())
        return std::unexpected(Error { ErrorCode::Cancelled, source.file, "cancelled", "" });
    if (!isRead && !isTruncated)
        return std::unexpected(Error { ErrorCode::BadSyntax, placeOf(source, reader.pointer()),
            reader.json().what() + " (byte " + std::to_string(reader.json().at()) + ")", reader.json().right() });
    if (isTruncated)
        mendEnd(recording);
    if (auto sound = checkRecording(recording); !sound) {
        Error error = std::move(sound.error());
        error.where = placeOf(source, error.where);
        return std::unexpected(std::move(error));
    }
    if (!isTruncated && !source.isTruncated && reader.unknownCount() == 0)
        return recording;
    RecordedSource &own = ownSource(recording, source);
    own.taken = static_cast<std::int64_t>(recording.spanCount());
    own.isTruncated = isTruncated || source.isTruncated;
    if (reader.cutStreams() > 0)
        own.dropped.push_back({ "streams whose spans the end of the file cuts", reader.cutStreams() });
    if (reader.unknownCount() > 0) {
        own.dropped.push_back({ "keys that this version does not know", reader.unknownCount() });
        std::string keys;
        for (const std::string &key : reader.unknown())
            keys += (keys.empty() ? "" : ", ") + key;
        own.notes.push_back("It has keys that this version of Trainyard does not know, which were left out: " + keys
            + (reader.unknownCount() > std::int64_t(reader.unknown().size()) ? ", …" : ""));
    }
    return recording;
}

} // namespace trainyard::recording_file
