// SPDX-License-Identifier: GPL-3.0-or-later
// Files of sessions.
#include "core/facts/session/session_io.h"
#include "models/sample_plans.h"
#include "models/session/session_document.h"
#include "models/text/foreign_text.h"
#include "views/parts/message_bar.h"
#include "views/parts/prompts.h"
#include "views/window/file_actions.h"

#include <QDir>

#include <utility>

namespace trainyard {

QString FileActions::fileName(const QString &title)
{
    QString name = title.toLower().simplified();
    return name.replace(u' ', u'-').remove(u'/');
}

void FileActions::openSession(const QString &path)
{
    afterUnsavedHandled([this, path] { m_session.open(path); });
}

void FileActions::connectSession()
{
    connect(&m_session, &SessionDocument::opened, this, [this](const QString &path) {
        m_recent.add(path);
        for (const char *kind : { "open", "save", "disk", "start" })
            m_messages.dismiss(QLatin1String(kind));
        m_isStarting = false;
    });
    connect(&m_session, &SessionDocument::saved, this, [this](const QString &path) {
        m_recent.add(path);
        m_messages.dismiss(QStringLiteral("save"));
        if (const auto then = std::exchange(m_afterSave, nullptr))
            then();
    });
    connect(&m_session, &SessionDocument::openFailed, this, [this](const QString &path, const Errors &errors) {
        m_recent.remove(path);
        const bool isStart = std::exchange(m_isStarting, false);
        showErrors(isStart ? QStringLiteral("start") : QStringLiteral("open"),
            tr("“%1” could not be opened.").arg(fileText(path)), errors);
        if (isStart)
            m_document.openAsNew(trainyard::samplePath(kFirstSample));
    });
    connect(&m_session, &SessionDocument::removedByOthers, this, [this](const QString &path) {
        m_messages.show({ QStringLiteral("disk"), Message::Tone::Warning,
            tr("“%1” is no longer on disk.").arg(fileText(path)), {}, { { tr("Save again"), [this] { save(); } } } });
    });
    connect(&m_session, &SessionDocument::saveFailed, this, [this](const QString &path, const Errors &errors) {
        m_afterSave = nullptr;
        showErrors(QStringLiteral("save"), tr("“%1” could not be saved.").arg(fileText(path)), errors,
            { { tr("Save as…"), [this] { saveSessionAs(); } } });
    });
}

void FileActions::offerPlan(const RecoveredPlan &recovered)
{
    m_messages.show({ QStringLiteral("recovery ") + recovered.file + u' ' + recovered.variant, Message::Tone::Info,
        describe(recovered), unsavedEdits(recovered.work).join(u'\n'),
        { { tr("Restore"),
              [this, recovered] {
                  m_document.restore(recovered);
                  m_session.takeAbout(recovered.work.about);
              } },
            { tr("Discard"), [this, recovered] { m_document.recovery().discard(recovered); } } } });
}

void FileActions::offerMeeting(const std::vector<RecoveredPlan> &meeting)
{
    QStringList lines;
    for (const RecoveredPlan &one : meeting) {
        const QStringList edits = unsavedEdits(one.work);
        lines << (edits.isEmpty() ? nameOf(one) : tr("%1: %2").arg(nameOf(one), edits.join(QStringLiteral(", "))));
    }
    m_messages.show(
        { QStringLiteral("recovery ") + meeting.front().file, Message::Tone::Info, describe(meeting), lines.join(u'\n'),
            { { tr("Restore the meeting"), [this, meeting] { m_session.restore(meeting); } },
                { tr("One by one"),
                    [this, meeting] {
                        for (const RecoveredPlan &one : meeting)
                            offerPlan(one);
                    } },
                { tr("Discard"), [this, meeting] {
                     for (const RecoveredPlan &one : meeting)
                         m_document.recovery().discard(one);
                 } } } });
}

void FileActions::saveSession()
{
    commitTyped();
    if (m_session.path().isEmpty())
        saveSessionAs();
    else
        m_session.save();
}

void FileActions::saveSessionAs()
{
    commitTyped();
    QString suggestion = m_session.path();
    if (suggestion.isEmpty())
        suggestion = QDir(folder()).filePath(fileName(m_session.displayName()) + QStringLiteral(".trainyard-session"));
    QString path =
        m_prompts.fileToSave(m_window, tr("Save the session"), suggestion, tr("Sessions (*.trainyard-session)"));
    if (path.isEmpty()) {
        m_afterSave = nullptr;
        return;
    }
    if (!isSessionPath(path.toStdString()))
        path += QStringLiteral(".trainyard-session");
    m_session.saveAs(path);
}

} // namespace trainyard
