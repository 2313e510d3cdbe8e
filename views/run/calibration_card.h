#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What the run teaches: asked for by a button, factor by factor with what it rests on, each accepted or removed by
// itself or all at once; and what the plan has taken from other recordings. Proposes the next plan, changes none. GUI
// thread.

#include "models/run_calibration.h"

#include <QWidget>

class QPushButton;
class QVBoxLayout;

namespace trainyard {

class FactorRow;
class SectionTitle;
class SentenceList;
class TextLine;

class CalibrationCard : public QWidget {
    Q_OBJECT
public:
    /// `PlanOnly`: what the plan has, where no run is open.
    enum class Shows { Everything, PlanOnly };
    explicit CalibrationCard(RunCalibration &calibration, Shows shows, QWidget *parent = nullptr);

    void setPlan(const PlanPtr &plan);
    [[nodiscard]] const std::vector<CalibrationRow> &rows() const { return m_rows; }
    /// in sight; nullptr: none
    [[nodiscard]] FactorRow *row(const std::string &id) const;
    [[nodiscard]] QString summary() const;

    QPushButton *const learn, *const acceptAll;
    SentenceList *const notes;

signals:
    void editCommitted(const trainyard::PlanPtr &next, const QString &text);

private:
    void arrange();
    void refresh();
    void showRows();
    [[nodiscard]] QString summaryText() const;

    RunCalibration &m_calibration;
    const Shows m_shows;
    PlanPtr m_plan;
    std::vector<CalibrationRow> m_rows;
    /// hidden ones wait for more
    std::vector<FactorRow *> m_offered, m_kept;
    TextLine *m_summary, *m_outdated;
    QWidget *m_titles;
    SectionTitle *m_keptTitle;
    QVBoxLayout *m_offeredPlace, *m_keptPlace;
};

} // namespace trainyard
