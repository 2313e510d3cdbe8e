#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Output files that are never half written: the text goes to a file without a name in the target's folder (or a
// temporary one, where the file system knows no such files), which takes the target's place when it is complete, with
// the target's permissions. A link stays a link: what it points to is replaced. Pipes, terminals and devices are
// written through.

#include "core/base/error.h"

#include <functional>
#include <ostream>

namespace trainyard {

/// Whether pipes and devices may be written through: a window would wait for a reader of the pipe.
enum class OutputKinds : bool { RegularOnly, StreamsToo };

/// Calls `write` with a stream and puts the result at `path`, or leaves what was there untouched. `-` is standard
/// output. Errors: CannotWrite, or NoRoom where a disk is full; naming the file and the system's reason.
[[nodiscard]] Expected<void> writeOutputFile(const std::string &path, const std::function<void(std::ostream &)> &write,
    OutputKinds kinds = OutputKinds::StreamsToo);

/// Where the bytes of an output would go: links followed, also one whose target is not there yet. Empty for what is
/// written through: standard output, pipes, devices.
[[nodiscard]] std::string outputTarget(const std::string &path);

/// Removes the temporary files of outputs that are under way. Only for a handler of signals that end the program:
/// async-signal-safe.
void removeUnfinishedOutputs() noexcept;

} // namespace trainyard
