// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/run_actions.h"

#include "models/text/foreign_text.h"
#include "views/parts/message_bar.h"
#include "views/parts/prompts.h"
#include "views/window/file_actions.h"
#include "views/window/saved_recording.h"

#include <QDir>
#include <QFileInfo>

#include <algorithm>

namespace trainyard {

namespace {

const QString kOpen = QStringLiteral("open");
const QString kFirstPattern = QStringLiteral(R"(step (?<step>\d+).*loss (?<loss>\S+).*time (?<time>\S+))");

} // namespace

RunActions::RunActions(RunDocument &runs, FileActions &files, Prompts &prompts, MessageBar &messages, QWidget *window)
    : QObject(window)
    , m_runs(runs)
    , m_files(files)
    , m_prompts(prompts)
    , m_messages(messages)
    , m_window(window)
{
    connect(&files, &FileActions::recordingsDropped, this, qOverload<const QStringList &>(&RunActions::open));
    connect(&runs, &RunDocument::readingFailed, this, &RunActions::showFailure);
    connect(&runs, &RunDocument::runChanged, this, [this] {
        if (m_runs.run() && std::exchange(m_isAsked, false)) {
            m_messages.dismiss(kOpen);
            emit runOpened();
        }
    });
    connect(&runs, &RunDocument::saved, this, [this](const QString &path) {
        m_messages.show(
            { kSaveMessage, Message::Tone::Info, tr("Recording written to %1").arg(pathText(path)), {}, {} });
    });
    connect(&runs, &RunDocument::saveFailed, this, [this](const QString &path, const Errors &errors) {
        m_messages.show({ kSaveMessage, Message::Tone::Error, tr("“%1” could not be written.").arg(fileText(path)),
            QString::fromStdString(toString(errors.front())), {} });
    });
}

void RunActions::open()
{
    open(m_prompts.runToOpen(m_window, tr("Open the files of a run"), folder()));
}

void RunActions::openFolder()
{
    if (const QString path = m_prompts.runFolderToOpen(m_window, tr("Open the folder of a run"), folder());
        !path.isEmpty())
        open(QStringList { path });
}

void RunActions::open(const QStringList &paths)
{
    if (paths.isEmpty())
        return;
    m_asked = paths;
    m_isAsked = true;
    m_runs.open(paths);
}

void RunActions::readByLinePattern()
{
    const QString text = m_prompts.linePattern(m_window, m_patternText.isEmpty() ? kFirstPattern : m_patternText);
    if (text.isNull())
        return;
    m_patternText = text;
    if (const auto error = m_runs.setLinePattern(text)) {
        m_messages.show({ kOpen, Message::Tone::Error, tr("This is no line pattern."),
            tr("%1; expected %2").arg(QString::fromStdString(error->what), QString::fromStdString(error->right)),
            { { tr("Change it…"), [this] { readByLinePattern(); } } } });
        return;
    }
    if (m_asked.isEmpty() && m_runs.paths().isEmpty())
        return open();
    open(m_asked.isEmpty() ? m_runs.paths() : QStringList(m_asked));
}

void RunActions::compare()
{
    compare(m_prompts.runToOpen(m_window, tr("Compare with the files of another run"), folder()));
}

void RunActions::compareFolder()
{
    if (const QString path =
            m_prompts.runFolderToOpen(m_window, tr("Compare with the folder of another run"), folder());
        !path.isEmpty())
        compare(QStringList { path });
}

void RunActions::compare(const QStringList &paths)
{
    if (paths.isEmpty())
        return;
    m_asked = paths;
    m_isAsked = true;
    m_runs.openReference(paths);
}

void RunActions::toggleWatching()
{
    const bool watches = !m_runs.isWatching();
    m_runs.setWatching(watches);
    if (watches && m_runs.paths().isEmpty() && !m_runs.isReading())
        openFolder();
}

void RunActions::save()
{
    if (!m_runs.run())
        return;
    QString name = QFileInfo(QString::fromStdString(m_runs.run()->recording->name)).completeBaseName();
    name = name.isEmpty() ? tr("run") : name.replace(u'/', u'-');
    QString path = m_prompts.fileToSave(m_window, tr("Save the recording"),
        QDir(folder()).filePath(name + kRecordingSuffix), tr("Recordings (*%1)").arg(kRecordingSuffix));
    if (path.isEmpty())
        return;
    if (!path.endsWith(kRecordingSuffix))
        path += kRecordingSuffix;
    m_runs.save(path);
}

void RunActions::close()
{
    m_runs.close();
}

void RunActions::stepBy(int steps)
{
    const RunStep *step = m_runs.step();
    if (!step)
        return;
    const std::vector<RunStep> &all = m_runs.run()->steps;
    const auto next = std::clamp<std::ptrdiff_t>((step - all.data()) + steps, 0, std::ptrdiff_t(all.size()) - 1);
    m_runs.setStep(all[std::size_t(next)].number);
}

void RunActions::showFailure(const Errors &errors)
{
    m_isAsked = false;
    const auto nameOf = [](const QString &path) { return fileText(QDir::cleanPath(path)); };
    QStringList lines;
    for (const Error &error : errors) {
        QString line = QString::fromStdString(error.what);
        if (!error.right.empty())
            line += tr("; expected %1").arg(QString::fromStdString(error.right));
        if (errors.size() > 1)
            line = nameOf(QString::fromStdString(error.where)) + QStringLiteral(": ") + line;
        lines << line;
    }
    const QString headline = m_asked.size() == 1
        ? tr("“%1” holds nothing of a run, and is no plan.").arg(nameOf(m_asked.front()))
        : tr("None of these %1 holds anything of a run, and none is a plan.").arg(m_asked.size());
    std::vector<Message::Answer> answers;
    if (m_runs.mayTakeLinePattern())
        answers.push_back({ tr("Line pattern…"), [this] { readByLinePattern(); } });
    m_messages.show({ kOpen, Message::Tone::Error, headline, lines.join(u'\n'), std::move(answers) });
}

QString RunActions::folder() const
{
    return m_runs.paths().isEmpty() ? m_files.folder() : QFileInfo(m_runs.paths().front()).absolutePath();
}

} // namespace trainyard
