#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A command of the user's, whose output is read as it comes: `ssh node7 tail -F /logs/train.log`. Run by /bin/sh, or as
// a program with arguments without a shell, in a process group of its own, ended with its children. No socket or file
// of ours is open in it. Loop's thread alone.

#include "core/base/error.h"
#include "core/live/net/loop.h"

#include <string>
#include <string_view>
#include <vector>

namespace trainyard::live::net {

struct ProcessEvents {
    std::function<void(std::string_view bytes)> output;
    /// Once, the last call: how it ended, and the last lines it wrote to its standard error.
    std::function<void(int exitCode, const std::string &standardError)> ended;
};

/// Run as it is, without a shell.
struct ProgramCall {
    /// the first is the program, found in PATH where it has no slash
    std::vector<std::string> arguments;
    /// that it finds on its standard input
    std::string input;
};

class Process {
public:
    [[nodiscard]] static Expected<std::unique_ptr<Process>> start(
        Loop &loop, const std::string &command, ProcessEvents events);
    /// Errors: CannotRead: there is no such program, or no room for its input.
    [[nodiscard]] static Expected<std::unique_ptr<Process>> start(
        Loop &loop, const ProgramCall &call, ProcessEvents events);
    /// While it does not read, the command waits as soon as its pipe is full.
    void setReading(bool reads);
    /// TERM to its group, KILL after 2 s; no events afterwards
    ~Process();

private:
    struct Private;
    [[nodiscard]] static Expected<std::unique_ptr<Process>> begin(
        Loop &loop, const std::vector<std::string> &arguments, const struct StandardInput &input, ProcessEvents events);
    explicit Process(std::shared_ptr<Private> inside);
    std::shared_ptr<Private> d;
};

} // namespace trainyard::live::net
