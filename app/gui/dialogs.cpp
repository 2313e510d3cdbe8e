// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gui/dialogs.h"

#include "app/about/build_info.h"
#include "models/installed_files.h"

#include <QCoreApplication>
#include <QDesktopServices>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QIcon>
#include <QInputDialog>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QScreen>
#include <QUrl>

namespace trainyard {

namespace {

QString dialogText(const char *text)
{
    return QCoreApplication::translate("Dialogs", text);
}

QString planFilter()
{
    return dialogText("Trainyard plans (*.trainyard.json *.json);;All files (*)");
}

/// Where a file was chosen last; a dialog that has no better place begins there.
QString &lastFolder()
{
    static QString folder;
    return folder;
}

QString placeFor(const QString &folder)
{
    return QDir(folder) == QDir::home() && !lastFolder().isEmpty() ? lastFolder() : folder;
}

/// A file dialog that lies on the screen whole, also where that is small or scaled; empty where it was cancelled.
QStringList chosenFiles(QFileDialog &dialog)
{
    if (const QScreen *screen = dialog.parentWidget() ? dialog.parentWidget()->screen() : dialog.screen()) {
        const QSize room = screen->availableGeometry().size() * 9 / 10;
        dialog.setMinimumSize(dialog.minimumSize().boundedTo(room));
        dialog.setMaximumSize(room);
        dialog.resize(dialog.sizeHint().expandedTo(QSize(720, 480)).boundedTo(room));
    }
    const QStringList chosen = dialog.exec() == QDialog::Accepted ? dialog.selectedFiles() : QStringList();
    if (!chosen.isEmpty())
        lastFolder() = QFileInfo(chosen.front()).absolutePath();
    return chosen;
}

QString chosenFile(QFileDialog &dialog)
{
    return chosenFiles(dialog).value(0);
}

QString fileToOpen(QWidget *parent, const QString &title, const QString &folder, const QString &filter)
{
    QFileDialog dialog(parent, title, placeFor(folder), filter);
    dialog.setFileMode(QFileDialog::ExistingFile);
    return chosenFile(dialog);
}

QString nameToSave(QWidget *parent, const QString &title, const QString &suggestion, const QString &filter)
{
    const QFileInfo file(suggestion);
    QFileDialog dialog(parent, title, placeFor(file.absolutePath()), filter);
    dialog.setAcceptMode(QFileDialog::AcceptSave);
    dialog.selectFile(file.fileName());
    return chosenFile(dialog);
}

/// Adds the other two buttons and asks; without another default, Cancel is it.
Prompts::Unsaved answerOf(QMessageBox &box, const QPushButton *save, const QString &discardText)
{
    const QPushButton *discard = box.addButton(discardText, QMessageBox::DestructiveRole);
    QPushButton *cancel = box.addButton(QMessageBox::Cancel);
    if (!box.defaultButton())
        box.setDefaultButton(cancel);
    box.exec();
    return box.clickedButton() == save   ? Prompts::Unsaved::Save
        : box.clickedButton() == discard ? Prompts::Unsaved::Discard
                                         : Prompts::Unsaved::Cancel;
}

} // namespace

QString Dialogs::planToOpen(QWidget *parent, const QString &folder)
{
    return fileToOpen(parent, dialogText("Open a plan"), folder,
        dialogText("Plans, sessions, reports and sweeps (*.trainyard.json *.trainyard-session *.json *.html *.htm "
                   "*.pdf *.csv *.jsonl);;Trainyard plans "
                   "(*.trainyard.json *.json);;Sessions (*.trainyard-session);;All files (*)"));
}

QString Dialogs::planToSave(QWidget *parent, const QString &suggestion)
{
    QString path = nameToSave(parent, dialogText("Save the plan"), suggestion, planFilter());
    if (!path.isEmpty() && !path.endsWith(QStringLiteral(".json")))
        path += QStringLiteral(".trainyard.json");
    return path;
}

QString Dialogs::configToOpen(QWidget *parent, const QString &folder)
{
    return fileToOpen(parent, dialogText("Use a model's config.json"), folder,
        dialogText("Hugging Face model configuration (*.json)"));
}

QString Dialogs::rowsToOpen(QWidget *parent, const QString &folder)
{
    return fileToOpen(parent, dialogText("Validate rows of your own"), folder,
        dialogText("Rows with measurements (*.json);;All files (*)"));
}

QStringList Dialogs::runToOpen(QWidget *parent, const QString &title, const QString &folder)
{
    QFileDialog dialog(parent, title, placeFor(folder),
        dialogText(
            "All files (*);;Recordings (*.trainyard-recording);;Traces and logs (*.json *.json.gz *.log *.txt *.csv "
            "*.out)"));
    dialog.setFileMode(QFileDialog::ExistingFiles);
    return chosenFiles(dialog);
}

QString Dialogs::runFolderToOpen(QWidget *parent, const QString &title, const QString &folder)
{
    QFileDialog dialog(parent, title, placeFor(folder));
    dialog.setFileMode(QFileDialog::Directory);
    dialog.setOption(QFileDialog::ShowDirsOnly);
    return chosenFile(dialog);
}

QString Dialogs::linePattern(QWidget *parent, const QString &pattern)
{
    bool isAnswered = false;
    const QString text = QInputDialog::getText(parent, dialogText("Line pattern"),
        dialogText("A regular expression of the lines that tell of a step. Its named groups are the figures:\n"
                   "(?<step>…), (?<time>…) of a step, (?<tokens>…) per second, (?<tokens_per_gpu>…), (?<loss>…), "
                   "(?<memory>…) of a GPU.\nA unit may end a name, (?<time_ms>…), or stand behind the number."),
        QLineEdit::Normal, pattern, &isAnswered)
                             .trimmed();
    return !isAnswered ? QString() : text.isNull() ? QStringLiteral("") : text;
}

QString Dialogs::fileToSave(QWidget *parent, const QString &title, const QString &suggestion, const QString &filter)
{
    return nameToSave(parent, title, suggestion, filter);
}

QString Dialogs::csvToSave(QWidget *parent, const QString &suggestion)
{
    return nameToSave(parent, dialogText("Save the table"), suggestion, dialogText("Comma-separated values (*.csv)"));
}

QString Dialogs::pictureToSave(QWidget *parent, const QString &suggestion)
{
    return nameToSave(parent, dialogText("Save a picture"), suggestion, dialogText("Pictures (*.png)"));
}

Prompts::Unsaved Dialogs::unsavedChanges(QWidget *parent, const QString &planName)
{
    QMessageBox box(QMessageBox::NoIcon, dialogText("Unsaved changes"),
        dialogText("Save the changes to “%1”?").arg(planName), QMessageBox::NoButton, parent);
    box.setTextFormat(Qt::PlainText); // a plan may be called anything
    box.setInformativeText(dialogText("Otherwise they are lost."));
    const QPushButton *save = box.addButton(QMessageBox::Save);
    box.setDefaultButton(QMessageBox::Save);
    return answerOf(box, save, dialogText("Don't save"));
}

Prompts::Foreign Dialogs::foreignChange(QWidget *parent, const QString &fileName)
{
    QMessageBox box(QMessageBox::NoIcon, dialogText("Changed by another program"),
        dialogText("Another program has changed “%1” since it was opened. Save over that?").arg(fileName),
        QMessageBox::NoButton, parent);
    box.setTextFormat(Qt::PlainText);
    box.setInformativeText(dialogText("What the other program wrote would be lost."));
    const QPushButton *over = box.addButton(dialogText("Save over it"), QMessageBox::DestructiveRole);
    const QPushButton *saveAs = box.addButton(dialogText("Save as…"), QMessageBox::AcceptRole);
    box.setDefaultButton(box.addButton(QMessageBox::Cancel));
    box.exec();
    return box.clickedButton() == over  ? Foreign::Overwrite
        : box.clickedButton() == saveAs ? Foreign::SaveAs
                                        : Foreign::Cancel;
}

Prompts::Unsaved Dialogs::unsavedRun(QWidget *parent)
{
    QMessageBox box(QMessageBox::NoIcon, dialogText("A run is connected"),
        dialogText("Save what the run has told before the window closes?"), QMessageBox::NoButton, parent);
    box.setInformativeText(dialogText("Otherwise it is lost. The run itself goes on."));
    const QPushButton *save = box.addButton(dialogText("Save recording…"), QMessageBox::AcceptRole);
    return answerOf(box, save, dialogText("Close without saving"));
}

void Dialogs::about(QWidget *parent)
{
    const about::BuildInfo &build = about::buildInfo();
    QMessageBox box(QMessageBox::NoIcon, dialogText("About Trainyard"),
        QStringLiteral("<h3>Trainyard %1</h3>").arg(QLatin1String(build.version)), QMessageBox::Close, parent);
    box.setTextFormat(Qt::RichText);
    box.setIconPixmap(QIcon(QStringLiteral(":/icons/trainyard.svg")).pixmap(64));
    box.setInformativeText(dialogText("Plans the training of large models on clusters that span datacenters.\n\n"
                                      "Free software under the GNU General Public License, version 3 or later.\n"
                                      "Built with Qt %1 and QCustomPlot, of the commit %2.")
                               .arg(QLatin1String(qVersion()), QLatin1String(build.commit)));
    box.exec();
}

bool Dialogs::showDocumentation(QWidget *)
{
    const QString folder = documentationFolder();
    return !folder.isEmpty()
        && QDesktopServices::openUrl(QUrl::fromLocalFile(QDir(folder).filePath(QStringLiteral("window.md"))));
}

} // namespace trainyard
