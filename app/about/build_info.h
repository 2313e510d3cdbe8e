#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What this build is. The function stands in a source that build_info.cmake writes at each build, and only where it
// would differ, so that a commit compiles one small file anew. Any thread.

namespace trainyard::about {

/// Texts that live as long as the program.
struct BuildInfo {
    /// "0.2.0"
    const char *version;
    /// "e8e3471e", "e8e3471e-dirty" with edits that no commit has, "unknown" outside a checkout
    const char *commit;
    /// of the commit, "2026-11-28"; empty where it is not known
    const char *date;
    /// "Release"
    const char *type;
    /// "GNU 12.2.0"
    const char *compiler;
    /// "x86_64"
    const char *machine;
};

[[nodiscard]] const BuildInfo &buildInfo();

} // namespace trainyard::about
