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
    enum class Page { Workbench, Validation, Experts, Jobs, Run };
    Screenshot(MainWindow &window, QString path, QSize size, Page page);

    /// No picture before the run lies under the plan, and the reference where one is compared with.
    void awaitRun(bool withReference);

private:
    void settle(int milliseconds);
    void take();
    void fail(const QString &why);

    MainWindow &m_window;
    QString m_path;
    QSize m_size;
    QTimer m_settle, m_giveUp;
    bool m_awaitsRun = false, m_awaitsReference = false;
};

} // namespace trainyard
