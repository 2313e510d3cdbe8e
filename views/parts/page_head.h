#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What pages that take the whole window have in common: the line at their top and the room around them. GUI thread.

#include "views/parts/text_line.h"

#include <initializer_list>

class QHBoxLayout;
class QPushButton;
class QSplitter;
class QToolButton;
class QVBoxLayout;

namespace trainyard {

/// "‹ Back to the plan   Title              what it is about   [button] [button]". Dresses back, title and text.
[[nodiscard]] QHBoxLayout *pageHead(
    QPushButton *back, TextLine *title, TextLine *about, std::initializer_list<QWidget *> buttons);

/// "Picture", which opens a menu.
void dressPictureButton(QToolButton *button);

/// The page's own layout, its head in it.
[[nodiscard]] QVBoxLayout *pageColumn(QWidget *page, QHBoxLayout *head);

/// Between parts that may be resized but not hidden, with the gap between cards as its handle.
[[nodiscard]] QSplitter *splitter(Qt::Orientation orientation, const QString &name, QWidget *parent);

} // namespace trainyard
