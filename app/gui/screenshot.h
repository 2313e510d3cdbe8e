#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// `trainyard --screenshot`: waits until the window shows a finished evaluation, validation or comparison, renders it
// and ends the program.

#include "views/window/main_window.h"

#include <QObject>
#include <QTimer>

namespace trainyard {

class Screenshot : public QObject {
    Q_OBJECT
public:
    enum class Page { Workbench, Validation, Experts, Jobs, Run, Live, Planner };
    Screenshot(MainWindow &window, QString path, QSize size, Page page);

    /// No picture before the run lies under the plan, and the reference where one is compared with.
    void awaitRun(bool withReference);

    /// None before all sources have ended or told nothing new for a while, their newest step lies under the plan, and
    /// what-ifs are answered where the page shows them.
    void awaitLive(bool withWhatIfs);

private:
    /// Nor before it is known whether the run tells of a plan, which is then evaluated.
    void awaitPlanOfRun();
    void lookAtLive();
    void settle(int milliseconds);
    void take();
    void fail(const QString &why);

    MainWindow &m_window;
    QString m_path;
    QSize m_size;
    QTimer m_settle, m_giveUp;
    bool m_awaitsRun = false, m_awaitsReference = false, m_awaitsPlan = false;
    bool m_awaitsLive = false, m_asksWhatIfs = false, m_hasAsked = false;
    int m_looks = 0, m_waits = 0;
    QTimer m_look;
};

} // namespace trainyard
