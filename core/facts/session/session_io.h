#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Session files, *.trainyard-session: JSON in and out. Errors name file and JSON pointer (or line:column) and what
// would be right. Writing keeps what this version does not know.

#include "core/base/error.h"
#include "core/facts/session/session.h"

#include <string>
#include <string_view>

namespace trainyard {

inline constexpr int kSessionVersion = 1;
/// What messages about an unreadable session expect.
inline constexpr const char *kSessionFile = "a readable session file, *.trainyard-session";
/// More are refused: each is a whole plan.
inline constexpr std::size_t kMostVariants = 1000;

/// Whether a file is named as sessions are.
[[nodiscard]] bool isSessionPath(std::string_view path);

/// `fileName` is for messages; `baseDir` resolves relative paths of the plans. Plans of older versions are migrated.
/// A baseline that names no variant of
/// the file is an error; a decision may name one that is gone.
[[nodiscard]] ExpectedAll<Session> parseSession(
    std::string_view json, const std::string &fileName, const std::string &baseDir = {});
[[nodiscard]] ExpectedAll<Session> readSession(const std::string &path);

/// Two-space indented, ending in a newline.
[[nodiscard]] std::string formatSession(const Session &session);
/// Never half a file. Files that plans name lead to where they led before.
[[nodiscard]] Expected<void> writeSession(const Session &session, const std::string &path);

} // namespace trainyard
