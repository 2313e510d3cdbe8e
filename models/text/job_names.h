#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Names of jobs where there is little room: what tells them apart, without what all of a grid share. Pure functions.

#include <QStringList>

namespace trainyard {

/// In the same order: "6.7b · 0.0003" of "opt-6.7b, batch 16, 0.0003" beside "opt-13b, batch 16, 0.001". Names with as
/// many parts (", " between them) are compared with each other; one that has none to compare with stays as it is, and
/// all do where two would read alike.
[[nodiscard]] QStringList shortJobNames(const QStringList &names);

} // namespace trainyard
