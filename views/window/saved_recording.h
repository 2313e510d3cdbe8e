#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What saving a recording has in common, be it of a run that is over or of one that goes on: the end of the file's name
// and the kind of the message about it.

#include <QString>

namespace trainyard {

inline const QString kRecordingSuffix = QStringLiteral(".trainyard-recording");
inline const QString kSaveMessage = QStringLiteral("save");

} // namespace trainyard
