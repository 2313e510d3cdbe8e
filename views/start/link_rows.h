#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The links of a new plan, a line each: filled in with published round trips and a default bandwidth, both open to
// change, and in words where the round trip comes from. GUI thread.

#include "models/new_plan.h"

#include <QWidget>

class QDoubleSpinBox;
class QVBoxLayout;

namespace trainyard {

class TextLine;

class LinkRows : public QWidget {
    Q_OBJECT
public:
    explicit LinkRows(QWidget *parent = nullptr);

    void setLinks(const std::vector<NewLink> &links, const Cluster &cluster);
    /// in the order of Tab
    [[nodiscard]] QList<QWidget *> fields() const;

signals:
    void figuresTyped(int from, int to, const trainyard::NewLinkFigures &figures);

private:
    struct Row {
        QWidget *widget;
        TextLine *names, *source;
        QDoubleSpinBox *rtt, *capacity;
        int from = 0, to = 0;
    };
    Row newRow();
    void addRow();

    /// as many as there ever were; the last ones may be hidden
    std::vector<Row> m_rows;
    std::size_t m_shown = 0;
    QVBoxLayout *m_layout;
};

} // namespace trainyard
