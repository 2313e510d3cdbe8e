#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// The window's questions, asked with dialogs. GUI thread.

#include "views/parts/prompts.h"

namespace trainyard {

class Dialogs final : public Prompts {
public:
    QString planToOpen(QWidget *parent, const QString &folder) override;
    QString planToSave(QWidget *parent, const QString &suggestion) override;
    QString configToOpen(QWidget *parent, const QString &folder) override;
    QString rowsToOpen(QWidget *parent, const QString &folder) override;
    QStringList runToOpen(QWidget *parent, const QString &title, const QString &folder) override;
    QString linePattern(QWidget *parent, const QString &pattern) override;
    QString runFolderToOpen(QWidget *parent, const QString &title, const QString &folder) override;
    QString fileToSave(
        QWidget *parent, const QString &title, const QString &suggestion, const QString &filter) override;
    QString csvToSave(QWidget *parent, const QString &suggestion) override;
    QString pictureToSave(QWidget *parent, const QString &suggestion) override;
    Unsaved unsavedChanges(QWidget *parent, const QString &planName) override;
    Foreign foreignChange(QWidget *parent, const QString &fileName) override;
    Unsaved unsavedRun(QWidget *parent) override;
    void about(QWidget *parent) override;
    bool showDocumentation(QWidget *parent) override;
};

} // namespace trainyard
