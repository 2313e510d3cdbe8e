#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Work on rows that do not know of each other, by the thread that asks and by those of Qt's pool that are free.

#include <functional>

namespace trainyard {

/// Calls work(row, hand) once for each row in [0, count); each hand in [0, hands) is one thread, 0 the caller's.
/// Returns when all rows are done. A busy pool makes it slower, never wait: the caller works too.
void forEachRow(int count, int hands, const std::function<void(int row, int hand)> &work);

} // namespace trainyard
