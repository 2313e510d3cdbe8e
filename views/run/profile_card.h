#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the kernels of the run say by themselves, behind a tab of its page: what the step waited for, idle time by its
// cause, the launch queue, kernels or what became of them beside the reference, the roofline by shape. Made when it is
// looked at. GUI thread.

#include "models/run_profile.h"

#include <QWidget>

namespace trainyard {

class EvidenceTable;
class RooflineSection;
class SectionTitle;
class TextLine;
class TextTableModel;
struct TextRows;

class ProfileCard : public QWidget {
    Q_OBJECT
public:
    explicit ProfileCard(RunProfile &profile, QWidget *parent = nullptr);

    EvidenceTable *const path, *const idle, *const queue, *const kernels;
    RooflineSection *const roofline;
    /// what is being made, or why there is nothing; else of which step and run the tables are
    [[nodiscard]] QString summary() const;

protected:
    void showEvent(QShowEvent *event) override;
    void hideEvent(QHideEvent *event) override;

private:
    void arrange();
    void refresh();
    [[nodiscard]] QString summaryText() const;
    static void fill(EvidenceTable &table, QWidget &title, const TextRows &rows);

    RunProfile &m_profile;
    ProfilePtr m_shown;
    TextLine *m_summary;
    SectionTitle *m_pathTitle, *m_idleTitle, *m_queueTitle, *m_kernelTitle;
};

} // namespace trainyard
