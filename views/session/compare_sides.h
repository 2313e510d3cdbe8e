#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the two lists of the page that compares offer: variants of the session by their ids, and the runs that were
// read by ComparePage::keyOfRun(). GUI thread.

#include "models/loaded_runs.h"
#include "models/session/run_comparison.h"

class QComboBox;

namespace trainyard {

class SessionDocument;

/// Every run, behind what is in the list; one that was not read cannot be chosen, and says why.
void addRuns(QComboBox &list, const LoadedRuns &runs, qreal pixelRatio);
/// Id of the run that is chosen; empty: a variant is.
[[nodiscard]] std::string idOfRun(const QComboBox &list);
/// What is chosen.
[[nodiscard]] ComparedSide sideOf(const QComboBox &list, const SessionDocument &session, const LoadedRuns &runs);

} // namespace trainyard
