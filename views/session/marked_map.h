#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// A variant's map to look at, beside that of another: its name and colour, and marks at what moved, with tooltips in
// words. It takes no edits. GUI thread.

#include "models/shown.h"
#include "views/session/map_marks.h"

#include <QColor>
#include <QWidget>

class QLabel;

namespace trainyard {

class ClusterMap;
class TextLine;

class MarkedMap : public QWidget {
    Q_OBJECT
public:
    explicit MarkedMap(QWidget *parent = nullptr);

    ClusterMap *const map;

    void setShown(const Shown &shown, const QString &name, const QColor &color);
    /// Of what is shown, against the other.
    void setChanges(const MapChanges &changes);
    /// of the map as it is shown
    [[nodiscard]] const std::vector<MapMark> &marks() const { return m_marks; }
    /// What is said at a position of this widget; empty where nothing changed.
    [[nodiscard]] QString wordsAt(QPoint at) const;

protected:
    bool event(QEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    class Marks;

    Shown m_shown;
    std::vector<MapMark> m_marks;
    QLabel *m_dot;
    TextLine *m_name, *m_note;
    Marks *m_overlay;
};

} // namespace trainyard
