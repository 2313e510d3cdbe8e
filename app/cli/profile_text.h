#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the commands about profiles of a run share: names of ranks and streams, times in nanoseconds for people. Pure
// functions.

#include "app/cli/json_values_internal.h"
#include "core/base/number_text.h"
#include "core/base/printable.h"
#include "core/runs/telemetry/recording.h"

#include <string>
#include <vector>

namespace trainyard::cli {

/// "3"; a dash where nobody tells it.
[[nodiscard]] inline std::string rankText(const Recording &recording, std::uint32_t rank)
{
    return recording.ranks[rank].rank >= 0 ? std::to_string(recording.ranks[rank].rank) : "–";
}

/// "7", of a GPU that is not the first "1: 7"; "all" of all streams.
[[nodiscard]] inline std::string streamText(const RankRecording &rank, std::uint32_t stream)
{
    if (stream == kNoIndex)
        return "all";
    const RecordedStream &own = rank.streams[stream];
    return (own.device != 0 ? std::to_string(own.device) + ": " : "") + std::to_string(own.stream);
}

/// Of a kernel in a table; JSON has all of it.
[[nodiscard]] inline std::string kernelText(const std::string &name)
{
    constexpr std::size_t kLongest = 70;
    return shortened(printable(name), kLongest);
}

[[nodiscard]] inline std::string nanosecondsText(double nanoseconds)
{
    return secondsText(nanoseconds * 1e-9);
}

[[nodiscard]] inline Json rankJson(const Recording &recording, std::uint32_t rank)
{
    return recording.ranks[rank].rank >= 0 ? Json(recording.ranks[rank].rank) : Json(nullptr);
}

/// Which stream: null where it is all of them.
inline void tellStream(Json &json, const RankRecording &rank, std::uint32_t stream)
{
    json["device"] = stream == kNoIndex ? Json(nullptr) : Json(rank.streams[stream].device);
    json["stream"] = stream == kNoIndex ? Json(nullptr) : Json(rank.streams[stream].stream);
}

[[nodiscard]] inline std::string notesText(const std::vector<std::string> &notes)
{
    std::string text = notes.empty() ? "" : "\nNotes\n";
    for (const std::string &note : notes)
        text += "  " + printable(note) + "\n";
    return text;
}

[[nodiscard]] inline std::string jsonText(const Json &json)
{
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace trainyard::cli
