#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A live source in two short lines: a mark with its name, and below it in words how it is. GUI thread.

#include "models/live_document.h"

#include <QWidget>

namespace trainyard {

class StateMark;
class TextLine;

class SourceChip : public QWidget {
    Q_OBJECT
public:
    explicit SourceChip(QWidget *parent = nullptr);
    /// `isHeld`: the picture stays as it is, whatever the source tells.
    void setRow(const LiveSourceRow &row, bool isHeld = false);
    /// seconds until it tries again, or since it fell silent
    void showTime();
    /// "prometheus:9090: Trying again in 4 s: connection refused"
    [[nodiscard]] QString text() const;

private:
    LiveSourceRow m_row;
    bool m_isHeld = false;
    StateMark *m_mark;
    TextLine *m_name, *m_state;
};

/// "Step time" above "12.4 s, plan 11.9 s (+4.2 %)".
class FigureCell : public QWidget {
    Q_OBJECT
public:
    explicit FigureCell(const QString &caption, QWidget *parent = nullptr);
    void setFigure(const QString &figure, const QString &hint = {});
    [[nodiscard]] QString figure() const;
    TextLine *const value;

private:
    QString m_caption;
};

} // namespace trainyard
