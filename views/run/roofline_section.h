#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The roofline of the run, plot above table: a mark that is chosen is the row that is selected, and the other way.
// Where the host was not read, a button reads it. GUI thread.

#include "core/runs/profile/roofline.h"

#include <QWidget>

#include <memory>

class QPushButton;

namespace trainyard {

class EvidenceTable;
class RooflinePlot;
class SectionTitle;
class TextLine;
class TextTableModel;

class RooflineSection : public QWidget {
    Q_OBJECT
public:
    explicit RooflineSection(QWidget *parent = nullptr);

    /// null: nothing to say
    void setRoofline(std::shared_ptr<const Roofline> roofline);
    [[nodiscard]] QString summary() const;

    RooflinePlot *const plot;
    EvidenceTable *const table;
    /// shown where the operators of the host were not read
    QPushButton *const readHost;

signals:
    void hostAsked();

private:
    void arrange();
    void select(int row);

    SectionTitle *m_title;
    TextLine *m_summary;
    QWidget *m_legend;
    TextTableModel *m_model;
    std::shared_ptr<const Roofline> m_roofline;
};

} // namespace trainyard
