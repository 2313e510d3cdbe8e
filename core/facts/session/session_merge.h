#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Two people on one session file: what both have changed since they read it comes together, and nothing is lost. Where
// both have changed one variant, both are kept.

#include "core/facts/session/session.h"

#include <string>
#include <vector>

namespace trainyard {

struct SessionMerge {
    Session session;
    /// What the other has done, a sentence each: "added “Two regions”", "changed the plan of “B”".
    std::vector<std::string> theirs;
    /// Names of variants that hold what the other made of one that was changed here as well, or removed there.
    std::vector<std::string> keptTwice;
};

/// What the other has done from `base` to `theirs`, a sentence each, as SessionMerge::theirs.
[[nodiscard]] std::vector<std::string> changesOf(const Session &base, const Session &theirs);

/// `base`: the file as it was last read or written here; `mine`: as it is here now; `theirs`: as it is in the file.
/// A variant that one side alone has changed is as that side has it, one that both have changed is here twice: mine,
/// and theirs under a new id with a name that says so. One that a side has removed and the other changed stays.
/// Variants that both added under one id are told apart by a new one. Decisions of both are kept, in the order of their
/// time. The order of the board, its baseline and its view are mine where I have changed them.
[[nodiscard]] SessionMerge mergeSessions(const Session &base, Session mine, const Session &theirs);

} // namespace trainyard
