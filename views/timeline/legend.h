#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The line above the chart: title, a switch for each kind of work that occurs (it fades the kind when off), the search
// field, and what the timeline holds. Of a plan with jobs a button for each of them, which makes its work stand out, in
// the place of kinds, and the kind that is no job's: prefill. A run under the plan has its key at the right. Narrow
// windows lose the summary first; kinds without room for swatch and name wait in a menu that says how many they are.
// GUI thread.

#include "core/engine/timeline/timeline.h"
#include "views/timeline/job_button.h"
#include "views/timeline/kind_button.h"
#include "views/timeline/run_key.h"

#include <QWidget>

#include <vector>

class QLabel;
class QLineEdit;
class QToolButton;

namespace trainyard {

class Legend : public QWidget {
    Q_OBJECT
public:
    explicit Legend(QWidget *parent);

    /// bits by WorkKind
    void setKinds(std::uint32_t present);
    /// none: kinds are shown
    void setJobs(std::vector<JobEntry> jobs);
    /// that stands out; negative: none
    void setJob(int job);
    /// Whether a recorded run lies under the plan, whether its rows are shown, and which work they have (bits by
    /// RecordedWork).
    void setRun(bool hasRun, bool isShown, std::uint32_t works);
    /// as if each switch had been turned
    void setShown(std::uint32_t kinds);
    [[nodiscard]] std::uint32_t shown() const { return m_shown; }
    /// Every kind shown, no search: as for a plan that was just opened. Says nothing.
    void reset();
    void setSummary(const QString &text);
    void setTitleShown(bool shown);
    void openSearch();
    void closeSearch();
    /// "12 spans"
    void setMatches(const QString &text);
    /// What all else is faded for, with a button that ends it; empty: nothing.
    void setFocusText(const QString &text, const QString &names);

signals:
    void jobChosen(int job);
    void shownKindsChanged(quint32 kinds);
    void searchEdited(const QString &text);
    void nextMatchWished();
    void searchClosed();
    void focusClosed();
    void runToggled();

protected:
    void resizeEvent(QResizeEvent *event) override;
    void changeEvent(QEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

private:
    [[nodiscard]] KindButton *makeButton(WorkKind kind);
    void arrange();
    void applyTheme();
    void fillMore();
    /// of jobs, else of kinds
    [[nodiscard]] std::vector<QAbstractButton *> buttons() const;
    /// of what is no job's; null: there is none
    [[nodiscard]] KindButton *besideJobs() const;

    QLabel *m_title, *m_summary, *m_matches, *m_focus;
    QLineEdit *m_search;
    /// "+3": kinds that have no room
    QToolButton *m_more;
    QToolButton *m_endFocus;
    RunKey *m_run;
    QString m_focusText;
    std::vector<KindButton *> m_buttons;
    std::vector<JobEntry> m_jobs;
    /// of the first of them
    std::vector<JobButton *> m_jobButtons;
    int m_job = -1;
    std::uint32_t m_present = 0, m_shown;
};

} // namespace trainyard
