#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The order in which Tab goes through a page: as it is read, whatever was made first. GUI thread.

class QWidget;

namespace trainyard {

/// By the layouts of `page`, from the first of their items to the last; again after anything came or went.
void tabInReadingOrder(QWidget &page);

} // namespace trainyard
