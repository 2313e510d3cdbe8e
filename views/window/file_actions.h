#pragma once
// SPDX-License-Identifier: GPL-3.0-or-later
// Everything that begins with a file: new, open, save, drop, reload, recovery, and what to do with unsaved changes
// first. Talks to the user through the message bar, and through Prompts where only a dialog will do. GUI thread.

#include "models/background_queue.h"
#include "models/dropped_file.h"
#include "models/plan_document.h"
#include "models/recent_files.h"
#include "views/parts/message_bar.h"

#include <functional>
#include <vector>

namespace trainyard {

class Prompts;
class SessionDocument;

class FileActions : public QObject {
    Q_OBJECT
public:
    FileActions(PlanDocument &document, SessionDocument &session, RecentFiles &recent, Prompts &prompts,
        MessageBar &messages, QWidget *window);
    ~FileActions() override;

    void openSample(const QString &path);
    /// untitled
    void startWith(const PlanPtr &plan);
    void open();
    /// A plan becomes a variant of the session, or is shown where it is one; a session takes the place of this one.
    void open(const QString &path);
    /// What the command line names: a plan or a sweep, else the first sample, so that there is something to work on;
    /// then all else, which is of one run as in a drop.
    void openAtStart(const QStringList &paths);
    /// a plan, a Hugging Face config.json, measured rows, a sweep or what was recorded of a run, told by its content
    void openDropped(const QString &path);
    /// Several of them: a plan is opened, all else is of one run.
    void openAllDropped(const QStringList &paths);
    void chooseModelConfig();
    /// The plan's file while there is nothing but a plan; else the session's.
    void save();
    void saveAs();
    void saveSession();
    void saveSessionAs();
    void reload();
    /// Makes what is typed in a field or stands in an open form part of the plan.
    void commitTyped();
    void setFormCommitter(std::function<void()> commit) { m_commitForm = std::move(commit); }
    /// Does `then` at once, after saving, or never, as the user answers.
    void afterUnsavedHandled(std::function<void()> then);
    /// Offers what other windows left behind, without a dialog.
    void offerRecovery();

    /// where the last files were
    [[nodiscard]] QString folder() const;

signals:
    void rowsDropped(const QString &path);
    /// rows that a sweep wrote
    void sweepDropped(const QString &path);
    /// in place of a plan
    void sweepAtStart(const QString &path);
    /// files and folders of a run
    void recordingsDropped(const QStringList &paths);
    /// before its recordings: no plan was asked for, so the one that it tells of is wanted
    void runComesFirst();

private:
    /// "llama-3-70b" of "Llama 3 70B"
    [[nodiscard]] static QString fileName(const QString &title);
    void connectDocument();
    void connectSession();
    /// Of what a window left that ended unexpectedly.
    void offerPlan(const RecoveredPlan &recovered);
    /// All of its variants at once, or one by one.
    void offerMeeting(const std::vector<RecoveredPlan> &meeting);
    void openSession(const QString &path);
    void openKnown(const QStringList &paths, const std::vector<FileKind> &kinds);
    /// Says which of several is opened, and offers the others; where there is one alone, nothing.
    void offerOthers(const QStringList &plans, qsizetype opened);
    /// The file is not as it was read.
    void saveOverOther(const QString &path);
    void useModelConfig(const QString &path);
    void showErrors(
        const QString &kind, const QString &headline, const Errors &errors, std::vector<Message::Answer> answers = {});

    PlanDocument &m_document;
    SessionDocument &m_session;
    RecentFiles &m_recent;
    Prompts &m_prompts;
    MessageBar &m_messages;
    QWidget *m_window;
    std::function<void()> m_afterSave, m_commitForm;
    /// the plan being opened is the first
    bool m_isStarting = false;
    /// the command line named no plan
    bool m_isRunFirst = false;
    BackgroundQueue m_queue;
};

} // namespace trainyard
