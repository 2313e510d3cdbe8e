#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A panel's content behind a vertical scroll bar, as wide as the panel and without a frame. GUI thread.

class QScrollArea;
class QWidget;

namespace trainyard {

/// Takes the content; has no focus of its own.
[[nodiscard]] QScrollArea *scrolled(QWidget *content);

} // namespace trainyard
