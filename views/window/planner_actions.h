#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The planner within the window: its search, its page, the line of a plan that is tried, pins of the strategies, and
// the wires between them and the document. GUI thread.

#include "models/plan_search.h"

class QShortcut;

namespace trainyard {

class PlanDocument;
class PlannerPage;
class TrialStrip;
class Workbench;
struct WindowModels;

class PlannerActions : public QObject {
    Q_OBJECT
public:
    PlannerActions(const WindowModels &models, Workbench &workbench, QObject *parent);

    [[nodiscard]] PlanSearch &search() { return m_search; }
    [[nodiscard]] PlannerPage &page() { return *m_page; }
    [[nodiscard]] TrialStrip &strip() { return *m_strip; }
    /// Leaves the plan that is tried; the page comes back where it was tried from there.
    void leaveTrial();
    /// The strategy that has the keyboard; empty: none.
    [[nodiscard]] std::string focusedKey() const;

Q_SIGNALS:
    void pageRequested();
    void workbenchRequested();
    /// what can be done
    void changed();

private:
    void wireTrial();
    void wirePins();

    PlanDocument &m_document;
    Workbench &m_workbench;
    PlannerPage *m_page;
    TrialStrip *m_strip;
    QShortcut *m_escape;
    /// last: its thread ends first
    PlanSearch m_search;
};

} // namespace trainyard
