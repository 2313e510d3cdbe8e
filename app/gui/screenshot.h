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
    enum class Page { Workbench, Validation, Experts, Jobs };
    Screenshot(MainWindow &window, QString path, QSize size, Page page);

private:
    void take();
    void fail(const QString &why);

    MainWindow &m_window;
    QString m_path;
    QSize m_size;
    QTimer m_settle, m_giveUp;
};

} // namespace trainyard
