#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Files and folders made into a run, or into the sentences that say why nothing of them was read. Pure but for the
// files; any thread.

#include "models/run_document.h"

#include <QByteArray>

namespace trainyard {

struct ReadRun {
    /// null: nothing was read, or it was cancelled
    RunPtr run;
    /// a sentence a file
    Errors errors;
    /// one of them is a text that a line pattern may read (RecordedSource::mayTakeLinePattern)
    bool mayTakeLinePattern = false;
    /// of the paths before they were read: what is written meanwhile is another one
    QByteArray fingerprint;
};

[[nodiscard]] ReadRun readRun(const QStringList &paths, const SourceOptions &options, const SourcesProgress &progress,
    const RunDocument::Read &read);
/// "traces", "traces and 2 more".
[[nodiscard]] std::string nameOfRun(const QStringList &paths);

} // namespace trainyard
