// SPDX-License-Identifier: GPL-3.0-or-later
// Recordings that were written before, as one more source.
#include "core/runs/telemetry/file/read_recording.h"
#include "core/runs/telemetry/readers.h"

#include <algorithm>
#include <array>

namespace trainyard {

namespace {

std::string_view withoutBlanks(std::string_view text)
{
    return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

/// {"format": "trainyard.recording", with blanks anywhere.
int looksLikeRecording(std::string_view fileName, std::string_view head)
{
    if (head.starts_with("\xef\xbb\xbf"))
        head.remove_prefix(3);
    head = withoutBlanks(head);
    const bool isNamed = fileName.ends_with(".trainyard-recording");
    for (const std::string_view part : { "{", "\"format\"", ":", "\"trainyard.recording\"" }) {
        if (!head.starts_with(part))
            return isNamed && part.starts_with(head) ? 60 : isNamed ? 10 : 0; // it ends before it tells
        head = withoutBlanks(head.substr(part.size()));
    }
    return 100;
}

} // namespace

std::span<const SourceReader> readers::recordingFiles()
{
    static constexpr std::array kReaders { SourceReader {
        SourceKind::Recording, looksLikeRecording, recording_file::readRecording } };
    return kReaders;
}

} // namespace trainyard
