// SPDX-License-Identifier: GPL-3.0-or-later
#include "views/window/file_actions.h"

#include "core/facts/session/session_io.h"
#include "models/config_model.h"
#include "models/sample_plans.h"
#include "models/session/session_document.h"
#include "models/text/foreign_text.h"
#include "views/parts/message_bar.h"
#include "views/parts/prompts.h"

#include <QApplication>
#include <QDir>
#include <QFileInfo>

#include <utility>

namespace trainyard {

namespace {

constexpr int kMostNamed = 4; // of what is not saved

} // namespace

FileActions::FileActions(PlanDocument &document, SessionDocument &session, RecentFiles &recent, Prompts &prompts,
    MessageBar &messages, QWidget *window)
    : QObject(window)
    , m_document(document)
    , m_session(session)
    , m_recent(recent)
    , m_prompts(prompts)
    , m_messages(messages)
    , m_window(window)
{
    connectDocument();
    connectSession();
}

FileActions::~FileActions() = default;

void FileActions::connectDocument()
{
    connect(&m_document, &PlanDocument::replaced, this, [this] {
        for (const char *kind : { "open", "save", "disk" })
            m_messages.dismiss(QLatin1String(kind));
        m_isStarting = false;
        if (m_document.path().isEmpty())
            return;
        m_messages.dismiss(QStringLiteral("start"));
        m_recent.add(m_document.path());
    });
    connect(&m_document, &PlanDocument::exchanged, this,
        [this] { m_messages.dismiss(QStringLiteral("disk")); }); // it was of the other variant's file
    connect(&m_document, &PlanDocument::saved, this, [this](const QString &path) {
        m_recent.add(path);
        m_messages.dismiss(QStringLiteral("save"));
        m_messages.dismiss(QStringLiteral("disk"));
        if (const auto then = std::exchange(m_afterSave, nullptr))
            then();
    });
    connect(&m_document, &PlanDocument::openFailed, this, [this](const QString &path, const Errors &errors) {
        m_recent.remove(path);
        const bool isStart = std::exchange(m_isStarting, false);
        // The message of the start stays above the sample that takes the plan's place.
        showErrors(isStart ? QStringLiteral("start") : QStringLiteral("open"),
            tr("“%1” could not be opened.").arg(fileText(path)), errors);
        if (isStart)
            m_document.openAsNew(trainyard::samplePath(kFirstSample));
    });
    connect(&m_document, &PlanDocument::saveFailed, this, [this](const QString &path, const Errors &errors) {
        m_afterSave = nullptr;
        showErrors(QStringLiteral("save"), tr("“%1” could not be saved.").arg(fileText(path)), errors,
            { { tr("Save as…"), [this] { saveAs(); } } });
    });
    connect(&m_document, &PlanDocument::saveWouldOverwrite, this, &FileActions::saveOverOther);
    connect(&m_document, &PlanDocument::changedOnDisk, this, [this](const QString &path) {
        m_messages.show({ QStringLiteral("disk"), Message::Tone::Warning,
            tr("Another program changed “%1”.").arg(fileText(path)), {},
            { { tr("Reload"), [this] { reload(); } }, { tr("Keep mine"), [this] { m_document.keepMine(); } } } });
    });
    connect(&m_document, &PlanDocument::removedOnDisk, this, [this](const QString &path) {
        m_messages.show({ QStringLiteral("disk"), Message::Tone::Warning,
            tr("“%1” is no longer on disk.").arg(fileText(path)), {}, { { tr("Save again"), [this] { save(); } } } });
    });
    connect(&m_document.recovery(), &Recovery::found, this, &FileActions::offerPlan);
    connect(&m_document.recovery(), &Recovery::meetingFound, this, &FileActions::offerMeeting);
    connect(&m_document.recovery(), &Recovery::warned, this, [this](const QString &sentence) {
        m_messages.show({ QStringLiteral("recovery"), Message::Tone::Warning, sentence, {}, {} });
    });
}

void FileActions::openSample(const QString &path)
{
    commitTyped();
    m_document.openAsNew(path);
}

void FileActions::startWith(const PlanPtr &plan)
{
    commitTyped();
    m_document.create(plan);
}

void FileActions::open()
{
    if (const QString path = m_prompts.planToOpen(m_window, folder()); !path.isEmpty())
        openDropped(path); // a model's config.json is known by its content, wherever it comes from
}

void FileActions::open(const QString &path)
{
    if (isSessionPath(path.toStdString())) {
        openSession(path);
        return;
    }
    const std::string known = m_session.variantOf(path);
    if (known.empty()) {
        commitTyped();
        m_document.open(path);
    } else if (known != m_session.current()) {
        m_session.show(known);
    } else {
        afterUnsavedHandled([this, path] { m_document.open(path); }); // read again
    }
}

void FileActions::openAtStart(const QStringList &paths)
{
    QStringList plans, others;
    std::vector<FileKind> planKinds, otherKinds;
    for (const QString &path : paths) {
        // Whatever it holds: a plan that is broken is meant as one, and its faults are told.
        const FileKind kind = path.endsWith(QStringLiteral(".trainyard.json")) ? FileKind::Plan : kindOfFile(path);
        const bool isPlan = kind == FileKind::Plan || kind == FileKind::Sweep || kind == FileKind::Session;
        (isPlan ? plans : others) << path;
        (isPlan ? planKinds : otherKinds).push_back(kind);
    }
    m_isRunFirst = plans.isEmpty() && !others.isEmpty();
    if (!others.isEmpty()) // once there is a plan to lay them under
        connect(
            &m_document, &PlanDocument::replaced, this, [this, others, otherKinds] { openKnown(others, otherKinds); },
            Qt::SingleShotConnection);
    if (plans.isEmpty()) {
        m_document.openAsNew(trainyard::samplePath(kFirstSample));
    } else if (planKinds.front() == FileKind::Sweep) {
        emit sweepAtStart(plans.front());
    } else {
        m_isStarting = true;
        open(plans.front());
    }
    offerOthers(plans, 0);
}

void FileActions::offerOthers(const QStringList &plans, qsizetype opened)
{
    constexpr std::size_t kMostOffered = 4; // buttons in a line
    if (plans.size() < 2)
        return;
    QStringList names;
    std::vector<Message::Answer> answers;
    for (qsizetype i = 0; i < plans.size(); ++i) {
        const QString name = fileText(plans[i]).section(QStringLiteral(".trainyard"), 0, 0);
        if (i == opened)
            continue;
        if (answers.size() < kMostOffered)
            answers.push_back({ tr("Open “%1”").arg(name), [this, plans, i] {
                                   openDropped(plans[i]);
                                   offerOthers(plans, i);
                               } });
        else
            names << name;
    }
    m_messages.show({ QStringLiteral("drop"), Message::Tone::Info,
        tr("%1 plans were named, and one is open at a time: “%2”.").arg(plans.size()).arg(fileText(plans[opened])),
        names.isEmpty() ? QString() : tr("Also: %1").arg(names.join(QStringLiteral(", "))), std::move(answers) });
}

void FileActions::openDropped(const QString &path)
{
    openAllDropped({ path });
}

void FileActions::openAllDropped(const QStringList &paths)
{
    m_queue.run(
        this,
        [paths] {
            std::vector<FileKind> kinds;
            for (const QString &path : paths)
                kinds.push_back(kindOfFile(path));
            return kinds;
        },
        [this, paths](const std::vector<FileKind> &kinds) { openKnown(paths, kinds); });
}

void FileActions::openKnown(const QStringList &paths, const std::vector<FileKind> &kinds)
{
    const bool isOne = paths.size() == 1;
    QStringList plans, recordings;
    for (qsizetype i = 0; i < paths.size(); ++i) {
        const FileKind kind = kinds[std::size_t(i)];
        if (kind == FileKind::Plan || kind == FileKind::Session)
            plans << paths[i];
        else if (kind == FileKind::ModelConfig && isOne)
            useModelConfig(paths[i]);
        else if (kind == FileKind::ValidationRows && isOne)
            emit rowsDropped(paths[i]);
        else if (kind == FileKind::Sweep)
            emit sweepDropped(paths[i]); // of several, the last is shown
        else // a config.json among others tells of the run's model
            recordings << paths[i];
    }
    if (!plans.isEmpty())
        open(plans.front());
    offerOthers(plans, 0);
    if (std::exchange(m_isRunFirst, false) && !recordings.isEmpty())
        emit runComesFirst();
    if (!recordings.isEmpty())
        emit recordingsDropped(recordings);
}

void FileActions::chooseModelConfig()
{
    if (const QString path = m_prompts.configToOpen(m_window, folder()); !path.isEmpty())
        useModelConfig(path);
}

void FileActions::useModelConfig(const QString &path)
{
    m_queue.run(
        this, [path] { return modelOfConfig(path); },
        [this, path](const Expected<ModelSpec> &model) {
            if (!model) {
                showErrors(QStringLiteral("open"),
                    tr("“%1” does not describe a model that can be planned.").arg(fileText(path)), { model.error() });
                return;
            }
            Plan next = *m_document.plan();
            next.workload.model.clear();
            next.workload.inlineModel = *model;
            m_document.apply(
                std::make_shared<const Plan>(std::move(next)), tr("Train %1").arg(QString::fromStdString(model->name)));
        });
}

void FileActions::save()
{
    commitTyped();
    if (m_session.isMeeting())
        saveSession();
    else if (m_document.path().isEmpty())
        saveAs();
    else
        m_document.save();
}

void FileActions::saveOverOther(const QString &path)
{
    switch (m_prompts.foreignChange(m_window, fileText(path))) {
    case Prompts::Foreign::Overwrite:
        m_document.saveOver();
        break;
    case Prompts::Foreign::SaveAs:
        saveAs();
        break;
    case Prompts::Foreign::Cancel:
        m_afterSave = nullptr;
        break;
    }
}

void FileActions::saveAs()
{
    commitTyped();
    if (m_session.isMeeting()) {
        saveSessionAs();
        return;
    }
    QString suggestion = m_document.path();
    if (suggestion.isEmpty())
        suggestion = QDir(folder()).filePath(fileName(m_document.displayName()) + QStringLiteral(".trainyard.json"));
    if (const QString path = m_prompts.planToSave(m_window, suggestion); !path.isEmpty())
        m_document.saveAs(path);
    else
        m_afterSave = nullptr;
}

void FileActions::reload()
{
    commitTyped();
    if (m_document.path().isEmpty())
        return;
    if (m_session.isMeeting())
        m_document.readAgain(); // the session may have what the file has not
    else if (m_document.isEdited())
        open(m_document.path());
    else // only the file differs: nothing of this window's is lost
        m_document.open(m_document.path());
}

void FileActions::commitTyped()
{
    if (m_commitForm)
        m_commitForm();
    // Fields commit when they lose the focus; other widgets keep it, so that GPUs that are picked up stay so.
    QWidget *field = QApplication::focusWidget();
    if (!field || !field->testAttribute(Qt::WA_InputMethodEnabled) || !m_window->isAncestorOf(field))
        return;
    field->clearFocus();
    field->setFocus(Qt::OtherFocusReason);
}

void FileActions::afterUnsavedHandled(std::function<void()> then)
{
    commitTyped();
    if (!m_session.isModified()) {
        then();
        return;
    }
    QStringList names = m_session.unsavedNames();
    if (names.size() > kMostNamed)
        names = names.mid(0, kMostNamed) << tr("%1 more").arg(names.size() - kMostNamed);
    switch (m_prompts.unsavedChanges(m_window, names.join(QStringLiteral("”, “")))) {
    case Prompts::Unsaved::Save:
        m_afterSave = std::move(then);
        save();
        break;
    case Prompts::Unsaved::Discard:
        then(); // and only what takes its place forgets it
        break;
    case Prompts::Unsaved::Cancel:
        break;
    }
}

void FileActions::offerRecovery()
{
    m_document.recovery().search();
}

void FileActions::showErrors(
    const QString &kind, const QString &headline, const Errors &errors, std::vector<Message::Answer> answers)
{
    QStringList lines;
    for (const Error &error : errors)
        lines << QString::fromStdString(toString(error));
    m_messages.show({ kind, Message::Tone::Error, headline, lines.join(u'\n'), std::move(answers) });
}

QString FileActions::folder() const
{
    for (const QString &path : { m_session.path(), m_document.path() })
        if (!path.isEmpty())
            return QFileInfo(path).absolutePath();
    return m_recent.paths().isEmpty() ? QDir::homePath() : QFileInfo(m_recent.paths().front()).absolutePath();
}

} // namespace trainyard
