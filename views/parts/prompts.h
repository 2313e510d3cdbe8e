#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Questions that only a dialog can ask. The window knows this interface; the application answers it with dialogs
// (app/gui), tests with set answers. GUI thread.

#include <QString>
#include <QStringList>

class QWidget;

namespace trainyard {

class Prompts {
public:
    enum class Unsaved { Save, Discard, Cancel };
    enum class Foreign { Overwrite, SaveAs, Cancel };
    virtual ~Prompts() = default;

    /// Paths; empty where the user thought better of it.
    virtual QString planToOpen(QWidget *parent, const QString &folder) = 0;
    virtual QString planToSave(QWidget *parent, const QString &suggestion) = 0;
    virtual QString configToOpen(QWidget *parent, const QString &folder) = 0;
    /// of a validation
    virtual QString rowsToOpen(QWidget *parent, const QString &folder) = 0;
    /// files
    virtual QStringList runToOpen(QWidget *parent, const QString &title, const QString &folder) = 0;
    /// A line pattern for logs of other tools, beginning with one; null where the user thought better of it.
    virtual QString linePattern(QWidget *parent, const QString &pattern) = 0;
    virtual QString runFolderToOpen(QWidget *parent, const QString &title, const QString &folder) = 0;
    /// What is taken away from a plan; `filter` as file dialogs write it: "Pages (*.html)".
    virtual QString fileToSave(
        QWidget *parent, const QString &title, const QString &suggestion, const QString &filter) = 0;
    virtual QString csvToSave(QWidget *parent, const QString &suggestion) = 0;
    virtual QString pictureToSave(QWidget *parent, const QString &suggestion) = 0;
    virtual Unsaved unsavedChanges(QWidget *parent, const QString &planName) = 0;
    /// Another program has changed the file since it was read, and a save would lose that.
    virtual Foreign foreignChange(QWidget *parent, const QString &fileName) = 0;
    /// The window closes while a run is told to it; of what was told nothing is saved.
    virtual Unsaved unsavedRun(QWidget *parent) = 0;
    virtual void about(QWidget *parent) = 0;
    /// The pages that come with the product, in what the desktop shows them with; false where that is not possible.
    virtual bool showDocumentation(QWidget *parent) = 0;
};

} // namespace trainyard
