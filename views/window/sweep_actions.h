#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Files of sweeps within the window: reading them, their page, and the plan of a row tried in place of the document's.
// GUI thread.

#include "models/sweep_results.h"

namespace trainyard {

class FileActions;
class MessageBar;
class PlanDocument;
class SweepPage;

class SweepActions : public QObject {
    Q_OBJECT
public:
    SweepActions(PlanDocument &document, FileActions &files, MessageBar &messages, QObject *parent);

    [[nodiscard]] SweepResults &results() { return m_results; }
    [[nodiscard]] SweepPage &page() { return *m_page; }
    /// Reads it and shows its page.
    void open(const QString &path);
    /// And makes the plan that it sweeps around the document: a window that began with it has no other.
    void openWithPlan(const QString &path);
    /// The plan that is tried, or was last, is of a row.
    [[nodiscard]] bool hasTried() const { return m_hasTried; }

Q_SIGNALS:
    void pageRequested();
    void workbenchRequested();

private:
    void tryRow(int row);

    PlanDocument &m_document;
    MessageBar &m_messages;
    SweepPage *m_page;
    PlanPtr m_tried;
    bool m_hasTried = false;
    /// the file that the window began with, until it is read
    QString m_first;
    /// last: its thread ends first
    SweepResults m_results;
};

} // namespace trainyard
