#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A command of the user's, whose output is read as it comes: `ssh node7 tail -F /logs/train.log`. Run by /bin/sh, in a
// process group of its own, ended with its children. Loop's thread alone.

#include "core/base/error.h"
#include "core/live/net/loop.h"

#include <string>
#include <string_view>

namespace trainyard::live::net {

struct ProcessEvents {
    std::function<void(std::string_view bytes)> output;
    /// Once, the last call: how it ended, and the last lines it wrote to its standard error.
    std::function<void(int exitCode, const std::string &standardError)> ended;
};

class Process {
public:
    [[nodiscard]] static Expected<std::unique_ptr<Process>> start(
        Loop &loop, const std::string &command, ProcessEvents events);
    /// While it does not read, the command waits as soon as its pipe is full.
    void setReading(bool reads);
    /// TERM to its group, KILL after 2 s; no events afterwards
    ~Process();

private:
    struct Private;
    explicit Process(std::shared_ptr<Private> inside);
    std::shared_ptr<Private> d;
};

} // namespace trainyard::live::net
