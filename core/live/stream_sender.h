#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The lines of a recording, given out at their moments, in blocks, to somebody who may have no room for them now or may
// be gone. Runs on the caller's thread until all is told or it is stopped.

#include "core/live/stream_lines.h"
#include "core/live/stream_parts.h"

#include <functional>
#include <string>

namespace trainyard::live {

/// Full: again later; Gone: nobody takes any more
enum class Sent : std::uint8_t { Taken, Full, Gone };

struct TellOptions {
    /// of the hello
    std::string token;
    /// 0: as fast as it goes
    double speed = 1;
    bool isRepeated = false;
    /// moments are moved so that the recording begins when it is told
    bool isNow = true;
};
struct Telling {
    std::function<Sent(const std::string &block)> send;
    /// Waits; false: it is stopped.
    std::function<bool(double seconds)> wait;
    /// Lines that a connection begins with (hello, arguments, groups): who connects anew needs them again.
    std::function<void(const std::string &line)> beginning = {};
};

/// `parts` of it, which many who are told it at once may share. True: all was told; false: it was stopped, or the other
/// is gone.
bool tellLines(
    const Recording &recording, const StreamParts &parts, const TellOptions &options, const Telling &telling);

} // namespace trainyard::live
