#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Names at the left, values at the right, a line each with its meaning in a tooltip. GUI thread.

#include "views/panels/offload_text.h"

#include <QWidget>

class QVBoxLayout;

namespace trainyard {

class TextLine;

class FactTable : public QWidget {
    Q_OBJECT
public:
    explicit FactTable(QWidget *parent = nullptr);
    void setLines(const std::vector<OffloadLine> &lines);

private:
    struct Row {
        QWidget *widget;
        TextLine *name, *value;
    };
    QVBoxLayout *m_list;
    std::vector<Row> m_rows;
};

} // namespace trainyard
