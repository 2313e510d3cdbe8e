#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Where the files that come with the product lie: beside the source tree that the program was built in, in the prefix
// that it was installed to, or beside the program. Any thread.

#include <QString>
#include <QStringList>

namespace trainyard {

/// Where to look for it, in this order, whether it is there or not: `installed` is below <prefix>/share.
[[nodiscard]] QStringList candidateFolders(const QString &name, const QString &installed);

/// The pages of documentation; empty: there are none.
[[nodiscard]] QString documentationFolder();

} // namespace trainyard
