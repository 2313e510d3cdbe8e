#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// One fault that a user can act on: what is wrong, where, and what would be right. Value type, any thread.
// A file with several faults yields several errors, so that all of them can be mended in one go.

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

namespace trainyard {

enum class ErrorCode : std::uint8_t {
    /// not JSON, not this format, not this version
    BadSyntax,
    /// a value of the wrong type or outside its range
    BadValue,
    /// a dotted key that the plan does not have
    UnknownKey,
    /// an id that neither the plan nor the catalogue defines
    UnknownName,
    /// file system
    CannotRead,
    CannotWrite,
    /// of what could be written: the disk, a quota or a limit of file sizes has no room for it
    NoRoom,
    /// what values of their own range add up to: an iteration of a thousand years
    OutOfRange,
    /// the stop token was triggered; never shown
    Cancelled,
    Internal,
};

struct Error {
    ErrorCode code = ErrorCode::Internal;
    /// "file.json: /cluster/datacenters/0/id", "file.json:12:7", or a dotted key
    std::string where;
    /// "nodes is -3"
    std::string what;
    /// "a whole number from 0 to 1000000"; may be empty
    std::string right;
    bool operator==(const Error &) const = default;
};

using Errors = std::vector<Error>;

template <class T> using Expected = std::expected<T, Error>;
template <class T> using ExpectedAll = std::expected<T, Errors>;

/// "where: what; expected right", on one line, as the command line prints it: what was quoted from a file is printable.
[[nodiscard]] std::string toString(const Error &error);

} // namespace trainyard
