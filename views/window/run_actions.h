#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// What can be done with the run that lies under the plan: open it from files and folders, compare it with another,
// watch it, save it as one file, close it; and what is said where that does not work. GUI thread.

#include "models/run_document.h"

namespace trainyard {

class FileActions;
class MessageBar;
class Prompts;

class RunActions : public QObject {
    Q_OBJECT
public:
    RunActions(RunDocument &runs, FileActions &files, Prompts &prompts, MessageBar &messages, QWidget *window);

    void open();
    void openFolder();
    void open(const QStringList &paths);
    /// Asks for a pattern of a log's lines, and reads what was asked for last, or is open, by it.
    void readByLinePattern();
    void compare();
    void compareFolder();
    void compare(const QStringList &paths);
    /// where nothing is open, a folder is asked for
    void toggleWatching();
    void save();
    void close();
    void stepBy(int steps);

signals:
    /// one that was asked for lies under the plan
    void runOpened();

private:
    void showFailure(const Errors &errors);
    [[nodiscard]] QString folder() const;

    RunDocument &m_runs;
    FileActions &m_files;
    Prompts &m_prompts;
    MessageBar &m_messages;
    QWidget *m_window;
    /// what is being opened
    QStringList m_asked;
    /// line pattern that was typed last
    QString m_patternText;
    /// by a person
    bool m_isAsked = false;
};

} // namespace trainyard
